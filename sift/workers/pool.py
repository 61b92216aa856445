"""The pool: a fixed number of worker processes, handed out one job at a time, replaced when they die.

Why not a library's pool: theirs share one pipe between workers, so that one killed from outside in the middle of a
message can stall the rest, and they know no lanes. Here every worker has a pipe of its own and the calling
thread speaks to it directly.

    Thread `sift-workers`, one: starts workers, notices deaths, replaces; ends with `close`.
    Processes: `count` workers below a fork server, which has the modules loaded and no environment.
"""

from __future__ import annotations

import math
import multiprocessing
import multiprocessing.forkserver
import multiprocessing.resource_tracker
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext, ForkServerProcess
from types import ModuleType

from sift.config import WorkersConfig
from sift.errors import Internal, TimedOut, TooLong
from sift.logs import Log
from sift.metrics import Metrics
from sift.target import INTERACTIVE
from sift.workers import child
from sift.workers.turns import Turns

MOST_ANSWER_BYTES = 64 << 20
SUPERVISE_S = 0.5
RETRY_S = 1.0
CALLER_S = 0.01
"""After a worker died: how long its caller is given to notice before the thread looks again."""
_TOO_SLOW = "the page took longer to work through than a worker may take"
_OUT_OF_MEMORY = frozenset({signal.SIGABRT, signal.SIGTRAP, signal.SIGILL})
"""How C libraries end where malloc says no: jq aborts, PDFium traps."""


def _nothing() -> None:
    """Nothing is to be done meanwhile."""


class _NeverBegun(Exception):
    """The worker was gone before it took the job."""


@dataclass(slots=True, eq=False)
class _Worker:
    """One process and the server's end of its pipe. `cause` says why it has to go, once that is decided."""

    process: ForkServerProcess
    conn: Connection
    ready: bool = False
    polite: bool = False
    cause: str | None = None
    overdue_at: float | None = None


class Pool:
    """Runs jobs in worker processes. Any thread may call; interactive work goes first."""

    def __init__(
        self,
        config: WorkersConfig,
        preload: tuple[str, ...],
        metrics: Metrics,
        log: Log,
        monotonic: Callable[[], float],
    ) -> None:
        self._config = config
        self._preload = preload
        self._metrics = metrics
        self._log = log
        self._monotonic = monotonic
        self._context: ForkServerContext = multiprocessing.get_context("forkserver")
        self._turns: Turns[_Worker] = Turns(config.count, monotonic)
        self._closed = False
        self._lock = threading.Lock()  # guards the two below, and who of the workers is busy
        self._workers: list[_Worker] = []
        self._unready_since: float | None = monotonic()
        self._wake_read, self._wake_write = self._context.Pipe(duplex=False)
        self._thread = threading.Thread(target=self._supervise, name="sift-workers", daemon=True)

    def start(self) -> None:
        """Starts the processes; call it before other threads run. Jobs may come at once, they wait for the first."""
        self._context.set_forkserver_preload(["sift.workers.child", *self._preload])
        with _no_environment(), _no_interrupt():
            self._spawn_missing()
        self._thread.start()

    def call(self, function: str, payload: bytes, *, lane: str, meanwhile: Callable[[], None] = _nothing) -> bytes:
        """The answer of `function` ("package.module:name", bytes to bytes) to `payload`, worked out by a worker.

        `meanwhile` is called once, in this thread: while a worker works or is waited for, in any case before this ends.
        What it raises comes out of here.

        Raises `TimedOut` past `[workers] timeout` (an interactive call counts its wait for a worker in it),
        `TooLong` where the memory did not suffice, `Internal` where the function raised or the worker died.
        """
        asked_at = self._monotonic()
        with ExitStack() as undone:
            undone.callback(meanwhile)
            while True:
                worker = self._take(lane, asked_at, undone.close)
                try:
                    started_at = asked_at if lane == INTERACTIVE else self._monotonic()
                    ends_at = started_at + self._config.timeout_s
                    return self._run(worker, function, payload, lane, ends_at, undone.close)
                except _NeverBegun:
                    continue
                finally:
                    self._give(worker)

    def unready_s(self) -> float:
        """For how long no worker has been ready, busy ones included; 0 where one is."""
        with self._lock:
            return 0.0 if self._unready_since is None else self._monotonic() - self._unready_since

    def is_alive(self) -> bool:
        """Whether the thread that replaces workers lives."""
        return self._thread.is_alive()

    def close(self) -> None:
        """Ends all workers and the thread. Calls under way fail with `Internal`."""
        self._closed = True
        self._turns.close()
        self._wake()
        if self._thread.is_alive():
            self._thread.join()
        for worker in self._workers:  # the thread is gone: nobody adds one any more
            worker.process.kill()
        for worker in self._workers:
            worker.process.join()
            worker.conn.close()
        self._wake_read.close()
        self._wake_write.close()

    def _take(self, lane: str, asked_at: float, before_waiting: Callable[[], None]) -> _Worker:
        worker = self._turns.take(lane, asked_at)
        if worker is None:
            before_waiting()
            worker = self._turns.take(lane, asked_at + self._config.timeout_s if lane == INTERACTIVE else None)
        if worker is None:
            raise TimedOut("no worker process came free in time")
        return worker

    def _give(self, worker: _Worker) -> None:
        with self._lock:  # in one go: a worker that is neither busy nor idle would be buried and then given out
            worker.overdue_at = None
            self._turns.give(worker, usable=worker.cause is None)

    def _run(
        self,
        worker: _Worker,
        function: str,
        payload: bytes,
        lane: str,
        ends_at: float,
        while_it_works: Callable[[], None],
    ) -> bytes:
        try:
            self._hand_over(worker, function, payload, lane, ends_at)
            worker.overdue_at = math.inf  # it is not to blame for the time that something else takes
            while_it_works()
            worker.overdue_at = ends_at + 1.0
            reply = self._await_reply(worker, ends_at)
        except BaseException:
            if worker.cause is None:  # what is left in its pipe would be taken for the next job's answer
                self._end(worker, "death")
            raise
        return self._open(worker, reply)

    def _hand_over(self, worker: _Worker, function: str, payload: bytes, lane: str, ends_at: float) -> None:
        worker.overdue_at = ends_at + 1.0
        left_s = max(0.0, ends_at - self._monotonic())
        try:
            worker.conn.send_bytes(f"{function} {left_s:.3f} {lane}".encode())
            worker.conn.send_bytes(payload)
            if self._receive(worker, ends_at) != child.TAKEN:
                raise _NeverBegun
        except (EOFError, OSError):
            if worker.cause == "timeout":
                raise self._death(worker) from None
            raise _NeverBegun from None

    def _await_reply(self, worker: _Worker, ends_at: float) -> bytes:
        try:
            return self._receive(worker, ends_at)
        except (EOFError, OSError):
            raise self._death(worker) from None

    def _receive(self, worker: _Worker, ends_at: float) -> bytes:
        """The next message of a worker; ends it, and raises `TimedOut`, where none has come by `ends_at`."""
        if not worker.conn.poll(max(0.0, ends_at - self._monotonic())):
            self._end(worker, "timeout")
            raise TimedOut(_TOO_SLOW)
        return worker.conn.recv_bytes(MOST_ANSWER_BYTES)

    def _open(self, worker: _Worker, reply: bytes) -> bytes:
        """The answer in a worker's reply; raises what its mark says."""
        mark, last, answer = reply[:1], reply[1:2], reply[2:]
        if last == child.LAST:
            worker.cause = "memory" if mark == child.MEMORY else "recycle"
        if mark == child.OK:
            return answer
        if mark == child.MEMORY:
            raise TooLong("the page needs more memory than a worker may have")
        self._log.worker_fault(answer[:200].decode("utf-8", "replace"))
        raise Internal

    def _death(self, worker: _Worker) -> TimedOut | TooLong | Internal:
        """Why a worker went away in the middle of a job, as the error of that job."""
        if worker.cause == "timeout":  # ended by the supervisor
            return TimedOut(_TOO_SLOW)
        worker.process.join(1.0)
        self._end(worker, "death")
        if worker.process.exitcode == -signal.SIGALRM:  # by itself, while something else was done here
            worker.cause = "timeout"
            return TimedOut(_TOO_SLOW)
        if -(worker.process.exitcode or 0) in _OUT_OF_MEMORY:
            worker.cause = "memory"
            return TooLong("the page needs more memory than a worker may have")
        return Internal()

    def _end(self, worker: _Worker, cause: str) -> None:
        worker.cause = cause
        worker.process.kill()

    # What follows runs in the thread `sift-workers`, but for the first `_spawn_missing`.

    def _supervise(self) -> None:
        while not self._closed:
            with self._lock:
                watched = [worker.process.sentinel for worker in self._workers]
                starting = [worker.conn for worker in self._workers if not worker.ready]
            happened = wait([*watched, *starting, self._wake_read], SUPERVISE_S)
            if self._wake_read.poll():
                return
            self._greet(starting)
            self._end_overdue()
            if self._bury():
                wait([self._wake_read], RETRY_S)
            elif happened:  # a worker may have died in the hands of a caller, who has not noticed yet
                wait([self._wake_read], CALLER_S)
            try:
                self._spawn_missing()
            except (OSError, EOFError) as error:  # no descriptors, no memory: it may be better in a second
                self._log.fault("workers", error)
                wait([self._wake_read], RETRY_S)

    def _greet(self, starting: list[Connection]) -> None:
        """Takes workers that have said that they are ready among the idle ones."""
        for conn in starting:
            with suppress(EOFError, OSError):
                if conn.poll() and conn.recv_bytes() == child.READY:
                    with self._lock:
                        worker = next(worker for worker in self._workers if worker.conn is conn)
                        worker.ready = True
                        self._count_ready()
                    self._turns.add(worker)

    def _end_overdue(self) -> None:
        """The back-stop for a worker that neither reads nor dies: its caller sits in a blocking write."""
        with self._lock:
            for worker in self._workers:
                if worker.overdue_at is not None and worker.overdue_at < self._monotonic():
                    self._end(worker, "timeout")

    def _bury(self) -> bool:
        """Takes dead workers off the books. Whether one of them was never ready: the next may fare no better."""
        with self._lock:
            # Busy ones are not even asked: of two threads that ask how a process ended one is told nothing.
            idle = [worker for worker in self._workers if worker not in self._busy()]
            dead = [worker for worker in idle if not worker.process.is_alive() and self._is_nobodys(worker)]
            for worker in dead:
                self._workers.remove(worker)
                self._metrics.worker_restarts_total.labels(worker.cause or "death").inc()
            self._count_ready()
        for worker in dead:
            worker.conn.close()
        return any(not worker.ready for worker in dead)

    def _is_nobodys(self, worker: _Worker) -> bool:
        """Whether a dead worker is in no caller's hands, nor just about to be; it will not be given out any more."""
        return self._turns.discard(worker) or worker.cause is not None or not worker.ready

    def _busy(self) -> list[_Worker]:
        """Workers in a caller's hands: what became of them is his to say."""
        return [worker for worker in self._workers if worker.overdue_at is not None]

    def _count_ready(self) -> None:
        if any(worker.ready for worker in self._workers):
            self._unready_since = None
        elif self._unready_since is None:
            self._unready_since = self._monotonic()

    def _spawn_missing(self) -> None:
        while len(self._workers) < self._config.count and not self._closed:
            ours, theirs = self._context.Pipe()
            process = self._context.Process(
                target=child.main,
                args=(theirs, self._preload, self._config.memory_bytes),
                name="sift-worker",
                daemon=True,
            )
            try:
                with _no_environment(), _no_main_module():
                    process.start()
            except BaseException:
                ours.close()
                raise
            finally:
                theirs.close()
            with self._lock:
                self._workers.append(_Worker(process, ours))

    def _wake(self) -> None:
        with suppress(OSError):
            self._wake_write.send_bytes(b"")


def end_fork_server() -> None:
    """Ends the process that workers are forked from, and waits for it; for a program that is about to exit.

    It would go by itself a moment after the program, and be an orphan until then.
    """
    for module, holder in (("forkserver", "_forkserver"), ("resource_tracker", "_resource_tracker")):
        stop = getattr(getattr(getattr(multiprocessing, module, None), holder, None), "_stop", None)
        if stop is not None:
            with suppress(OSError, ChildProcessError):
                stop()


@contextmanager
def _no_environment() -> Iterator[None]:
    """The fork server is started, or started anew, with an empty environment: its children never had another."""
    saved = dict(os.environ)
    os.environ.clear()
    try:
        yield
    finally:
        os.environ.update(saved)


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """Ctrl-C reaches the whole group; what is started in here never takes it for its own."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _no_main_module() -> Iterator[None]:
    """Keeps multiprocessing from running the program's main script once more in every worker."""
    saved = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = saved
