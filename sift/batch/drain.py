"""One job's way through, target by target, in the hands of one thread.

A target's failure, or a fault inside its fetch, is that target's; nothing of either leaves this file.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass

from sift.batch.bell import Bell
from sift.batch.canonical import target_of
from sift.batch.leases import LeaseClock
from sift.batch.ledger import Ledger
from sift.batch.pace import Pace
from sift.clock import Clock
from sift.dcache import BatchTables, Finish, Finished, Work
from sift.errors import Busy, Cancelled, Internal, Stopping, StorageFailed, TargetError
from sift.logs import Log
from sift.target import BATCH, Caller, Lane, Outcome, Result, Target

FetchTarget = Callable[[Caller, Target, Lane], Result]


@dataclass(frozen=True, slots=True)
class Pauses:
    """How long is waited before trying again: for a slot (doubled up to the most), and for a store that fails.

    `begin_s`: before a job is taken, so that the answer to its submit goes out first.
    """

    begin_s: float = 0.005
    busy_s: float = 0.25
    busy_most_s: float = 4.0
    storage_s: float = 3.0


PAUSES = Pauses()


@dataclass(frozen=True, slots=True)
class Tools:
    """What every drain works with. `ended` is set when the server waits no longer for what is in flight."""

    tables: BatchTables
    fetch_target: FetchTarget
    clock: Clock
    leases: LeaseClock
    ledger: Ledger
    bell: Bell
    pace: Pace
    log: Log
    pauses: Pauses
    ended: threading.Event


@dataclass(frozen=True, slots=True)
class _Ending:
    """How a target ended, not yet written."""

    finish: Finish
    outcome: str
    seconds: float


class Drain:
    """One job, from taking it to its end. One thread runs it; `halt` may be called by any.

    A halted drain starts no target. One in flight goes on, and is stored.
    """

    def __init__(self, job_id: str, tools: Tools) -> None:
        self._job_id = job_id
        self._tools = tools
        self._halted = threading.Event()

    def halt(self) -> None:
        """Start no further target: the job was cancelled, or the server stops."""
        self._halted.set()

    def run(self) -> None:
        """Take the job and drain it. Nothing happens where it is not queued any more."""
        # Measured: a job that is begun while its submit is still being answered takes two fifths of that answer's time.
        self._halted.wait(self._tools.pauses.begin_s)
        work = self._take()
        if work is None:
            return
        self._tools.ledger.taken(self._job_id)
        self._tools.bell.ring(self._job_id)
        caller = Caller(work.caller, work.caller_class == "restricted")
        for idx, (url, options) in enumerate(work.targets):
            flight = _Flight(self._tools, caller, self._job_id, idx, self._halted)
            if not flight.run(target_of(url, options)):
                return

    def _take(self) -> Work | None:
        while not self._halted.is_set():
            try:
                return self._tools.tables.take_job(self._job_id)
            except StorageFailed:
                self._halted.wait(self._tools.pauses.storage_s)
            except Stopping:
                return None
        return None


class _Flight:
    """One target, from its turn to its result in the store. One thread uses it."""

    def __init__(self, tools: Tools, caller: Caller, job_id: str, idx: int, halted: threading.Event) -> None:
        self._tools = tools
        self._caller = caller
        self._job_id = job_id
        self._idx = idx
        self._halted = halted
        self._begun = False

    def run(self, target: Target) -> bool:
        """Fetch and store; false where the target did not begin, or could not be written before the server's end."""
        pause_s = self._tools.pauses.busy_s
        while self._tools.pace.turn(self._stopped):
            try:
                ending = self._fetch(target)
            except Busy:
                self._halted.wait(pause_s)
                pause_s = min(2 * pause_s, self._tools.pauses.busy_most_s)
            except StorageFailed:
                self._halted.wait(self._tools.pauses.storage_s)
            except (Cancelled, Stopping):
                return False
            else:
                return self._store(ending)
        return False

    def _fetch(self, target: Target) -> _Ending:
        """How the target ended; it has begun then.

        Raises `Busy` where it is to be tried again, `StorageFailed` where its begin could not be written, `Cancelled`
        where it must not begin, or the server's end has come.
        """
        lane = Lane(BATCH, None, self._begin, self._stopped, job_id=self._job_id, idx=self._idx)
        started_s = self._tools.clock.monotonic()
        finish, outcome = self._ask(target, lane)
        seconds = self._tools.clock.monotonic() - started_s - lane.waited_s
        self._begin()
        return _Ending(finish, outcome, seconds)

    def _ask(self, target: Target, lane: Lane) -> tuple[Finish, str]:
        try:
            result = self._tools.fetch_target(self._caller, target, lane)
            return Finish(result=_serialized(result)), Outcome.OK.value
        except Busy as error:
            if self._begun and self._halted.is_set():
                return _failed(error)
            raise
        except Cancelled as error:
            if self._stopped():
                raise
            return _failed(error)
        except TargetError as error:
            return _failed(error)
        except (StorageFailed, Stopping) as error:
            if self._begun:
                return self._fault(error)
            raise
        except (Exception, SystemExit) as error:  # whatever a page makes a library do is this target's failure alone
            return self._fault(error)

    def _fault(self, error: BaseException) -> tuple[Finish, str]:
        self._tools.log.fault("batch", error, caller=self._caller, job=self._job_id, idx=self._idx)
        return _failed(Internal())

    def _begin(self) -> None:
        """Start the target once; raises `Cancelled` where it must not start any more."""
        if self._begun:
            return
        if self._halted.is_set() or not self._tools.tables.start_target(self._job_id, self._idx):
            self._halted.set()
            raise Cancelled("stopped before it began")
        self._begun = True
        self._tools.ledger.started()
        self._tools.bell.ring(self._job_id)

    def _stopped(self) -> bool:
        """Whether to give up: before the begin at a cancel or a stop, afterwards at the server's end alone."""
        return (self._tools.ended if self._begun else self._halted).is_set()

    def _store(self, ending: _Ending) -> bool:
        """Write the ending, however long the store refuses it; false where the server's end came first."""
        while not self._tools.ended.is_set():
            try:
                finished = self._tools.tables.finish_target(
                    self._job_id, self._idx, ending.finish, now=self._tools.leases.now()
                )
            except StorageFailed as error:
                self._tools.log.fault("storage", error, caller=self._caller, job=self._job_id, idx=self._idx)
                self._tools.ended.wait(self._tools.pauses.storage_s)
            except Stopping:
                return False
            else:
                self._account(ending, finished)
                return not self._halted.is_set()
        return False

    def _account(self, ending: _Ending, finished: Finished | None) -> None:
        result = ending.finish.result
        stored = None if result is None or finished is None else len(result)
        self._tools.ledger.finished(ending.outcome, ending.seconds, stored)
        if finished is not None and finished.ended is not None:
            self._tools.ledger.ended(self._job_id, finished.ended)
        self._tools.bell.ring(self._job_id)


def _serialized(result: Result) -> bytes:
    text = json.dumps(dict(result.envelope), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "replace")


def _failed(error: TargetError) -> tuple[Finish, str]:
    text = str(error).encode("utf-8", "replace").decode()
    return Finish(error=text, reason=error.outcome.value, hint=error.hint), error.outcome.value
