"""A runner over a real store, with a fetch that the test holds in its hand."""

from __future__ import annotations

import io
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from sift.batch import Pauses, Runner
from sift.clock import Clock
from sift.config import BatchConfig, LogConfig
from sift.dcache import Store
from sift.logs import Log
from sift.metrics import Metrics
from sift.target import Caller, Lane, Result, Target

ANN = Caller("ann")
BOB = Caller("bob", restricted=True)
PATIENCE_S = 10.0


@dataclass
class Hand:
    """Wall and monotonic time, moved by the test alone."""

    wall: float = 1_800_000_000.0
    steady: float = 0.0

    def pass_s(self, seconds: float) -> None:
        self.wall += seconds
        self.steady += seconds

    def clock(self) -> Clock:
        return Clock(lambda: self.wall, lambda: self.steady)


@dataclass
class Site:
    """The fetch in the tests: begins, waits where a target is held, then does what was said for its URL.

    `doing` maps a URL to an exception or a function; other URLs give an envelope. `before` is the same, done before
    the target begins. It counts what runs at once.
    """

    doing: dict[str, Any] = field(default_factory=dict)
    before: dict[str, Any] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    peak: dict[str, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _running: dict[str, int] = field(default_factory=dict)
    _held: dict[str, threading.Event] = field(default_factory=dict)
    _arrived: dict[str, threading.Event] = field(default_factory=dict)

    def hold(self, url: str) -> None:
        """Whoever fetches `url` waits until `let_go`."""
        self._held[url] = threading.Event()
        self._arrived[url] = threading.Event()

    def arrived(self, url: str) -> None:
        """Wait until `url` is in flight."""
        assert self._arrived[url].wait(PATIENCE_S)

    def let_go(self, url: str) -> None:
        self._held[url].set()

    def fetch(self, caller: Caller, target: Target, lane: Lane) -> Result:
        _do(self.before.get(target.url), caller, target, lane)
        lane.begin()
        job_id = str(lane.job_id)
        with self._lock:
            self.asked.append((job_id, target.url))
            self._running[job_id] = self._running.get(job_id, 0) + 1
            self.peak[job_id] = max(self.peak.get(job_id, 0), self._running[job_id])
        try:
            return self._answer(caller, target, lane)
        finally:
            with self._lock:
                self._running[job_id] -= 1

    def _answer(self, caller: Caller, target: Target, lane: Lane) -> Result:
        if held := self._held.get(target.url):
            self._arrived[target.url].set()
            assert held.wait(PATIENCE_S)
        done = _do(self.doing.get(target.url), caller, target, lane)
        return done or Result({"success": True, "url": target.url, "content": f"page of {target.url}"})


def _do(doing: Any, caller: Caller, target: Target, lane: Lane) -> Result | None:
    if isinstance(doing, BaseException):
        raise doing
    result: Result | None = doing(caller, target, lane) if doing else None
    return result


@dataclass
class Bench:
    """Everything around one runner."""

    runner: Runner
    store: Store
    site: Site
    hand: Hand
    registry: CollectorRegistry
    log: io.StringIO
    path: Path

    def submit(self, *urls: str, caller: Caller = ANN, fresh: bool = False) -> str:
        return self.runner.submit(caller, [Target(url) for url in urls], fresh=fresh).job_id

    def ended(self, job_id: str, caller: Caller = ANN) -> dict[str, Any]:
        """The status body of the job once it has ended."""
        return self.until(job_id, lambda body: body["status"] not in ("queued", "running"), caller)

    def until(self, job_id: str, settled: Callable[[dict[str, Any]], bool], caller: Caller = ANN) -> dict[str, Any]:
        """The first status body that is `settled`."""
        ends_s = time.monotonic() + PATIENCE_S
        known: tuple[str, ...] = ()
        while True:
            answer = self.runner.reader.read(caller, job_id, known=known, wait_s=PATIENCE_S if known else 0.0)
            body: dict[str, Any] = json.loads(answer.body())
            if settled(body):
                return body
            assert time.monotonic() < ends_s, body
            known = (answer.etag,)

    def status(self, job_id: str, caller: Caller = ANN) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(self.runner.reader.read(caller, job_id).body())
        return body

    def series(self, name: str, **labels: str) -> float | None:
        return self.registry.get_sample_value(f"sift_batch_{name}", labels)


@pytest.fixture
def config() -> BatchConfig:
    return BatchConfig(ttl_s=3600.0)


@pytest.fixture
def build(tmp_path: Path, config: BatchConfig) -> Iterator[Callable[..., Bench]]:
    """Makes benches over one data directory; `start=False` leaves the runner's threads for the test to start."""
    benches: list[Bench] = []

    def make(*, start: bool = True, hand: Hand | None = None, site: Site | None = None, **changes: Any) -> Bench:
        hand, site = hand or Hand(), site or Site()
        path = tmp_path / "data" / "dcache.sqlite3"
        store = Store.open(path, cache_bytes=1 << 20)
        registry, stream = CollectorRegistry(), io.StringIO()
        runner = Runner(
            store,
            site.fetch,
            replace(config, **changes),
            clock=hand.clock(),
            metrics=Metrics(registry),
            log=Log(LogConfig(level="debug"), stream),
            pauses=Pauses(busy_s=0.01, busy_most_s=0.01, storage_s=0.02),
        )
        if start:
            runner.start()
        benches.append(Bench(runner, store, site, hand, registry, stream, path))
        return benches[-1]

    yield make
    for bench in benches:
        for held in bench.site._held.values():
            held.set()
        bench.runner.stop(PATIENCE_S)
        bench.store.close()


@pytest.fixture
def bench(build: Callable[..., Bench]) -> Bench:
    return build()
