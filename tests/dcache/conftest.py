"""A store of its own for each test, a clock turned by hand, and short ways to a job in a wanted state."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sift.dcache import Admission, Caps, Finish, NewJob, Snapshot, Store

TTL_S = 3600.0
CACHE_BYTES = 1 << 20
NOON = 1_800_000_000.0
CAPS = Caps(jobs_per_caller=1, jobs_total=8)


@dataclass
class Hand:
    """Wall and monotonic time, moved by the test alone."""

    wall: float = NOON
    steady: float = 0.0

    def pass_s(self, seconds: float) -> None:
        self.wall += seconds
        self.steady += seconds


@dataclass
class Desk:
    """The store's batch tables with a caller's defaults, so that a test names only what it is about."""

    store: Store
    hand: Hand
    caps: Caps = CAPS
    made: list[str] = field(default_factory=list)

    def admit(self, urls: int = 1, caller: str = "ann", key: str = "", *, reuse: bool = True) -> Admission:
        job_id = f"j_{len(self.made)}"
        self.made.append(job_id)
        targets = tuple((f"http://site.test/{idx}", "{}") for idx in range(urls))
        job = NewJob(job_id, caller, "standard", key or job_id, targets)
        return self.store.batch.admit(job, self.caps, reuse=reuse, now=self.hand.wall, ttl_s=TTL_S)

    def running(self, urls: int = 1, caller: str = "ann", key: str = "") -> str:
        job_id = self.admit(urls, caller, key).job_id
        assert self.store.batch.take_job(job_id)
        return job_id

    def run_target(self, job_id: str, idx: int, finish: Finish = Finish(result=b"{}")) -> str | None:  # noqa: B008
        """Start and finish one target; the job's final status where it was the last."""
        assert self.store.batch.start_target(job_id, idx)
        finished = self.store.batch.finish_target(job_id, idx, finish, now=self.hand.wall)
        assert finished
        return finished.ended

    def ended(self, caller: str = "ann", key: str = "", result: bytes = b"{}") -> str:
        job_id = self.running(1, caller, key)
        self.run_target(job_id, 0, Finish(result=result))
        return job_id

    def look(self, job_id: str, caller: str = "ann", **wishes: Any) -> Snapshot | None:
        return self.store.batch.snapshot(caller, job_id, now=self.hand.wall, ttl_s=TTL_S, **wishes)

    def column(self, job_id: str, name: str) -> Any:
        """One column of the job's row, read from outside, so that no lease is bumped."""
        with closing(sqlite3.connect(self.path)) as outside:
            return outside.execute(f"SELECT {name} FROM batch_job WHERE id = ?", (job_id,)).fetchone()[0]

    @property
    def path(self) -> Path:
        return self.store._path


@pytest.fixture
def hand() -> Hand:
    return Hand()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store.open(tmp_path / "data" / "dcache.sqlite3", cache_bytes=CACHE_BYTES)
    yield store
    store.close()


@pytest.fixture
def desk(store: Store, hand: Hand) -> Desk:
    return Desk(store, hand)


@pytest.fixture
def at_desk() -> type[Desk]:
    """For a store that the test has opened itself."""
    return Desk
