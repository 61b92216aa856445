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
    """`polite`: it has done batch work, and leaves the processor to others since."""

    polite: bool


W = TypeVar("W", bound=_Idler)


class Turns(Generic[W]):
    """Any thread may call. Of `count` workers batches have all but one at a time, of a single one that one."""

    def __init__(self, count: int, monotonic: Callable[[], float]) -> None:
        self._batch_share = max(1, count - 1)
        self._monotonic = monotonic
        self._lock = threading.Lock()  # guards everything below
        self._came = {lane: threading.Condition(self._lock) for lane in (INTERACTIVE, BATCH)}
        self._waiting = dict.fromkeys((INTERACTIVE, BATCH), 0)
        self._idle: list[W] = []
        self._batch_running = 0
        self._closed = False

    def take(self, lane: str, ends_at: float | None) -> W | None:
        """An idle worker, waited for until `ends_at`; `None` where there was none by then. `Internal` after `close`."""
        with self._lock:
            self._waiting[lane] += 1
            try:
                while not self._may(lane):
                    left_s = None if ends_at is None else ends_at - self._monotonic()
                    if left_s is not None and left_s <= 0:
                        return None
                    self._came[lane].wait(left_s)
                worker = self._best(lane)
                self._idle.remove(worker)
                self._batch_running += lane == BATCH
                return worker
            finally:
                self._waiting[lane] -= 1
                self._wake_next()

    def give(self, worker: W, lane: str, *, usable: bool) -> None:
        """Back from a job of this lane; not `usable`: it will not be seen again."""
        with self._lock:
            self._batch_running -= lane == BATCH
            if usable:
                self._idle.append(worker)
            self._wake_next()

    def add(self, worker: W) -> None:
        """A new one."""
        with self._lock:
            self._idle.append(worker)
            self._wake_next()

    def discard(self, worker: W) -> None:
        """One that has died; nothing where it is not idle."""
        with self._lock:
            if worker in self._idle:
                self._idle.remove(worker)

    def close(self) -> None:
        """Nobody gets one any more."""
        with self._lock:
            self._closed = True
            for came in self._came.values():
                came.notify_all()

    def _may(self, lane: str) -> bool:
        if self._closed:
            raise Internal
        if lane == BATCH and (self._waiting[INTERACTIVE] or self._batch_running >= self._batch_share):
            return False
        return bool(self._idle)

    def _best(self, lane: str) -> W:
        """For a batch one that is polite, else one that is not; of several the last used, whose memory is warm."""
        wanted = [worker for worker in self._idle if worker.polite == (lane == BATCH)]
        return (wanted or self._idle)[-1]

    def _wake_next(self) -> None:
        """One of those who may go on now; it wakes the next one after it."""
        if self._idle and self._waiting[INTERACTIVE]:
            self._came[INTERACTIVE].notify()
        elif self._idle and self._batch_running < self._batch_share:
            self._came[BATCH].notify()
