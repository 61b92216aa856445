"""Who gets the next worker, and who is woken for it."""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from sift.errors import Internal
from sift.target import BATCH, INTERACTIVE
from sift.workers.turns import Turns
from tests.support.waiting import until


@dataclass(eq=False)
class Worker:
    polite: bool = False


MakeTurns = Callable[[int], "Turns[Worker]"]


@pytest.fixture
def threads():
    with ThreadPoolExecutor(20) as pool:
        yield pool


@pytest.fixture
def make_turns():
    made = []

    def make(count: int, *workers: Worker) -> "Turns[Worker]":
        turns: Turns[Worker] = Turns(count, time.monotonic)
        made.append(turns)
        for worker in workers:
            turns.add(worker)
        return turns

    yield make
    for turns in made:
        turns.close()


def waiting(threads: ThreadPoolExecutor, turns: "Turns[Worker]", lane: str) -> "Future[Worker | None]":
    """A call that waits for a worker, once it does."""
    before = turns._waiting[lane]
    future = threads.submit(turns.take, lane, None)
    until(lambda: turns._waiting[lane] == before + 1)
    return future


def test_whoever_waited_longest_in_his_lane_is_next(make_turns, threads) -> None:
    worker = Worker()
    turns = make_turns(1)
    first, second = waiting(threads, turns, BATCH), waiting(threads, turns, BATCH)

    turns.add(worker)

    assert first.result(5) is worker
    assert not second.done()
    turns.give(worker, usable=True)
    assert second.result(5) is worker


def test_interactive_work_goes_before_batches_that_waited_longer(make_turns, threads) -> None:
    worker = Worker()
    turns = make_turns(1)
    batch = waiting(threads, turns, BATCH)
    interactive = waiting(threads, turns, INTERACTIVE)

    turns.add(worker)

    assert interactive.result(5) is worker
    assert not batch.done()
    turns.give(worker, usable=True)
    assert batch.result(5) is worker


def test_two_workers_that_come_at_once_wake_two(make_turns, threads) -> None:
    turns = make_turns(3)
    found = [waiting(threads, turns, INTERACTIVE), waiting(threads, turns, BATCH)]

    turns.add(Worker())
    turns.add(Worker())

    assert None not in [future.result(5) for future in found]


def test_batches_leave_one_worker_free(make_turns) -> None:
    turns = make_turns(2, Worker(), Worker())
    turns.take(BATCH, None)

    assert turns.take(BATCH, time.monotonic()) is None
    assert turns.take(INTERACTIVE, time.monotonic()) is not None


def test_a_worker_that_batches_may_not_have_is_theirs_once_another_comes_back(make_turns, threads) -> None:
    first, second = Worker(), Worker()
    turns = make_turns(2, first, second)
    taken = turns.take(BATCH, None)
    batch = waiting(threads, turns, BATCH)
    assert taken is not None

    turns.give(taken, usable=False)

    assert batch.result(5) in {first, second} - {taken}


def test_who_gives_up_in_time_passes_his_turn_on(make_turns, threads) -> None:
    """Batches wait for as long as an interactive call does; the last one's end must wake them."""
    worker = Worker()
    turns = make_turns(1)
    for _ in range(20):
        batch = waiting(threads, turns, BATCH)
        giving_up = threads.submit(turns.take, INTERACTIVE, time.monotonic() + 0.002)
        turns.add(worker)

        if giving_up.result(5) is not None:
            turns.give(worker, usable=True)
        assert batch.result(5) is worker
        turns.give(worker, usable=False)


def test_batches_keep_to_the_same_workers_and_interactive_work_to_the_others(make_turns) -> None:
    polite, eager = Worker(polite=False), Worker()
    turns = make_turns(2, eager, polite)

    for _ in range(3):
        for lane, wanted in ((BATCH, polite), (INTERACTIVE, eager)):
            assert turns.take(lane, None) is wanted
            turns.give(wanted, usable=True)

    assert polite.polite
    assert not eager.polite
    assert turns.take(INTERACTIVE, None) is eager
    assert turns.take(INTERACTIVE, None) is polite


def test_a_batch_waits_for_its_own_worker_rather_than_take_the_last_of_the_others(make_turns, threads) -> None:
    first, second = Worker(), Worker()
    turns = make_turns(2, first, second)
    own = turns.take(BATCH, None)
    turns.give(own, usable=True)
    other = turns.take(INTERACTIVE, None)
    assert turns.take(INTERACTIVE, None) is own
    batch = waiting(threads, turns, BATCH)

    turns.give(other, usable=True)
    assert not batch.done()
    turns.give(own, usable=True)

    assert batch.result(5) is own
    assert not other.polite


@pytest.mark.parametrize("how", ["in a caller's hands", "idle"])
def test_after_its_worker_died_a_batch_gets_another(make_turns, how: str) -> None:
    turns = make_turns(2, Worker(), Worker())
    own = turns.take(BATCH, None)
    turns.give(own, usable=how == "idle")
    turns.discard(own)

    assert turns.take(BATCH, time.monotonic()) is not None


def test_a_worker_that_has_died_is_given_to_nobody(make_turns) -> None:
    worker = Worker()
    turns = make_turns(1, worker)

    assert turns.discard(worker)
    assert not turns.discard(worker)

    assert turns.take(INTERACTIVE, time.monotonic()) is None


def test_closing_fails_who_waits_and_who_comes(make_turns, threads) -> None:
    turns = make_turns(2)
    found = [waiting(threads, turns, lane) for lane in (BATCH, BATCH, INTERACTIVE)]

    turns.close()

    for future in found:
        with pytest.raises(Internal):
            future.result(5)
    with pytest.raises(Internal):
        turns.take(INTERACTIVE, None)
