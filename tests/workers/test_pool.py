import io
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from sift.config import LogConfig, WorkersConfig
from sift.errors import Internal, TimedOut, TooLong
from sift.logs import Log
from sift.metrics import Metrics
from sift.target import BATCH, INTERACTIVE
from sift.workers import Pool, child
from tests.support.waiting import until

JOBS = "tests.support.jobs:"
MakePool = Callable[..., Pool]


@pytest.fixture
def log_text() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def make_pool(metrics: Metrics, log_text: io.StringIO) -> Iterator[MakePool]:
    pools: list[Pool] = []

    def make(count: int = 1, timeout_s: float = 5.0) -> Pool:
        config = WorkersConfig(count=count, timeout_s=timeout_s, memory_bytes=256 << 20)
        pool = Pool(config, ("tests.support.jobs",), metrics, Log(LogConfig(), log_text), time.monotonic)
        pools.append(pool)
        pool.start()
        return pool

    yield make
    for pool in pools:
        pool.close()


def restarts(metrics: Metrics, cause: str) -> float:
    return metrics.worker_restarts_total.labels(cause)._value.get()


def test_a_job_answers_with_the_bytes_of_its_function(make_pool: MakePool) -> None:
    payload = os.urandom(3_000_000)

    assert make_pool().call(JOBS + "echo", payload, lane=INTERACTIVE) == payload


def test_something_else_is_done_while_the_worker_works(make_pool: MakePool) -> None:
    pool = make_pool()
    worker = int(pool.call(JOBS + "pid", b"", lane=INTERACTIVE))

    def wake() -> None:
        until(lambda: Path(f"/proc/{worker}/stat").read_text().split()[2] == "T")
        os.kill(worker, signal.SIGCONT)

    assert pool.call(JOBS + "stop_self", b"", lane=INTERACTIVE, meanwhile=wake) == b""


@pytest.mark.parametrize("job", ["echo", "fail", "kill_self", "spin"])
def test_what_is_to_be_done_meanwhile_is_done_once_however_the_job_ends(make_pool: MakePool, job: str) -> None:
    pool = make_pool(timeout_s=0.5)
    done: list[str] = []

    with suppress(Internal, TimedOut):
        pool.call(JOBS + job, b"", lane=INTERACTIVE, meanwhile=lambda: done.append(job))

    assert done == [job]


def test_what_is_to_be_done_meanwhile_is_done_where_no_worker_is_to_be_had(make_pool: MakePool) -> None:
    pool = make_pool()
    pool.close()
    done: list[str] = []

    with pytest.raises(Internal):
        pool.call(JOBS + "echo", b"", lane=INTERACTIVE, meanwhile=lambda: done.append("done"))

    assert done == ["done"]


def test_who_waits_for_a_worker_does_something_else_first(make_pool: MakePool) -> None:
    pool = make_pool(timeout_s=5.0)
    with ThreadPoolExecutor(2) as threads:
        spinning = threads.submit(pool.call, JOBS + "spin", b"", lane=INTERACTIVE)
        until(lambda: pool._workers[0].overdue_at is not None)
        done = threading.Event()
        waiting = threads.submit(pool.call, JOBS + "echo", b"", lane=BATCH, meanwhile=done.set)

        assert done.wait(2)
        assert not waiting.done()
        pool.close()
        assert isinstance(spinning.exception(), Internal)


def test_a_worker_that_ends_itself_past_its_deadline_has_timed_out(make_pool: MakePool, metrics: Metrics) -> None:
    pool = make_pool()

    with pytest.raises(TimedOut):
        pool.call(JOBS + "alarm", b"", lane=INTERACTIVE)

    assert pool.call(JOBS + "echo", b"x", lane=INTERACTIVE) == b"x"
    assert restarts(metrics, "timeout") == 1


def test_an_answer_that_cannot_be_taken_is_no_later_jobs(make_pool: MakePool, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = make_pool()
    receive = pool._receive

    def fail(worker: Any, ends_at: float) -> bytes:
        if receive(worker, ends_at) != child.TAKEN:
            raise MemoryError
        return child.TAKEN

    monkeypatch.setattr(pool, "_receive", fail)
    with pytest.raises(MemoryError):
        pool.call(JOBS + "echo", b"first", lane=INTERACTIVE)
    monkeypatch.undo()

    assert pool.call(JOBS + "echo", b"second", lane=INTERACTIVE) == b"second"


def test_a_fault_meanwhile_gives_no_job_another_jobs_answer(make_pool: MakePool) -> None:
    pool = make_pool()

    def fail() -> None:
        raise ValueError("a fault")

    with pytest.raises(ValueError, match="a fault"):
        pool.call(JOBS + "echo", b"first", lane=INTERACTIVE, meanwhile=fail)

    assert pool.call(JOBS + "echo", b"second", lane=INTERACTIVE) == b"second"


def test_time_taken_meanwhile_is_not_the_workers(make_pool: MakePool, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = make_pool()
    until(lambda: len(pool._turns._idle) == 1)

    def take_an_hour() -> None:
        monkeypatch.setattr(pool, "_monotonic", lambda: time.monotonic() + 3600)
        pool._end_overdue()
        until(pool._workers[0].conn.poll)

    assert pool.call(JOBS + "echo", b"x", lane=INTERACTIVE, meanwhile=take_an_hour) == b"x"


def test_a_job_past_its_deadline_is_killed_and_the_pool_is_whole(make_pool: MakePool, metrics: Metrics) -> None:
    pool = make_pool(timeout_s=0.5)
    before = pool.call(JOBS + "pid", b"", lane=INTERACTIVE)

    with pytest.raises(TimedOut):
        pool.call(JOBS + "spin", b"", lane=INTERACTIVE)

    assert pool.call(JOBS + "pid", b"", lane=BATCH) != before
    assert restarts(metrics, "timeout") == 1


def test_a_stopped_worker_is_killed_even_if_it_never_reads(make_pool: MakePool) -> None:
    pool = make_pool(timeout_s=0.5)
    os.kill(int(pool.call(JOBS + "pid", b"", lane=INTERACTIVE)), signal.SIGSTOP)

    with pytest.raises(TimedOut):
        pool.call(JOBS + "echo", bytes(5 << 20), lane=INTERACTIVE)


@pytest.mark.parametrize("job", ["hoard", "abort"])
def test_running_out_of_memory_is_too_long(make_pool: MakePool, metrics: Metrics, job: str) -> None:
    pool = make_pool()

    with pytest.raises(TooLong):
        pool.call(JOBS + job, b"", lane=INTERACTIVE)

    assert pool.call(JOBS + "echo", b"still here", lane=INTERACTIVE) == b"still here"
    assert restarts(metrics, "memory") == 1


def test_a_worker_killed_from_outside_in_a_job_is_one_internal_error(make_pool: MakePool, metrics: Metrics) -> None:
    pool = make_pool()

    with pytest.raises(Internal):
        pool.call(JOBS + "kill_self", b"", lane=INTERACTIVE)

    assert pool.call(JOBS + "echo", b"x", lane=INTERACTIVE) == b"x"
    assert restarts(metrics, "death") == 1


def test_a_worker_killed_while_idle_costs_no_job(make_pool: MakePool) -> None:
    pool = make_pool()
    for _ in range(5):
        os.kill(int(pool.call(JOBS + "pid", b"", lane=INTERACTIVE)), signal.SIGKILL)

        assert pool.call(JOBS + "echo", b"x", lane=INTERACTIVE) == b"x"


def test_a_fault_is_internal_and_its_text_stays_in_the_worker(make_pool: MakePool, log_text: io.StringIO) -> None:
    pool = make_pool()

    with pytest.raises(Internal):
        pool.call(JOBS + "fail", b"", lane=INTERACTIVE)

    assert "ValueError at jobs.py" in log_text.getvalue()
    assert "secret" not in log_text.getvalue()


def test_a_worker_has_no_environment(make_pool: MakePool) -> None:
    pool = make_pool()

    assert pool.call(JOBS + "environment", b"", lane=INTERACTIVE) == b"({}, None)"
    worker = pool.call(JOBS + "pid", b"", lane=INTERACTIVE).decode()
    with open(f"/proc/{worker}/environ", "rb") as file:
        names = {pair.partition(b"=")[0] for pair in file.read().split(b"\0") if pair}
    assert names <= {b"LINES", b"COLUMNS"}  # readline's, put there behind Python's back where a terminal test ran


def test_a_worker_can_open_no_file(make_pool: MakePool, log_text: io.StringIO) -> None:
    with pytest.raises(Internal):
        make_pool().call(JOBS + "open_file", b"/etc/hostname", lane=INTERACTIVE)

    assert "OSError" in log_text.getvalue()


def test_what_a_worker_prints_goes_nowhere(make_pool: MakePool, capfd: pytest.CaptureFixture[str]) -> None:
    make_pool().call(JOBS + "shout", b"", lane=INTERACTIVE)

    assert capfd.readouterr() == ("", "")


def test_interactive_work_goes_before_batches_that_waited_longer(make_pool: MakePool) -> None:
    pool = make_pool(timeout_s=1.0)
    order: list[str] = []

    def ask(lane: str) -> None:
        pool.call(JOBS + "echo", b"", lane=lane)
        order.append(lane)

    with ThreadPoolExecutor(3) as threads:
        spinning = threads.submit(pool.call, JOBS + "spin", b"", lane=INTERACTIVE)
        until(lambda: pool._workers[0].overdue_at is not None)
        batch = threads.submit(ask, BATCH)
        interactive = threads.submit(ask, INTERACTIVE)
        until(lambda: pool._turns._waiting[INTERACTIVE] == 1)
        with pytest.raises(TimedOut):
            spinning.result()
        batch.result()
        # an interactive call that waited as long as the deadline may have passed it; it went first if it went
        if interactive.exception() is None:
            assert order == [INTERACTIVE, BATCH]


def test_batches_leave_one_worker_free(make_pool: MakePool) -> None:
    pool = make_pool(count=2, timeout_s=3.0)
    with ThreadPoolExecutor(2) as threads:
        spinning = [threads.submit(pool.call, JOBS + "spin", b"", lane=BATCH) for _ in range(2)]
        until(lambda: pool._turns._polite == 1)

        began = time.monotonic()
        assert pool.call(JOBS + "echo", b"", lane=INTERACTIVE) == b""
        assert time.monotonic() - began < 2
        pool.close()
        for future in spinning:
            assert isinstance(future.exception(), Internal | TimedOut)


def test_a_worker_of_batches_leaves_the_processor_to_the_others(make_pool: MakePool) -> None:
    pool = make_pool(count=2)
    until(lambda: len(pool._turns._idle) == 2)

    of_batches = int(pool.call(JOBS + "niceness", b"", lane=BATCH))

    assert of_batches > int(pool.call(JOBS + "niceness", b"", lane=INTERACTIVE)) > 0
    assert int(pool.call(JOBS + "niceness", b"", lane=BATCH)) == of_batches


def test_a_closed_pool_leaves_no_process(make_pool: MakePool) -> None:
    pool = make_pool(count=2)
    worker = int(pool.call(JOBS + "pid", b"", lane=INTERACTIVE))

    pool.close()

    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


def test_the_pool_is_ready_once_a_worker_is(make_pool: MakePool) -> None:
    pool = make_pool()
    pool.call(JOBS + "echo", b"", lane=INTERACTIVE)

    assert pool.unready_s() == 0
