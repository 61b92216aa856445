"""Starts a peer in its own environment and gives it lists of URLs to read."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

SCRIPT = Path(__file__).with_name("peer.py")


@dataclass(frozen=True)
class Peer:
    """A peer that waits for work."""

    name: str
    pid: int
    requests: IO[str]
    answers: IO[str]

    def read(self, urls: Sequence[str]) -> int:
        """Fetches and renders all; how many characters came of it."""
        self.requests.write(json.dumps(list(urls)) + "\n")
        self.requests.flush()
        return int(self.answers.readline())


@contextlib.contextmanager
def peer(name: str, environment: Path | None) -> Iterator[Peer | None]:
    """A peer, running; `None` where it is not installed."""
    python = str(environment / "bin" / "python") if environment else sys.executable
    with subprocess.Popen(
        [python, str(SCRIPT), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        is_there = process.stdout.readline().strip() == "ready"
        yield Peer(name, process.pid, process.stdin, process.stdout) if is_there else None
        process.stdin.close()
        process.wait(30)
