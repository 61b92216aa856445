"""The jobs' tables as the runner changes them: every public method is one transaction.

Caps and TTL are arguments, never written here. Reading is in `sift.dcache.reading`.
"""

from __future__ import annotations

import sqlite3

from sift.dcache.database import Database, Transaction
from sift.dcache.reading import IS_LIVE, IS_READABLE, BatchReading
from sift.dcache.records import (
    Admission,
    Cancellation,
    Caps,
    Finish,
    Finished,
    Gone,
    NewJob,
    Restarted,
    Verdict,
    Work,
)

# What a target counts towards the byte budget beside its texts: its row, its index entry, its share of the job's row.
TARGET_BYTES = 1024

# One transaction deletes at most this much, so that a sweep of a full store does not keep everybody else waiting.
_PORTION_BYTES = 1024 * 1024

# A cancelled job may have one target in flight, whose result is still to be stored.
_NOT_IN_FLIGHT = """NOT (status = 'cancelled' AND EXISTS (
    SELECT 1 FROM batch_target WHERE job_id = batch_job.id AND batch_target.status = 'running'))"""


class BatchTables(BatchReading):
    """Jobs and their targets. Times are epoch seconds, given by the caller.

    A write is durable when it returns, but for taking and starting: who fails what was live at the next start asks for
    no more than that what was finished is still there.

    All raise `StorageFailed` where the store cannot take it now; then nothing was changed.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        with database.read() as transaction:
            self._nbytes: int = transaction.value("SELECT coalesce(sum(nbytes), 0) FROM batch_job")

    def nbytes(self) -> int:
        """What all jobs together count towards the byte budget."""
        return self._nbytes

    def admit(self, job: NewJob, caps: Caps, *, reuse: bool, now: float, ttl_s: float) -> Admission:
        """Reuse the caller's newest equal job, refuse at a cap, or store `job` as queued: one decision.

        A job that can no longer finish (cancelled, or failed as a whole) and one past lease + TTL are not reused.
        """
        with self._database.write() as transaction:
            if reuse and (found := _reuse(transaction, job, now, ttl_s)):
                return found
            if refused := _refusal(transaction, job.caller, caps):
                return refused
            nbytes = _insert(transaction, job, now)
            transaction.then(lambda: self._count(nbytes))
            return Admission(Verdict.CREATED, job.job_id, "queued", len(job.targets))

    def take_job(self, job_id: str) -> Work | None:
        """Set a queued job running and give its work; `None` where it is not queued any more. Not durable."""
        with self._database.write(durable=False) as transaction:
            row = transaction.row(
                """UPDATE batch_job SET status = 'running' WHERE id = ? AND status = 'queued'
                RETURNING caller, caller_class""",
                (job_id,),
            )
            if row is None:
                return None
            targets = transaction.rows("SELECT url, options FROM batch_target WHERE job_id = ? ORDER BY idx", (job_id,))
            return Work(job_id, row[0], row[1], tuple(targets))

    def start_target(self, job_id: str, idx: int) -> bool:
        """Set a pending target running; false, and nothing changed, unless its job is live. Not durable."""
        with self._database.write(durable=False) as transaction:
            cursor = transaction.execute(
                f"""UPDATE batch_target SET status = 'running' WHERE job_id = ? AND idx = ? AND status = 'pending'
                AND EXISTS (SELECT 1 FROM batch_job WHERE id = job_id AND {IS_LIVE})""",
                (job_id, idx),
            )
            return cursor.rowcount == 1

    def finish_target(self, job_id: str, idx: int, finish: Finish, *, now: float) -> Finished | None:
        """Store how a running target ended, and with it `targets_done`, `nbytes`, the lease and the job's final status.

        Exactly once: `None`, and nothing changed, where the target is not running (any more).
        """
        status = "failed" if finish.result is None else "done"
        with self._database.write() as transaction:
            cursor = transaction.execute(
                """UPDATE batch_target SET status = ?, result = ?, error = ?, reason = ?, hint = ?
                WHERE job_id = ? AND idx = ? AND status = 'running'""",
                (status, finish.result, finish.error, finish.reason, finish.hint, job_id, idx),
            )
            if cursor.rowcount != 1:
                return None
            nbytes = len(finish.result or b"") + len((finish.error or "").encode())
            finished = _progress(transaction, job_id, nbytes, now)
            transaction.then(lambda: self._count(nbytes))
            return finished

    def cancel(self, caller: str, job_id: str, *, now: float, ttl_s: float) -> Cancellation | None:
        """Flip a live job to cancelled; an ended one keeps its status. `None` where the caller has no such job.

        No lease is bumped, but for a job that would be gone at once, its lease having run out while it was live.
        """
        with self._database.write() as transaction:
            row = transaction.row(
                f"SELECT status, created_at, {IS_LIVE} FROM batch_job WHERE id = ? AND caller = ? AND {IS_READABLE}",
                (job_id, caller, now - ttl_s),
            )
            if row is None:
                return None
            status, created_at, live = row
            if not live:
                return Cancellation(status, False, 0, created_at)
            transaction.execute(
                "UPDATE batch_job SET status = 'cancelled', lease = iif(lease <= ?, ?, lease) WHERE id = ?",
                (now - ttl_s, now, job_id),
            )
            pending = transaction.value(
                "SELECT count(*) FROM batch_target WHERE job_id = ? AND status = 'pending'", (job_id,)
            )
            return Cancellation("cancelled", True, pending, created_at)

    def sweep(self, *, now: float, ttl_s: float) -> tuple[Gone, ...]:
        """Delete ended jobs past lease + TTL, oldest lease first, a portion at a time: call until nothing is gone."""
        with self._database.write() as transaction:
            candidates = transaction.execute(
                f"""SELECT id, created_at, lease, nbytes FROM batch_job
                WHERE status NOT IN ('queued', 'running') AND lease <= ? AND {_NOT_IN_FLIGHT} ORDER BY lease""",
                (now - ttl_s,),
            )
            return self._delete(transaction, _portion(candidates, _PORTION_BYTES))

    def evict_bytes(self, max_bytes: int) -> tuple[Gone, ...]:
        """Delete whole ended jobs, oldest lease first, until all count `max_bytes` at most; in portions, as `sweep`."""
        if self._nbytes <= max_bytes:
            return ()
        with self._database.write() as transaction:
            candidates = transaction.execute(
                f"""SELECT id, created_at, lease, nbytes FROM batch_job
                WHERE status NOT IN ('queued', 'running') AND {_NOT_IN_FLIGHT} ORDER BY lease"""
            )
            over = self._nbytes - max_bytes
            return self._delete(transaction, _portion(candidates, min(over, _PORTION_BYTES)))

    def mark_in_flight_failed(self, reason: str, error: str, hint: str | None = None) -> Restarted:
        """The restart rule: live jobs fail as a whole, running targets of any job fail; no lease is bumped."""
        nbytes = len(error.encode())
        with self._database.write() as transaction:
            jobs = transaction.execute(
                f"UPDATE batch_job SET status = 'failed', error = ? WHERE {IS_LIVE}", (reason,)
            ).rowcount
            running = transaction.rows("SELECT job_id, idx FROM batch_target WHERE status = 'running'")
            for job_id, idx in running:
                transaction.execute(
                    """UPDATE batch_target SET status = 'failed', error = ?, reason = ?, hint = ?
                    WHERE job_id = ? AND idx = ?""",
                    (error, reason, hint, job_id, idx),
                )
                transaction.execute(
                    "UPDATE batch_job SET targets_done = targets_done + 1, nbytes = nbytes + ? WHERE id = ?",
                    (nbytes, job_id),
                )
            transaction.then(lambda: self._count(nbytes * len(running)))
            return Restarted(jobs, len(running))

    def shift_leases(self, delta_s: float) -> None:
        """Move every lease along with a wall clock that has jumped by `delta_s`."""
        with self._database.write() as transaction:
            transaction.execute("UPDATE batch_job SET lease = lease + ?", (delta_s,))

    def _delete(self, transaction: Transaction, gone: tuple[Gone, ...]) -> tuple[Gone, ...]:
        for job in gone:
            transaction.execute("DELETE FROM batch_target WHERE job_id = ?", (job.job_id,))
            transaction.execute("DELETE FROM batch_job WHERE id = ?", (job.job_id,))
        transaction.deleted = bool(gone)
        nbytes = sum(job.nbytes for job in gone)
        transaction.then(lambda: self._count(-nbytes))
        return gone

    def _count(self, nbytes: int) -> None:
        self._nbytes += nbytes


def _portion(candidates: sqlite3.Cursor, nbytes: int) -> tuple[Gone, ...]:
    """The first of `candidates` (id, created_at, lease, nbytes) that together count `nbytes` or more."""
    taken: list[Gone] = []
    while nbytes > 0 and (row := candidates.fetchone()):
        taken.append(Gone(*row))
        nbytes -= row[3]
    candidates.close()
    return tuple(taken)


def _reuse(transaction: Transaction, job: NewJob, now: float, ttl_s: float) -> Admission | None:
    row = transaction.row(
        f"""SELECT id, status, targets_total FROM batch_job WHERE idem_key = ? AND caller = ?
        AND status <> 'cancelled' AND error IS NULL AND {IS_READABLE} ORDER BY rowid DESC LIMIT 1""",
        (job.idem_key, job.caller, now - ttl_s),
    )
    if row is None:
        return None
    job_id, status, targets = row
    transaction.execute("UPDATE batch_job SET lease = max(lease, ?) WHERE id = ?", (now, job_id))
    failed = transaction.value("SELECT count(*) FROM batch_target WHERE job_id = ? AND status = 'failed'", (job_id,))
    return Admission(Verdict.REUSED, job_id, status, targets, failed)


def _refusal(transaction: Transaction, caller: str, caps: Caps) -> Admission | None:
    own = transaction.rows(f"SELECT id FROM batch_job WHERE caller = ? AND {IS_LIVE} ORDER BY rowid DESC", (caller,))
    if len(own) >= caps.jobs_per_caller:
        return Admission(Verdict.CALLER_BUSY, own[0][0], live=len(own))
    live = transaction.value(f"SELECT count(*) FROM batch_job WHERE {IS_LIVE}")
    return Admission(Verdict.JOBS_BUSY, live=live) if live >= caps.jobs_total else None


def _insert(transaction: Transaction, job: NewJob, now: float) -> int:
    nbytes = sum(len(url.encode()) + len(options.encode()) + TARGET_BYTES for url, options in job.targets)
    transaction.execute(
        """INSERT INTO batch_job (id, caller, caller_class, idem_key, status, targets_total, created_at, lease, nbytes)
        VALUES (?, ?, ?, ?, 'queued', ?, ?, ?, ?)""",
        (job.job_id, job.caller, job.caller_class, job.idem_key, len(job.targets), now, now, nbytes),
    )
    transaction.executemany(
        "INSERT INTO batch_target (job_id, idx, url, options) VALUES (?, ?, ?, ?)",
        ((job.job_id, idx, url, options) for idx, (url, options) in enumerate(job.targets)),
    )
    return nbytes


def _progress(transaction: Transaction, job_id: str, nbytes: int, now: float) -> Finished:
    """One more target of the job is done; after the last one a live job gets its final status."""
    done, total, live, created_at = transaction.row(
        f"""UPDATE batch_job SET targets_done = targets_done + 1, nbytes = nbytes + ?, lease = max(lease, ?)
        WHERE id = ? RETURNING targets_done, targets_total, {IS_LIVE}, created_at""",
        (nbytes, now, job_id),
    )
    if done < total or not live:
        return Finished(None, created_at)
    failed = transaction.value("SELECT count(*) FROM batch_target WHERE job_id = ? AND status = 'failed'", (job_id,))
    ended = "done" if failed == 0 else "failed" if failed == total else "partial"
    transaction.execute("UPDATE batch_job SET status = ? WHERE id = ?", (ended, job_id))
    return Finished(ended, created_at)
