"""The data directory: made private, and locked for one process.

What is stored in it is not known here.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from sift.errors import StartError

LOCK = "lock"


class DataDir:
    """A directory that this process alone uses, until `release` or its death."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor: int | None = descriptor

    @classmethod
    def lock(cls, path: Path) -> DataDir:
        """Makes `path` (0700) where it is missing, and locks it. Raises `StartError`, and has changed nothing then."""
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            why = os.strerror(error.errno or 0).lower()
            raise StartError(f"data_dir {path} cannot be used ({why}); [server] data_dir names another") from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise StartError(f"data_dir {path} is in use by another sift serve; stop that one first") from None
        return cls(path, descriptor)

    def release(self) -> None:
        """Lets another process have it."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
