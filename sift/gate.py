"""When a fetch may go: bounded slots per host, per lane and in all, taken in that order for every one.

Why somebody wants to pass is not known here.

    Every change of what is held or waited for runs `_grant`: it walks the waiting tickets, interactive ones first,
    each lane in order of arrival, and lets through whoever can have all of his slots at once. So nobody holds
    one slot while waiting for another, a slow host costs idle hosts nothing, and nobody is overtaken.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType

from sift.config import GateConfig
from sift.errors import Busy, Cancelled
from sift.metrics import Metrics
from sift.target import BATCH, INTERACTIVE, Caller, Lane

MOST_WAITING = 8
"""Interactive fetches that may wait at one time; one above is busy at once."""
NOTICE_S = 0.25
"""How often a waiting ticket looks whether it has been stopped."""


class Slots:
    """A bounded number of slots that can be resized while some are held. Used under the gate's lock."""

    def __init__(self, limit: int) -> None:
        self._semaphore = threading.BoundedSemaphore(limit)
        self.held = 0
        self._excess = 0

    def take(self) -> bool:
        """Whether one was free; it is held then."""
        taken = self._semaphore.acquire(blocking=False)
        self.held += taken
        return taken

    def give(self) -> None:
        """Hands one back; it vanishes where more were held than a smaller limit allows."""
        self.held -= 1
        if self._excess:
            self._excess -= 1
        else:
            self._semaphore.release()

    def resize(self, limit: int) -> None:
        """Changes the limit; who holds a slot keeps it."""
        self._semaphore = threading.BoundedSemaphore(limit)
        within = min(self.held, limit)
        for _ in range(within):
            self._semaphore.acquire(blocking=False)
        self._excess = self.held - within


@dataclass(slots=True)
class _Host:
    """One host's slots, and the batch's part of them; kept while somebody holds or waits for one."""

    all: Slots
    batch: Slots
    interactive_waiting: int = 0
    waiting: int = 0


@dataclass(slots=True, eq=False)
class _Waiter:
    """A wish for the slots of `host`; `granted` is set when `slots` are held."""

    host: str
    lane: str
    caller: str
    granted: threading.Event = field(default_factory=threading.Event)
    slots: tuple[Slots, ...] = ()


class Gate:
    """All gates of a server. Threads: any; none of its own."""

    def __init__(self, config: GateConfig, metrics: Metrics, monotonic: Callable[[], float]) -> None:
        self._lock = threading.Lock()  # guards everything below
        self._config = config
        self._metrics = metrics
        self._monotonic = monotonic
        self._global = Slots(config.global_)
        self._batch = Slots(config.global_ - config.reserve)
        self._callers: dict[str, Slots] = {}
        self._hosts: dict[str, _Host] = {}
        self._waiting: dict[str, list[_Waiter]] = {INTERACTIVE: [], BATCH: []}

    def ticket(self, caller: Caller, lane: Lane) -> Ticket:
        """One target's way through the gates; it holds nothing yet."""
        return Ticket(self, caller, lane)

    def configure(self, config: GateConfig) -> None:
        """Puts other limits in force at once; slots that are held stay held."""
        with self._lock:
            self._config = config
            self._global.resize(config.global_)
            self._batch.resize(config.global_ - config.reserve)
            for slots in self._callers.values():
                slots.resize(config.per_caller)
            for host in self._hosts.values():
                host.all.resize(config.per_host)
                host.batch.resize(self._batch_per_host())
            self._grant()

    def inuse(self) -> dict[str, int]:
        """Slots held, by gate."""
        with self._lock:
            return self._inuse()

    def take(self, host: str, caller: str, lane: Lane) -> _Waiter:
        """Waits for the slots of `host` as long as the lane allows. Raises `Busy`, or `Cancelled` where stopped."""
        waiter = _Waiter(host, lane.name, caller)
        began = self._monotonic()
        try:
            self._arrive(waiter, lane)
            self._wait(waiter, lane, began)
        finally:
            waited_s = self._monotonic() - began
            lane.waited_s += waited_s
            self._metrics.gate_wait_seconds.labels(lane.name).observe(waited_s)
        return waiter

    def give(self, waiter: _Waiter) -> None:
        """Hands back what `take` got."""
        with self._lock:
            for slots in waiter.slots:
                slots.give()
            waiter.slots = ()
            self._forget(waiter)
            self._grant()

    def _arrive(self, waiter: _Waiter, lane: Lane) -> None:
        with self._lock:
            host = self._hosts.get(waiter.host)
            if host is None:
                host = _Host(Slots(self._config.per_host), Slots(self._batch_per_host()))
                self._hosts[waiter.host] = host
            self._queue(waiter, host, 1)
            self._grant()
            if waiter.granted.is_set():
                return
            if lane.name == INTERACTIVE and len(self._waiting[INTERACTIVE]) > MOST_WAITING:
                self._leave(waiter)
                raise Busy(f"{MOST_WAITING} fetches wait for a slot already; try again in a moment")

    def _wait(self, waiter: _Waiter, lane: Lane, began: float) -> None:
        limit_s = None if lane.wait_s is None else lane.wait_s - lane.waited_s
        while not waiter.granted.is_set():
            left_s = NOTICE_S if limit_s is None else limit_s - (self._monotonic() - began)
            if left_s > 0 and not lane.stopped():
                waiter.granted.wait(min(left_s, NOTICE_S))
                continue
            with self._lock:
                if waiter.granted.is_set():
                    return  # it came while we turned away
                self._leave(waiter)
            if left_s > 0:
                raise Cancelled("stopped while it waited for a slot")
            raise Busy("no slot came free in time; try again in a moment")

    def _leave(self, waiter: _Waiter) -> None:
        self._queue(waiter, self._hosts[waiter.host], -1)
        self._forget(waiter)
        self._grant()

    def _queue(self, waiter: _Waiter, host: _Host, step: int) -> None:
        """Puts a waiter into its lane's queue (`step` 1) or takes it out (-1)."""
        queue = self._waiting[waiter.lane]
        if step > 0:
            queue.append(waiter)
        else:
            queue.remove(waiter)
        host.waiting += step
        if waiter.lane == INTERACTIVE:
            host.interactive_waiting += step

    def _grant(self) -> None:
        for lane in (INTERACTIVE, BATCH):
            for waiter in self._waiting[lane][:]:
                host = self._hosts[waiter.host]
                if self._take_all(waiter, host):
                    self._queue(waiter, host, -1)
                    waiter.granted.set()
        for gate, held in self._inuse().items():
            self._metrics.gate_inuse.labels(gate).set(held)

    def _take_all(self, waiter: _Waiter, host: _Host) -> bool:
        """Takes host, lane and global slot in this order, or none of them."""
        wanted: tuple[Slots, ...]
        if waiter.lane == BATCH:
            if host.interactive_waiting:
                return False
            wanted = (host.all, host.batch, self._batch, self._global)
        else:
            caller = self._callers.setdefault(waiter.caller, Slots(self._config.per_caller))
            wanted = (host.all, caller, self._global)
        for count, slots in enumerate(wanted):
            if not slots.take():
                for taken in wanted[:count]:
                    taken.give()
                return False
        waiter.slots = wanted
        return True

    def _forget(self, waiter: _Waiter) -> None:
        """Drops the books of a host or caller that nobody holds or waits for."""
        host = self._hosts.get(waiter.host)
        if host is not None and not host.all.held and not host.waiting:
            del self._hosts[waiter.host]
        caller = self._callers.get(waiter.caller)
        if caller is not None and not caller.held:
            del self._callers[waiter.caller]

    def _batch_per_host(self) -> int:
        return max(1, self._config.per_host - 1)

    def _inuse(self) -> dict[str, int]:
        return {
            "host": sum(host.all.held for host in self._hosts.values()),
            "caller": sum(slots.held for slots in self._callers.values()),
            "batch": self._batch.held,
            "global": self._global.held,
        }


class Ticket:
    """One target's slots: none, or those of one host. One thread uses it; leaving it as a context gives them back."""

    def __init__(self, gate: Gate, caller: Caller, lane: Lane) -> None:
        self._gate = gate
        self._caller = caller
        self._lane = lane
        self._held: _Waiter | None = None

    def at(self, host: str) -> None:
        """Holds the slots of `host` (a canonical name) from here on; those of another host are given back first."""
        if self._held is not None and self._held.host == host:
            return
        self.free()
        self._held = self._gate.take(host, self._caller.name, self._lane)

    def free(self) -> None:
        """Gives back what is held, if anything."""
        if self._held is not None:
            held, self._held = self._held, None
            self._gate.give(held)

    def __enter__(self) -> Ticket:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.free()
