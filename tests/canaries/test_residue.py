"""What was asked for leaves the disk with its job: no byte of it in the database or its WAL."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sift.clock import Clock
from tests.support.canaries import targets
from tests.support.service import Service, config_of
from tests.support.world import CONFIG, World

SECRET = b"c4n4ry"
DAY_S = 86_400


class Turned:
    """A clock that is turned on by hand; both readings move together."""

    def __init__(self) -> None:
        self.ahead_s = 0.0

    def now(self) -> float:
        return time.time() + self.ahead_s

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead_s


@pytest.fixture
def clock() -> Turned:
    return Turned()


@pytest.fixture
def service(tmp_path: Path, world: World, clock: Turned) -> Iterator[Service]:
    # Without a cache: a page that others may be served from is kept for its own time, under a hash.
    tables = {"workers": {"count": 1}, "cache": {"ttl": 0, "max_bytes": 0}, "batch": {"jobs_per_caller": 8}}
    found = Service(
        config_of(tmp_path, CONFIG | tables),
        resolve=world.resolve,
        dial=world.dial,
        clock=Clock(clock.now, clock.monotonic),
    )
    yield found
    found.close(0.2)


def on_disk(service: Service) -> bytes:
    directory = Path(service.config.server.data_dir)
    return b"".join(path.read_bytes() for path in sorted(directory.iterdir()) if path.is_file())


def drain(service: Service, world: World, caller: str) -> None:
    body = {"targets": targets(world, SECRET.decode())}
    service.wait(service.ask("POST", "/v1/batch", body, caller=caller).json["job_id"], caller=caller)


def test_an_expired_jobs_bytes_leave_the_disk(service: Service, world: World, clock: Turned) -> None:
    for caller in ("alice", "vault"):
        drain(service, world, caller)
    assert SECRET in on_disk(service)

    clock.ahead_s = 1.01 * DAY_S
    service.server.parts.runner.collect()

    assert SECRET not in on_disk(service)


def test_an_evicted_jobs_bytes_leave_the_disk(tmp_path: Path, world: World, clock: Turned) -> None:
    tables = {"workers": {"count": 1}, "cache": {"ttl": 0, "max_bytes": 0}, "batch": {"max_bytes": 0}}
    inject = {"resolve": world.resolve, "dial": world.dial, "clock": Clock(clock.now, clock.monotonic)}
    service = Service(config_of(tmp_path, CONFIG | tables), **inject)
    body = {"targets": targets(world, SECRET.decode())}
    service.ask("POST", "/v1/batch", body)
    while b'sift_batch_evictions_total{cause="bytes"} 1.0' not in service.ask("GET", "/metrics").body:
        pass

    clock.ahead_s = 60
    service.server.parts.runner.collect()

    assert SECRET not in on_disk(service)
    service.close(0.2)


def test_an_interactive_fetch_leaves_no_byte_of_what_was_asked(service: Service, world: World) -> None:
    for target in targets(world, SECRET.decode()):
        service.ask("POST", "/v1/fetch", target)

    assert SECRET not in on_disk(service)


def test_a_cached_page_is_kept_under_a_hash(tmp_path: Path, world: World) -> None:
    service = Service(config_of(tmp_path, CONFIG | {"workers": {"count": 1}}), resolve=world.resolve, dial=world.dial)
    url = world.url("plain", "c4n4ry")

    service.fetch(url, question="what of c4n4ry?")
    assert service.fetch(url, grep="c4n4ry").json["cached"] is True

    assert b"Plain and simple" in on_disk(service)
    assert SECRET not in on_disk(service)
    service.close(0.2)
