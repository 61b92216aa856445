"""The jobs' tables as they are read: every public method is one transaction, scoped to the caller in the query.

A job past lease + TTL is gone for every reader here, whether or not the collector has been.
"""

from __future__ import annotations

from dataclasses import replace

from sift.dcache.database import Database, Transaction
from sift.dcache.records import LIVE, JobRow, Snapshot, TargetRow
from sift.errors import StorageFailed

IS_LIVE = "status IN ('queued', 'running')"
IS_READABLE = f"({IS_LIVE} OR lease > ?)"  # the parameter is now - ttl

_JOB = "id, status, error, targets_total, targets_done, created_at, lease"
_LISTED = 100
# A lease bumped within this time is not bumped again: a poll loop is no write load.
_BUMP_EVERY_S = 1.0


class BatchReading:
    """What callers and gauges look at."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def snapshot(
        self, caller: str, job_id: str, *, now: float, ttl_s: float, since: int = 0, results: bool = True
    ) -> Snapshot | None:
        """The job and its targets at one moment, its lease bumped; `None` where the caller has no such job.

        Without `results`, and for `idx` below `since`, the results stay on disk. Where the bump cannot be written
        the answer is the same, with the lease as it was.
        """
        found = None
        try:
            with self._database.read() as transaction:
                found = _look(transaction, caller, job_id, now - ttl_s, since if results else None)
                if found is None or found.job.lease > now - _BUMP_EVERY_S:
                    return found
                lease = transaction.value(
                    "UPDATE batch_job SET lease = max(lease, ?) WHERE id = ? RETURNING lease", (now, job_id)
                )
        except StorageFailed:
            if found is None:
                raise
            return found
        return Snapshot(replace(found.job, lease=lease), found.targets)

    def list_jobs(self, caller: str, *, now: float, ttl_s: float) -> tuple[JobRow, ...]:
        """The caller's own jobs, newest first, at most a hundred; no lease is bumped."""
        with self._database.read() as transaction:
            rows = transaction.rows(
                f"SELECT {_JOB} FROM batch_job WHERE caller = ? AND {IS_READABLE} ORDER BY rowid DESC LIMIT {_LISTED}",
                (caller, now - ttl_s),
            )
        return tuple(JobRow(*row) for row in rows)

    def live_jobs(self, caller: str) -> tuple[str, ...]:
        """The ids of the caller's live jobs."""
        with self._database.read() as transaction:
            rows = transaction.rows(f"SELECT id FROM batch_job WHERE caller = ? AND {IS_LIVE}", (caller,))
        return tuple(job_id for (job_id,) in rows)

    def live_counts(self) -> dict[str, int]:
        """How many jobs are `queued` and how many `running`."""
        with self._database.read() as transaction:
            rows = transaction.rows(f"SELECT status FROM batch_job WHERE {IS_LIVE}")
        return {status: rows.count((status,)) for status in LIVE}


def _look(transaction: Transaction, caller: str, job_id: str, expired_at: float, since: int | None) -> Snapshot | None:
    job = transaction.row(
        f"SELECT {_JOB} FROM batch_job WHERE id = ? AND caller = ? AND {IS_READABLE}", (job_id, caller, expired_at)
    )
    if job is None:
        return None
    result = "NULL" if since is None else "iif(idx >= ?, result, NULL)"
    targets = transaction.rows(
        f"SELECT idx, url, status, error, reason, hint, {result} FROM batch_target WHERE job_id = ? ORDER BY idx",
        (job_id,) if since is None else (since, job_id),
    )
    return Snapshot(JobRow(*job), tuple(TargetRow(*row) for row in targets))
