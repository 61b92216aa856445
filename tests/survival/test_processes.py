"""Workers, threads and the fork server that die under way: who says so, and what comes back by itself."""

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.process import Process, alive, children
from tests.support.service import Service
from tests.support.site import Site
from tests.support.waiting import until

MakeService = Callable[..., Service]
dying = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")


@pytest.fixture
def service(make_service: MakeService, tmp_path: Path) -> Service:
    return make_service(tmp_path, batch={"jobs_total": 1})


@dying
def test_a_dead_batch_thread_is_named_and_the_watchdog_starves(
    service: Service, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: Any) -> None:
        raise SystemExit

    monkeypatch.setattr(type(service.server.parts.store.batch), "take_job", die)
    thread = next(thread for thread in threading.enumerate() if thread.name == "sift-batch-1")
    service.submit(site.url("/1"))
    thread.join(10)

    health = service.ask("GET", "/healthz")

    assert (health.status, health.json["troubles"]) == (503, ["thread sift-batch-1 is dead"])
    assert service.server.parts.watch.hopeless() == ["thread sift-batch-1 is dead"]
    assert service.fetch(site.url("/2")).status == 200


@dying
def test_a_dead_collector_is_named(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(*_: Any, **__: Any) -> None:
        raise SystemExit

    monkeypatch.setattr(type(service.server.parts.store.batch), "sweep", die)
    collector = next(t for t in threading.enumerate() if t.name == "sift-collector")
    service.server.parts.runner.configure(service.config.batch)
    collector.join(10)

    assert service.ask("GET", "/healthz").json["troubles"] == ["thread sift-collector is dead"]


def test_a_loop_of_connections_that_is_stuck_starves_the_watchdog(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = threading.Event()
    parts = service.server.parts
    monkeypatch.setattr("sift.server.LOOP_STUCK_S", 1.5)
    assert parts.watch.hopeless() == []

    parts.http._server_trigger().pull_trigger(lambda: free.wait(10))
    while not (troubles := parts.watch.hopeless()):
        pass
    free.set()

    assert troubles == ["the loop of connections is stuck"]
    assert service.ask("GET", "/healthz").status == 200
    assert parts.watch.hopeless() == []


def test_a_store_that_is_silent_is_said_within_seconds(service: Service) -> None:
    with service.server.parts.store._database.alone():
        until(lambda: service.ask("GET", "/healthz").status == 503)
        health = service.ask("GET", "/healthz")

    assert health.json["troubles"] == ["the store has been silent for 2 s"]
    assert service.ask("GET", "/healthz").status == 200


@pytest.fixture
def process(tmp_path: Path, site: Site) -> Any:
    found = Process(tmp_path, f"[workers]\ncount = 2\n[guard]\nallow = ['127.0.0.1:{site.port}']\n")
    yield found.wait_started()
    found.close()


def workers(process: Process) -> list[int]:
    return [pid for child in children(process.process.pid) for pid in children(child)]


def test_killed_workers_and_their_fork_server_are_replaced(process: Process, site: Site) -> None:
    assert process.ask("POST", "/v1/fetch", {"url": site.url("/1")})[0] == 200
    for pid in workers(process):
        os.kill(pid, signal.SIGKILL)
    assert process.ask("POST", "/v1/fetch", {"url": site.url("/2")})[0] == 200

    until(lambda: len(workers(process)) == 2)
    for pid in [*children(process.process.pid), *workers(process)]:
        os.kill(pid, signal.SIGKILL)
    assert process.ask("POST", "/v1/fetch", {"url": site.url("/3")})[0] == 200

    assert process.ask("GET", "/healthz")[0] == 200
    until(lambda: len(workers(process)) == 2)
    assert [Path(f"/proc/{pid}/environ").read_bytes() for pid in workers(process)] == [b"", b""]
    below = process.children()
    assert process.end() == 0
    assert alive(below) == []


def test_workers_that_cannot_start_are_not_tried_without_a_pause(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = service.server.parts.pool
    monkeypatch.setattr(pool, "_preload", ("no_such_module",))
    restarts = pool._metrics.worker_restarts_total.labels("death")
    before = restarts._value.get()

    for pid in [worker.process.pid for worker in pool._workers]:
        os.kill(pid, signal.SIGKILL)
    threading.Event().wait(1.7)

    assert 1 <= restarts._value.get() - before <= 3
    assert pool.unready_s() > 1
