"""Waiting for what another thread or process does, where it has no way to tell."""

from __future__ import annotations

import threading
from collections.abc import Callable


def until(true: Callable[[], bool], seconds: float = 15.0) -> None:
    """Returns once it is so; fails where it never came to pass."""
    ticking = threading.Event()
    for _ in range(int(seconds / 0.005)):
        if true():
            return
        ticking.wait(0.005)
    raise AssertionError("it never came to pass")
