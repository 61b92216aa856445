import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from sift.config import GateConfig
from sift.errors import Busy, Cancelled
from sift.gate import MOST_WAITING, Gate
from sift.metrics import Metrics
from sift.target import BATCH, INTERACTIVE, Caller, Lane

ALICE, BOB = Caller("alice"), Caller("bob")


def gate_of(metrics: Metrics, **limits: float) -> Gate:
    return Gate(GateConfig(**limits), metrics, time.monotonic)  # type: ignore[arg-type]


def now(wait_s: float = 0.0) -> Lane:
    return Lane(INTERACTIVE, wait_s=wait_s)


def batch(stopped: threading.Event | None = None) -> Lane:
    return Lane(BATCH, wait_s=None, stopped=stopped.is_set if stopped else lambda: False)


class Waiter(threading.Thread):
    """Asks for the slots of a host in a thread of its own; `through` is set once it has them."""

    def __init__(self, gate: Gate, host: str, lane: Lane, caller: Caller = ALICE) -> None:
        super().__init__(name="waiter", daemon=True)
        self.ticket = gate.ticket(caller, lane)
        self.host = host
        self.through = threading.Event()
        self.error: Exception | None = None
        self.start()

    def run(self) -> None:
        try:
            self.ticket.at(self.host)
            self.through.set()
        except (Busy, Cancelled) as error:
            self.error = error


@contextmanager
def waiting(gate: Gate, host: str, lane: Lane, caller: Caller = ALICE) -> Iterator[Waiter]:
    """A waiter that is in the queue when the block begins."""
    before = sum(len(queue) for queue in gate._waiting.values())
    waiter = Waiter(gate, host, lane, caller)
    for _ in range(2000):
        if sum(len(queue) for queue in gate._waiting.values()) > before or waiter.through.is_set():
            break
        waiter.join(0.002)
    yield waiter
    waiter.join(5)
    waiter.ticket.free()
    assert not waiter.is_alive()


def test_a_host_gives_no_more_slots_than_it_has(metrics: Metrics) -> None:
    gate = gate_of(metrics, per_host=2)
    with gate.ticket(ALICE, now()) as first, gate.ticket(BOB, now()) as second, gate.ticket(BOB, now()) as third:
        first.at("a.example")
        second.at("a.example")
        third.at("b.example")

        with pytest.raises(Busy), gate.ticket(BOB, now()) as fourth:
            fourth.at("a.example")


def test_one_caller_cannot_hold_every_slot(metrics: Metrics) -> None:
    gate = gate_of(metrics, per_caller=1)
    with gate.ticket(ALICE, now()) as first:
        first.at("a.example")

        with pytest.raises(Busy), gate.ticket(ALICE, now()) as second:
            second.at("b.example")
        with gate.ticket(BOB, now()) as other:
            other.at("b.example")


def test_batches_leave_the_reserve_free(metrics: Metrics) -> None:
    gate = gate_of(metrics, global_=3, reserve=2)
    with gate.ticket(ALICE, batch()) as first:
        first.at("a.example")
        with waiting(gate, "b.example", batch()) as second:
            assert not second.through.is_set()
            with gate.ticket(BOB, now()) as interactive:
                interactive.at("c.example")
            first.free()
            assert second.through.wait(5)


def test_batches_take_one_slot_of_a_host_less_than_there_are(metrics: Metrics) -> None:
    gate = gate_of(metrics, per_host=2)
    with gate.ticket(ALICE, batch()) as first:
        first.at("a.example")
        with waiting(gate, "a.example", batch()) as second:
            assert not second.through.is_set()
            with gate.ticket(BOB, now()) as interactive:
                interactive.at("a.example")
            first.free()
            assert second.through.wait(5)


def test_a_batch_gets_its_slot_where_a_host_has_one(metrics: Metrics) -> None:
    gate = gate_of(metrics, per_host=1)
    with gate.ticket(ALICE, batch()) as ticket:
        ticket.at("a.example")
        assert gate.inuse() == {"host": 1, "caller": 0, "batch": 1, "global": 1}


def test_a_batch_gives_way_to_an_interactive_fetch_that_came_later(metrics: Metrics) -> None:
    gate = gate_of(metrics, per_host=1)
    with gate.ticket(BOB, now()) as holder:
        holder.at("a.example")
        with waiting(gate, "a.example", batch()) as background:
            with waiting(gate, "a.example", now(5)) as interactive:
                holder.free()
                assert interactive.through.wait(5)
                assert not background.through.is_set()
                interactive.ticket.free()
            assert background.through.wait(5)


def test_who_waits_for_a_slow_host_costs_an_idle_one_nothing(metrics: Metrics) -> None:
    gate = gate_of(metrics, global_=3, reserve=1, per_host=2)
    with gate.ticket(ALICE, batch()) as slow:
        slow.at("slow.example")
        with waiting(gate, "slow.example", batch()), gate.ticket(BOB, batch()) as idle:
            idle.at("idle.example")
            slow.free()


def test_slots_are_handed_out_in_order_of_arrival(metrics: Metrics) -> None:
    gate = gate_of(metrics, per_host=1)
    with gate.ticket(ALICE, now()) as holder:
        holder.at("a.example")
        with waiting(gate, "a.example", now(5)) as first, waiting(gate, "a.example", now(5), BOB) as second:
            holder.free()
            assert first.through.wait(5)
            assert not second.through.is_set()
            first.ticket.free()
            assert second.through.wait(5)


def test_moving_to_another_host_gives_the_first_back(metrics: Metrics) -> None:
    gate = gate_of(metrics, per_host=1)
    with gate.ticket(ALICE, now()) as ticket, gate.ticket(BOB, now()) as other:
        ticket.at("a.example")
        ticket.at("b.example")

        other.at("a.example")


def test_the_wait_is_counted_once_over_all_hops(metrics: Metrics) -> None:
    gate = gate_of(metrics, per_host=1)
    lane = now(0.3)
    with gate.ticket(ALICE, now()) as holder:
        holder.at("a.example")
        with pytest.raises(Busy), gate.ticket(BOB, lane) as ticket:
            ticket.at("a.example")
        began = time.monotonic()
        with pytest.raises(Busy), gate.ticket(BOB, lane) as ticket:
            ticket.at("a.example")

    assert time.monotonic() - began < 0.2
    assert 0.3 <= lane.waited_s < 1


def test_one_more_than_may_wait_is_busy_at_once(metrics: Metrics) -> None:
    gate = gate_of(metrics, per_host=1)
    with gate.ticket(BOB, now()) as holder:
        holder.at("a.example")
        waiters = [Waiter(gate, "a.example", now(20)) for _ in range(MOST_WAITING)]
        while len(gate._waiting[INTERACTIVE]) < MOST_WAITING:
            waiters[0].join(0.002)
        began = time.monotonic()

        with pytest.raises(Busy), gate.ticket(BOB, now(20)) as ticket:
            ticket.at("a.example")

        assert time.monotonic() - began < 1
    for waiter in waiters:
        assert waiter.through.wait(5)
        waiter.ticket.free()


def test_a_stopped_batch_leaves_the_queue_within_half_a_second(metrics: Metrics) -> None:
    gate = gate_of(metrics, per_host=1)
    stop = threading.Event()
    with gate.ticket(BOB, now()) as holder:
        holder.at("a.example")
        with waiting(gate, "a.example", batch(stop)) as waiter:
            began = time.monotonic()
            stop.set()
            waiter.join(5)
            assert time.monotonic() - began < 0.5

    assert isinstance(waiter.error, Cancelled)


def test_other_limits_are_in_force_at_once(metrics: Metrics) -> None:
    gate = gate_of(metrics, per_host=1, per_caller=4)
    with gate.ticket(ALICE, now()) as first, gate.ticket(ALICE, now()) as second:
        first.at("a.example")
        with waiting(gate, "a.example", now(5)) as third:
            gate.configure(GateConfig(per_host=2, per_caller=4))
            assert third.through.wait(5)
            gate.configure(GateConfig(per_host=1, per_caller=4))
            first.free()
            with pytest.raises(Busy):
                second.at("a.example")


def test_nothing_is_held_and_nothing_remembered_in_the_end(metrics: Metrics) -> None:
    gate = gate_of(metrics)
    for number in range(50):
        with gate.ticket(Caller(f"c{number}"), now()) as ticket:
            ticket.at(f"h{number}.example")

    assert gate.inuse() == {"host": 0, "caller": 0, "batch": 0, "global": 0}
    assert not gate._hosts
    assert not gate._callers
    assert metrics.gate_inuse.labels("global")._value.get() == 0
