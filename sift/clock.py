"""Time, passed in: `now` is written to disk, `monotonic` never is; and the deadline of one fetch.

Nothing here sleeps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class Clock:
    """Two readings of time. `now` is epoch seconds, `monotonic` seconds since an arbitrary start."""

    now: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic


@dataclass(slots=True)
class Deadline:
    """When a fetch must be over, on the monotonic clock; moved along while the fetch is paused.

    One thread uses it; `stopped` may be answered from any state of the program and ends the fetch early.
    """

    seconds: float
    monotonic: Callable[[], float] = time.monotonic
    stopped: Callable[[], bool] = lambda: False
    _ends: float = field(init=False)

    def __post_init__(self) -> None:
        self._ends = self.monotonic() + self.seconds

    def left(self) -> float:
        """Seconds until the end; zero or less where it has passed."""
        return self._ends - self.monotonic()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Time spent inside does not count: waiting at a gate is not fetching."""
        began = self.monotonic()
        try:
            yield
        finally:
            self._ends += self.monotonic() - began


def rfc3339(epoch_s: float) -> str:
    """`2026-11-29T10:00:00Z` for epoch seconds; whole seconds, UTC."""
    return datetime.fromtimestamp(int(epoch_s), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
