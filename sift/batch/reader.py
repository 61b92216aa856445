"""Reading jobs: one look, or a wait until there is something new to see.

Nothing is changed but leases.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

from sift.batch.bell import Bell
from sift.batch.body import EVERYTHING, View, etag, list_body, status_body
from sift.batch.leases import LeaseClock
from sift.config import BatchConfig
from sift.dcache import BatchTables, Snapshot
from sift.errors import NotFound
from sift.target import Caller

_LOOK_AGAIN_MOST_S = 30


@dataclass(frozen=True, slots=True)
class Answer:
    """What a read answers. `unchanged`: the asker knows this `etag`. `retry_after_s` is set while the job is live."""

    snapshot: Snapshot
    etag: str
    unchanged: bool
    retry_after_s: int | None
    ttl_s: float

    def body(self) -> bytes:
        """The whole body; made outside the store's lock."""
        return status_body(self.snapshot, self.ttl_s)


class Reader:
    """Answers for jobs, scoped to the caller. A waiting read holds the thread that asked, and nothing else."""

    def __init__(self, tables: BatchTables, bell: Bell, leases: LeaseClock, config: Callable[[], BatchConfig]) -> None:
        self._tables = tables
        self._bell = bell
        self._leases = leases
        self._config = config

    def read(
        self,
        caller: Caller,
        job_id: str,
        view: View = EVERYTHING,
        *,
        known: Collection[str] = (),
        wait_s: float = 0.0,
    ) -> Answer:
        """The job as it is now, its lease bumped; raises `NotFound`.

        With `wait_s` the answer comes when the job has ended, or (with `known` tags) as soon as its tag is none of
        them, or when the time is over. Where too many wait already, it comes at once.
        """
        if known or wait_s > 0:
            seen = self._await(caller, job_id, view, known, wait_s)
            if etag(seen, view) in known:
                return self._answer(seen, view, known)
        return self._answer(self._snapshot(caller, job_id, view), view, known)

    def jobs(self, caller: Caller) -> bytes:
        """The body that lists the caller's own jobs, newest first."""
        ttl_s = self._config().ttl_s
        return list_body(self._tables.list_jobs(caller.name, now=self._leases.now(), ttl_s=ttl_s), ttl_s)

    def _await(self, caller: Caller, job_id: str, view: View, known: Collection[str], wait_s: float) -> Snapshot:
        """The job without results, when it is time to answer."""
        ends_s = time.monotonic() + wait_s
        peek = View(results=False)
        if wait_s <= 0:
            return self._snapshot(caller, job_id, peek)
        with self._bell.listening(caller.name, job_id) as ear:
            while True:
                if ear is not None:
                    ear.clear()
                seen = self._snapshot(caller, job_id, peek)
                settled = not _may_change(seen) or (etag(seen, view) not in known if known else not seen.job.live)
                if ear is None or settled or self._bell.silenced or not ear.wait(max(0.0, ends_s - time.monotonic())):
                    return seen

    def _snapshot(self, caller: Caller, job_id: str, view: View) -> Snapshot:
        snapshot = self._tables.snapshot(
            caller.name,
            job_id,
            now=self._leases.now(),
            ttl_s=self._config().ttl_s,
            since=view.since,
            results=view.results,
        )
        if snapshot is None:
            raise NotFound("no such job")
        return snapshot

    def _answer(self, snapshot: Snapshot, view: View, known: Collection[str]) -> Answer:
        tag = etag(snapshot, view)
        retry_after_s = (
            look_again_s(snapshot.job.targets_total - snapshot.job.targets_done) if snapshot.job.live else None
        )
        return Answer(snapshot, tag, tag in known, retry_after_s, self._config().ttl_s)


def _may_change(seen: Snapshot) -> bool:
    """Whether there is anything to wait for: of ended jobs, only a cancelled one may have a target in flight."""
    return seen.job.live or any(target.status == "running" for target in seen.targets)


def look_again_s(targets: int) -> int:
    """When to look again while so many targets are left: about a second a target."""
    return max(1, min(targets, _LOOK_AGAIN_MOST_S))
