"""The batch service: submit, read, cancel; and the pool of threads that drains the jobs.

No SQL and no HTTP. A job's own way is in `drain`, the clearing away in `collector`.
"""

from __future__ import annotations

import queue
import secrets
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sift.batch.bell import Bell
from sift.batch.canonical import idem_key, options_text
from sift.batch.collector import Collector
from sift.batch.drain import PAUSES, Drain, FetchTarget, Pauses, Tools
from sift.batch.leases import LeaseClock
from sift.batch.ledger import Ledger
from sift.batch.pace import Pace
from sift.batch.reader import Reader, look_again_s
from sift.clock import Clock
from sift.config import BatchConfig
from sift.dcache import Admission, Caps, NewJob, Store, Verdict
from sift.errors import CallerBusy, JobsBusy, NotFound, Place, Stopping, StorageFailed, StoreError, TooManyTargets
from sift.logs import Log
from sift.metrics import Metrics
from sift.target import Caller, Target

_RESTART = "restart: the server stopped while this target was in flight"


@dataclass(frozen=True, slots=True)
class Submitted:
    """What a submit answers. `hint` is `fresh` where a reused job has failed targets."""

    job_id: str
    status: str
    targets: int
    reused: bool
    hint: str | None
    retry_after_s: int


class Runner:
    """Jobs, from submit to the end of their lease. `reader` answers what callers want to see.

    Threads: `sift-batch-1` to `sift-batch-N`, as many as `jobs_total` (more after it was raised, never fewer), each
    with one job at a time; and `sift-collector`. All are daemons and end at `stop`.
    """

    def __init__(
        self,
        store: Store,
        fetch_target: FetchTarget,
        config: BatchConfig,
        *,
        clock: Clock,
        metrics: Metrics,
        log: Log,
        pauses: Pauses = PAUSES,
    ) -> None:
        self._store = store
        self._config = config
        self._log = log
        self._bell = Bell()
        self._ledger = Ledger(metrics, clock.monotonic)
        self._leases = LeaseClock(clock, store.batch.shift_leases)
        self.pace = Pace(clock.monotonic)
        self._ended = threading.Event()
        self._tools = Tools(
            tables=store.batch,
            fetch_target=fetch_target,
            clock=clock,
            leases=self._leases,
            ledger=self._ledger,
            bell=self._bell,
            pace=self.pace,
            log=log,
            pauses=pauses,
            ended=self._ended,
        )
        self._collector = Collector(
            store,
            lambda: self._config,
            clock=clock,
            leases=self._leases,
            ledger=self._ledger,
            metrics=metrics,
            log=log,
        )
        self.reader = Reader(store.batch, self._bell, self._leases, lambda: self._config)
        self._queue: queue.Queue[str | None] = queue.Queue()
        self._books = threading.Lock()  # guards that a job's admission or cancel and its ledger entry are one
        self._lock = threading.Lock()  # guards the three below
        self._threads: list[threading.Thread] = []
        self._drains: dict[str, Drain] = {}
        self._stopping = False

    def start(self) -> None:
        """Apply the restart rule, then start the threads. Raises `StoreError` where the store cannot be written."""
        try:
            restarted = self._store.batch.mark_in_flight_failed("restart", _RESTART, "retry")
        except StorageFailed as error:
            raise StoreError(f"the restart rule could not be written: {error}") from error
        self._ledger.restarted(restarted.jobs, restarted.targets)
        self._grow()
        self._collector.start()

    def stop(self, grace_s: float) -> bool:
        """Start nothing more, wake all who wait, give targets in flight `grace_s` to be stored; whether all were."""
        ends_s = time.monotonic() + grace_s
        with self._lock:
            self._stopping = True
            for drain in self._drains.values():
                drain.halt()
            threads = [*self._threads, self._collector.thread]
        self._bell.silence()
        self._collector.stop()
        for _ in self._threads:
            self._queue.put(None)
        _join(threads, ends_s)
        self._ended.set()
        # Who only waited to try again ends now; who still fetches is a daemon.
        _join(threads, time.monotonic() + 0.5)
        return not any(thread.is_alive() for thread in threads)

    def configure(self, config: BatchConfig) -> None:
        """Put another `[batch]` in force: caps and TTL at once, more threads where `jobs_total` grew."""
        self._config = config
        self._grow()
        self._collector.hurry()

    def dead_threads(self) -> list[str]:
        """The names of threads that have ended though nobody stopped them."""
        with self._lock:
            if self._stopping or not self._threads:
                return []
            return [thread.name for thread in (*self._threads, self._collector.thread) if not thread.is_alive()]

    def check_size(self, count: int) -> None:
        """Raise `TooManyTargets` where a job may not have `count` targets."""
        most = self._config.targets_per_job
        if count > most:
            self._ledger.refused("targets")
            place = Place("targets", f"{count} given, at most {most} a job; split the list")
            raise TooManyTargets(f"{place.at}: {place.error}", places=(place,))

    def submit(self, caller: Caller, targets: Sequence[Target], *, fresh: bool = False) -> Submitted:
        """Reuse the caller's equal job, or queue a new one; `fresh` never reuses.

        Raises `TooManyTargets`, `CallerBusy`, `JobsBusy`, `StorageFailed` or `Stopping`; then nothing was stored.
        """
        self.check_size(len(targets))
        config = self._config
        rows = tuple((target.url, options_text(target)) for target in targets)
        job = NewJob(f"j_{secrets.token_hex(16)}", caller.name, caller.caller_class, idem_key(caller, targets), rows)
        caps = Caps(config.jobs_per_caller, config.jobs_total)
        with self._books:
            if self._stopping:
                raise Stopping("the server is stopping; try again in a while")
            now = self._leases.now()
            admission = self._store.batch.admit(job, caps, reuse=not fresh, now=now, ttl_s=config.ttl_s)
            if admission.verdict is Verdict.CREATED:
                self._ledger.created(job.job_id)
        return self._answered(admission, caps)

    def cancel(self, caller: Caller, job_id: str) -> str:
        """Cancel a live job; the status that the job has then. Raises `NotFound`.

        When it returns, no further target of the job will start.
        """
        with self._books:
            now = self._leases.now()
            done = self._store.batch.cancel(caller.name, job_id, now=now, ttl_s=self._config.ttl_s)
            if done is None:
                raise NotFound("no such job")
            if done.flipped:
                self._ledger.ended(job_id, "cancelled")
                self._ledger.never_began(done.pending)
        with self._lock:
            if drain := self._drains.get(job_id):
                drain.halt()
        self._bell.ring(job_id)
        return done.status

    def cancel_callers(self, names: Iterable[str]) -> None:
        """Cancel the live jobs of callers that are no more; where the store refuses that, it is logged."""
        for name in names:
            try:
                for job_id in self._store.batch.live_jobs(name):
                    self.cancel(Caller(name), job_id)
            except StorageFailed as error:
                self._log.fault("cancel_callers", error)

    def collect(self) -> None:
        """One round of the collector, in the thread of whoever calls."""
        self._collector.collect()

    def _answered(self, admission: Admission, caps: Caps) -> Submitted:
        job_id = admission.job_id
        if admission.verdict is Verdict.CALLER_BUSY:
            self._ledger.refused("caller")
            own = (
                f"a live job ({job_id})" if admission.live == 1 else f"{admission.live} live jobs, the newest {job_id}"
            )
            raise CallerBusy(
                f"you already have {own}; wait for it, or cancel it with DELETE /v1/batch/{job_id}", job_id=job_id
            )
        if admission.verdict is Verdict.JOBS_BUSY:
            self._ledger.refused("jobs")
            raise JobsBusy(f"{admission.live} jobs are live, at most {caps.jobs_total} at a time; try again in a while")
        if admission.verdict is Verdict.CREATED:
            self._queue.put(job_id)
            self._hurry_over_bytes()
        else:
            self._ledger.reused()
        reused = admission.verdict is Verdict.REUSED
        hint = "fresh" if admission.failed else None
        return Submitted(job_id, admission.status, admission.targets, reused, hint, look_again_s(admission.targets))

    def _grow(self) -> None:
        with self._lock:
            if self._stopping:
                return
            for number in range(len(self._threads) + 1, self._config.jobs_total + 1):
                thread = threading.Thread(target=self._serve, name=f"sift-batch-{number}", daemon=True)
                self._threads.append(thread)
                thread.start()

    def _serve(self) -> None:
        """A pool thread's life: one job after the other. A fault in here ends it, and `dead_threads` names it."""
        while (job_id := self._queue.get()) is not None:
            drain = Drain(job_id, self._tools)
            with self._lock:
                if self._stopping:
                    return
                self._drains[job_id] = drain
            try:
                drain.run()
            finally:
                with self._lock:
                    del self._drains[job_id]
            self._hurry_over_bytes()

    def _hurry_over_bytes(self) -> None:
        if self._store.batch.nbytes() > self._config.max_bytes:
            self._collector.hurry()


def _join(threads: Iterable[threading.Thread], ends_s: float) -> None:
    for thread in threads:
        if thread.is_alive():
            thread.join(max(0.0, ends_s - time.monotonic()))
