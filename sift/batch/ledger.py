"""What the batch counts: every event of a job or target, said once, here, to the metrics.

No job is live in the store that this process has not admitted (the restart rule), so live jobs are known without SQL.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from sift.metrics import Metrics
from sift.target import Outcome


@dataclass(slots=True)
class _Live:
    created_s: float
    queued: bool = True


class Ledger:
    """The live jobs of this process, and the series that follow from what happens to them."""

    def __init__(self, metrics: Metrics, monotonic: Callable[[], float]) -> None:
        self._metrics = metrics
        self._monotonic = monotonic
        self._lock = threading.Lock()  # guards _live
        self._live: dict[str, _Live] = {}
        metrics.batch_queue_depth.set_function(self._queued)
        metrics.batch_oldest_live_seconds.set_function(self._oldest_s)

    def created(self, job_id: str) -> None:
        with self._lock:
            self._live[job_id] = _Live(self._monotonic())
        self._metrics.batch_job("created")

    def reused(self) -> None:
        self._metrics.batch_job("reused")

    def refused(self, cap: str) -> None:
        """`cap` is one of `targets`, `caller`, `jobs`."""
        self._metrics.batch_refused_total.labels(cap).inc()

    def restarted(self, jobs: int, targets: int) -> None:
        """What the restart rule found: live jobs, and targets in flight."""
        for _ in range(jobs):
            self._metrics.batch_job("restart")
        self._metrics.batch_target("restart", targets)

    def taken(self, job_id: str) -> None:
        with self._lock:
            if job := self._live.get(job_id):
                job.queued = False

    def ended(self, job_id: str, status: str) -> None:
        """A job has its final status, `cancelled` among them."""
        with self._lock:
            job = self._live.pop(job_id, None)
        self._metrics.batch_job(status)
        if job is not None:
            self._metrics.batch_job_seconds.observe(self._monotonic() - job.created_s)

    def never_began(self, targets: int) -> None:
        """Targets of a cancelled job that stay pending for good."""
        self._metrics.batch_target(Outcome.CANCEL.value, targets)

    def started(self) -> None:
        self._metrics.batch_targets_inflight.inc()

    def finished(self, outcome: str, seconds: float, result_bytes: int | None) -> None:
        """A target's end is written; `result_bytes` is `None` where there is no result."""
        self._metrics.batch_targets_inflight.dec()
        self._metrics.batch_target(outcome)
        self._metrics.batch_target_seconds.observe(max(0.0, seconds))
        if result_bytes is not None:
            self._metrics.batch_result_bytes.observe(result_bytes)

    def evicted(self, cause: str, idle_s: float) -> None:
        """`cause` is `lease` or `bytes`, `idle_s` the time since the job was last used."""
        self._metrics.batch_evictions_total.labels(cause).inc()
        if cause == "bytes":
            self._metrics.batch_evicted_age_seconds.observe(max(0.0, idle_s))

    def _queued(self) -> float:
        with self._lock:
            return sum(job.queued for job in self._live.values())

    def _oldest_s(self) -> float:
        with self._lock:
            oldest = min((job.created_s for job in self._live.values()), default=None)
        return 0.0 if oldest is None else self._monotonic() - oldest
