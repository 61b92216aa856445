"""Batches make way for who waits for an answer, and for nobody else."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from sift.batch.pace import PACE_S, RECENT_S, Pace
from tests.batch.conftest import Hand
from tests.support.waiting import until


def never() -> bool:
    return False


@pytest.fixture
def hand():
    return Hand()


@pytest.fixture
def pace(hand):
    return Pace(hand.clock().monotonic)


@pytest.fixture
def threads():
    with ThreadPoolExecutor(10) as pool:
        yield pool


def test_with_nobody_waiting_targets_begin_one_after_the_other(pace):
    for _ in range(100):
        assert pace.turn(never)  # by a clock that stands still: a wait would never end


def test_while_somebody_waits_a_target_begins_every_quarter_of_a_second(pace, hand, threads):
    with pace.answering():
        pace.turn(never)
        begun = [threads.submit(pace.turn, never) for _ in range(3)]
        for count in range(3):
            assert [turn.done() for turn in begun].count(True) == count
            hand.pass_s(PACE_S)
            until(lambda count=count: [turn.done() for turn in begun].count(True) == count + 1)


def test_turns_come_in_the_order_in_which_they_were_asked_for(pace, hand, threads):
    order: list[int] = []

    def ask(number: int) -> None:
        for _ in range(3):
            pace.turn(never)
            order.append(number)

    with pace.answering():
        pace.turn(never)
        for number in range(8):
            threads.submit(ask, number)
            until(lambda number=number: len(pace._queue) == number + 1)
        for count in range(1, 25):
            hand.pass_s(PACE_S)
            until(lambda count=count: len(order) == count and len(pace._queue) == min(8, 24 - count))

    assert order == [*range(8)] * 3


def test_who_was_just_answered_counts_for_a_moment(pace, hand, threads):
    with pace.answering():
        pace.turn(never)
    begun = threads.submit(pace.turn, never)
    assert not begun.done()

    hand.pass_s(1.5 * RECENT_S)

    begun.result(5)
    pace.turn(never)


def test_those_who_wait_for_their_turn_go_on_once_nobody_waits_for_an_answer(pace, hand, threads):
    with pace.answering():
        pace.turn(never)
        begun = [threads.submit(pace.turn, never) for _ in range(8)]
    hand.pass_s(1.5 * RECENT_S)

    for turn in begun:
        turn.result(5)


def test_all_who_are_answered_count(pace, hand, threads):
    first, second = pace.answering(), pace.answering()
    with first:
        second.__enter__()
    pace.turn(never)
    begun = threads.submit(pace.turn, never)
    hand.pass_s(2 * RECENT_S)
    assert not begun.done()

    second.__exit__(None, None, None)
    hand.pass_s(1.5 * RECENT_S)

    begun.result(5)


def test_a_stop_is_noticed_in_the_turn_and_behind_it(pace, threads):
    stopped = threading.Event()
    with pace.answering():
        pace.turn(never)
        waiting = [threads.submit(pace.turn, stopped.is_set) for _ in range(3)]

        stopped.set()

        for turn in waiting:
            assert turn.result(5) is False
