"""The bell that wakes those who wait for a job to change.

What has changed, whoever wakes reads for himself.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

MOST_LONG_POLLS = 4
MOST_LONG_POLLS_OF_ONE = 2


class Bell:
    """Any thread rings; at most `MOST_LONG_POLLS` listen at a time, `MOST_LONG_POLLS_OF_ONE` of one caller."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # guards everything below
        self._ears: defaultdict[str, set[threading.Event]] = defaultdict(set)
        self._waiting: Counter[str] = Counter()
        self._silenced = False

    def ring(self, job_id: str) -> None:
        """Wake all who listen for this job."""
        with self._lock:
            for ear in self._ears.get(job_id, ()):
                ear.set()

    def silence(self) -> None:
        """Wake everybody; nobody listens from now on."""
        with self._lock:
            self._silenced = True
            for ears in self._ears.values():
                for ear in ears:
                    ear.set()

    @property
    def silenced(self) -> bool:
        return self._silenced

    @contextmanager
    def listening(self, caller: str, job_id: str) -> Iterator[threading.Event | None]:
        """An event that is set when the bell rings for the job; `None` where too many wait, or nobody may any more."""
        ear = threading.Event()
        if not self._enter(caller, job_id, ear):
            yield None
            return
        try:
            yield ear
        finally:
            self._leave(caller, job_id, ear)

    def _enter(self, caller: str, job_id: str, ear: threading.Event) -> bool:
        with self._lock:
            full = self._waiting.total() >= MOST_LONG_POLLS or self._waiting[caller] >= MOST_LONG_POLLS_OF_ONE
            if full or self._silenced:
                return False
            self._waiting[caller] += 1
            self._ears[job_id].add(ear)
            return True

    def _leave(self, caller: str, job_id: str, ear: threading.Event) -> None:
        with self._lock:
            self._waiting[caller] -= 1
            self._waiting += Counter()  # drops callers at zero
            self._ears[job_id].discard(ear)
            if not self._ears[job_id]:
                del self._ears[job_id]
