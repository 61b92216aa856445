"""`fetch_target` itself: what passes it, and what it counts."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sift.errors import Cancelled, StorageFailed
from sift.target import BATCH, Caller, Lane, Target
from tests.support.service import Service, config_of
from tests.support.site import Site, html

ALICE = Caller("alice")


@pytest.fixture
def site() -> Iterator[Site]:
    found = Site({"/": html("A page", "Its text. " * 30)})
    yield found
    found.close()


@pytest.fixture
def service(site: Site, tmp_path: Path) -> Iterator[Service]:
    found = Service(config_of(tmp_path, {"guard": {"allow": [f"127.0.0.1:{site.port}"]}, "workers": {"count": 1}}))
    yield found
    found.close(0.5)


def counted(service: Service) -> float:
    family = service.server.parts.services.metrics.fetches_total
    return sum(sample.value for metric in family.collect() for sample in metric.samples)


@pytest.mark.parametrize("cached", [False, True])
def test_a_target_that_cannot_begin_now_is_neither_dialled_nor_counted(
    service: Service, site: Site, cached: bool
) -> None:
    if cached:
        service.fetch(site.url("/"))
    seen, before = len(site.seen), counted(service)

    def begin() -> None:
        raise StorageFailed("the disk is full")

    with pytest.raises(StorageFailed):
        service.server.parts.pipeline.fetch_target(ALICE, Target(site.url("/")), Lane(BATCH, None, begin))

    assert (len(site.seen), counted(service)) == (seen, before)
    assert service.server.parts.gate.inuse()["global"] == 0


def test_a_cancelled_target_is_not_dialled(service: Service, site: Site) -> None:
    def begin() -> None:
        raise Cancelled("stopped before it began")

    with pytest.raises(Cancelled):
        service.server.parts.pipeline.fetch_target(ALICE, Target(site.url("/")), Lane(BATCH, None, begin))

    assert not site.seen


def test_every_door_gives_the_same_envelope(service: Service, site: Site) -> None:
    one = service.fetch(site.url("/")).json
    job_id = service.submit(site.url("/")).json["job_id"]
    other = service.wait(job_id)["targets"][0]["result"]

    differing = {"elapsed_ms", "cached", "fetched_at"}
    assert {k: v for k, v in one.items() if k not in differing} == {
        k: v for k, v in other.items() if k not in differing
    }
