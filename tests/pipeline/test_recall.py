"""What workers have made is kept: for how long, for whom, and when not."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sift.clock import Clock
from sift.dcache import Store
from sift.errors import TimedOut
from sift.pipeline.recall import Recall
from sift.target import Caller
from tests.support.service import Service, config_of
from tests.support.site import Site, html

ALICE, BOB, VAULT = Caller("alice"), Caller("bob"), Caller("vault", restricted=True)


class Work:
    """Answers, and counts how often; `now_s` is a clock that is turned by hand."""

    def __init__(self) -> None:
        self.done = 0
        self.now_s = 1000.0

    def __call__(self) -> bytes:
        self.done += 1
        return b"made"


@pytest.fixture
def work() -> Work:
    return Work()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    found = Store.open(tmp_path / "db", cache_bytes=1 << 20)
    yield found
    found.close()


def recall_of(store: Store, work: Work, ttl_s: float = 60) -> Recall:
    return Recall(store.digest, ttl_s=ttl_s, clock=Clock(now=lambda: work.now_s))


def test_the_same_payload_is_worked_once_for_all_of_a_class(store: Store, work: Work) -> None:
    recall = recall_of(store, work)

    assert recall.answer(ALICE, b"page", work) == (b"made", False)
    assert recall.answer(BOB, b"page", work) == (b"made", True)
    assert work.done == 1


def test_another_payload_and_another_class_are_worked_anew(store: Store, work: Work) -> None:
    recall = recall_of(store, work)
    recall.answer(ALICE, b"page", work)

    assert not recall.answer(ALICE, b"page with other options", work)[1]
    assert not recall.answer(VAULT, b"page", work)[1]


@pytest.mark.parametrize(("ttl_s", "age_s", "is_known"), [(60, 59, True), (60, 61, False), (0, 0, False)])
def test_nothing_is_older_than_the_ttl(store: Store, work: Work, ttl_s: float, age_s: float, is_known: bool) -> None:
    recall = recall_of(store, work, ttl_s)
    recall.answer(ALICE, b"page", work)
    work.now_s += age_s

    assert recall.answer(ALICE, b"page", work)[1] is is_known


def test_what_was_made_of_a_new_page_is_not_looked_for_but_kept(store: Store, work: Work) -> None:
    recall = recall_of(store, work)
    recall.answer(ALICE, b"page", work, is_new=True)

    assert not recall.answer(ALICE, b"page", work, is_new=True)[1]
    assert recall.answer(ALICE, b"page", work)[1]


def test_a_failure_is_not_kept(store: Store, work: Work) -> None:
    recall = recall_of(store, work)

    def fail() -> bytes:
        raise TimedOut("too long")

    with pytest.raises(TimedOut):
        recall.answer(ALICE, b"page", fail)

    assert recall.answer(ALICE, b"page", work) == (b"made", False)


@pytest.fixture
def site() -> Iterator[Site]:
    status, headers, body = html("A page", "Its text. " * 2000)
    small = html("A small page", "Its text. " * 30)
    found = Site(
        {
            "/small": small,
            "/": (status, headers, body),
            "/secret": (status, {**headers, "Cache-Control": "no-store"}, body),
        }
    )
    yield found
    found.close()


@pytest.fixture
def service(site: Site, tmp_path: Path) -> Iterator[Service]:
    found = Service(config_of(tmp_path, {"guard": {"allow": [f"127.0.0.1:{site.port}"]}, "workers": {"count": 1}}))
    yield found
    found.close(0.5)


def test_a_second_fetch_needs_no_worker(service: Service, site: Site) -> None:
    first = service.fetch(site.url("/")).json
    service.server.parts.pool.close()

    second = service.fetch(site.url("/")).json

    assert second["content"] == first["content"]
    assert (first["cached"], second["cached"]) == (False, True)


def test_what_was_made_of_a_page_that_must_not_be_stored_is_not_stored(service: Service, site: Site) -> None:
    service.fetch(site.url("/secret"))
    assert service.server.parts.store.digest.nbytes("digest") == 0

    service.fetch(site.url("/"))
    assert service.server.parts.store.digest.nbytes("digest") > 0


def test_what_was_made_of_a_small_page_is_made_again(service: Service, site: Site) -> None:
    assert service.fetch(site.url("/small")).json["success"]

    assert service.server.parts.store.digest.nbytes("digest") == 0


def test_what_is_in_a_jobs_result_is_not_kept_twice(service: Service, site: Site) -> None:
    job_id = service.submit(site.url("/")).json["job_id"]

    assert service.wait(job_id)["status"] == "done"
    assert service.server.parts.store.digest.nbytes("digest") == 0


def test_a_question_counts_as_a_digest(service: Service, site: Site) -> None:
    for _ in range(2):
        service.fetch(site.url("/"), question="What is its text?")
    service.fetch(site.url("/"))

    counted = service.server.parts.services.metrics.cache_requests_total
    assert [counted.labels("digest", result)._value.get() for result in ("hit", "miss")] == [1, 1]
