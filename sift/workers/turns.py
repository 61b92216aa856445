"""Idle workers and who gets the next one: interactive work first, and one waiting caller woken for each.

What a worker is, and how it is started or ended, is not known here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from sift.errors import Internal
from sift.target import BATCH, INTERACTIVE


class _Idler(Protocol):
    """`polite`: it has done batch work, and leaves the processor to others for the rest of its life."""

    polite: bool


W = TypeVar("W", bound=_Idler)


class Turns(Generic[W]):
    """Any thread may call. Of `count` workers batches get the same ones, all but one, again and again; of one that one.

    So there is always one that is not polite, for interactive work, which takes any.
    """

    def __init__(self, count: int, monotonic: Callable[[], float]) -> None:
        self._batch_share = max(1, count - 1)
        self._monotonic = monotonic
        self._lock = threading.Lock()  # guards everything below
        self._came = {lane: threading.Condition(self._lock) for lane in (INTERACTIVE, BATCH)}
        self._waiting = dict.fromkeys((INTERACTIVE, BATCH), 0)
        self._idle: list[W] = []
        self._polite = 0  # of all that live
        self._closed = False

    def take(self, lane: str, ends_at: float | None) -> W | None:
        """An idle worker, waited for until `ends_at`; `None` where there was none by then. `Internal` after `close`."""
        with self._lock:
            self._waiting[lane] += 1
            try:
                while (worker := self._next(lane)) is None:
                    left_s = None if ends_at is None else ends_at - self._monotonic()
                    if left_s is not None and left_s <= 0:
                        return None
                    self._came[lane].wait(left_s)
                self._idle.remove(worker)
                if lane == BATCH and not worker.polite:
                    worker.polite = True
                    self._polite += 1
                return worker
            finally:
                self._waiting[lane] -= 1
                self._wake_next()

    def give(self, worker: W, *, usable: bool) -> None:
        """Back from a job; not `usable`: it will not be seen again."""
        with self._lock:
            if usable:
                self._idle.append(worker)
            else:
                self._polite -= worker.polite
            self._wake_next()

    def add(self, worker: W) -> None:
        """A new one."""
        with self._lock:
            self._idle.append(worker)
            self._wake_next()

    def discard(self, worker: W) -> bool:
        """Takes out one that has died; whether it was idle. Nothing where it is in somebody's hands."""
        with self._lock:
            if worker not in self._idle:
                return False
            self._idle.remove(worker)
            self._polite -= worker.polite
            self._wake_next()
            return True

    def close(self) -> None:
        """Nobody gets one any more."""
        with self._lock:
            self._closed = True
            for came in self._came.values():
                came.notify_all()

    def _next(self, lane: str) -> W | None:
        if self._closed:
            raise Internal
        return None if lane == BATCH and self._waiting[INTERACTIVE] else self._best(lane)

    def _best(self, lane: str) -> W | None:
        """The idle one that this lane gets; of several the last used, whose memory is warm."""
        polite = [worker for worker in self._idle if worker.polite]
        eager = [worker for worker in self._idle if not worker.polite]
        if lane == INTERACTIVE:
            found = eager or polite
        else:
            found = polite or (eager if self._polite < self._batch_share else [])
        return found[-1] if found else None

    def _wake_next(self) -> None:
        """One of those who may go on now; it wakes the next one after it."""
        if self._waiting[INTERACTIVE]:
            if self._idle:
                self._came[INTERACTIVE].notify()
        elif self._best(BATCH) is not None:
            self._came[BATCH].notify()
