"""The counters agree with what happened: every outcome, in both lanes, and every way a job can go."""

import threading
from collections import Counter
from collections.abc import Callable

import pytest

from tests.support.series import Series, change, read, value
from tests.support.service import Service
from tests.support.world import CASES, Case, World

MakeService = Callable[..., Service]
FOLDED = ("unreachable", "invalid", "internal")


def shown(service: Service) -> Series:
    answer = service.ask("GET", "/metrics", caller=None)
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return read(answer.body)


def targets(world: World, cases: tuple[Case, ...] = CASES) -> list[dict[str, object]]:
    return [{"url": world.url(case.label, f"s{number}"), **case.options} for number, case in enumerate(cases)]


def counted(words: list[str]) -> dict[str, float]:
    return {word: float(count) for word, count in Counter(words).items()}


def test_every_outcome_of_an_interactive_fetch_is_counted_once(make_service: MakeService, world: World) -> None:
    service = make_service()
    before = shown(service)

    answers = [service.ask("POST", "/v1/fetch", target) for target in targets(world)]
    after = shown(service)

    expected = counted([case.outcome for case in CASES])
    assert counted([answer.json.get("reason", "ok") for answer in answers]) == expected
    assert change(before, after, "sift_fetches_total", "outcome") == expected
    assert value(after, "sift_fetch_seconds_count") == len(CASES)
    codes = counted([str(answer.status) for answer in answers])
    fetched = {key: count for key, count in after.items() if ("endpoint", "/v1/fetch") in key[1]}
    assert change({}, fetched, "sift_requests_total", "code") == codes
    assert value(after, "sift_request_seconds_count", endpoint="/v1/fetch") == len(CASES)
    assert change(before, after, "sift_batch_targets_total", "outcome") == {}


def test_every_outcome_of_a_batch_is_counted_once_and_folded(make_service: MakeService, world: World) -> None:
    service = make_service()
    before = shown(service)

    submitted = service.ask("POST", "/v1/batch", {"targets": targets(world)}).json
    job = service.wait(submitted["job_id"])
    after = shown(service)

    words = [case.outcome for case in CASES]
    assert [target.get("reason", "ok") for target in job["targets"]] == words
    assert change(before, after, "sift_fetches_total", "outcome") == counted(words)
    folded = ["other" if word in FOLDED else word for word in words]
    assert change(before, after, "sift_batch_targets_total", "outcome") == counted(folded)
    assert change(before, after, "sift_batch_jobs_total", "outcome") == {"created": 1, "partial": 1}
    assert value(after, "sift_batch_target_seconds_count") == len(CASES)
    assert value(after, "sift_batch_job_seconds_count") == 1
    assert value(after, "sift_batch_result_bytes_count") == words.count("ok")
    assert value(after, "sift_batch_result_bytes_sum") > 0
    assert value(after, "sift_batch_queue_depth") == value(after, "sift_batch_targets_inflight") == 0
    assert value(after, "sift_batch_oldest_live_seconds") == 0


def test_jobs_are_counted_by_what_became_of_them(make_service: MakeService, world: World) -> None:
    service = make_service()
    before = shown(service)
    fine, gone = world.url("ok", "a"), world.url("gone", "a")

    for urls in ((fine,), (fine,), (gone,), (fine, gone)):
        service.wait(service.submit(*urls).json["job_id"])
    after = shown(service)

    expected = {"created": 3, "reused": 1, "done": 1, "failed": 1, "partial": 1}
    assert change(before, after, "sift_batch_jobs_total", "outcome") == expected
    assert value(after, "sift_batch_job_seconds_count") == 3


def test_a_cancelled_jobs_targets_that_never_began_are_counted_as_cancel(
    make_service: MakeService, world: World
) -> None:
    service = make_service(batch={"jobs_total": 1, "jobs_per_caller": 1})
    before = shown(service)

    job_id = service.submit(*[world.url("hang", f"h{number}") for number in range(3)]).json["job_id"]
    while value(running := shown(service), "sift_batch_targets_inflight") == 0:
        pass
    service.ask("DELETE", f"/v1/batch/{job_id}")
    while value(after := shown(service), "sift_batch_targets_inflight") == 1:
        pass

    assert value(running, "sift_batch_oldest_live_seconds") > 0
    assert value(running, "sift_gate_inuse", gate="batch") == value(running, "sift_gate_inuse", gate="global") == 1
    assert change(before, after, "sift_batch_targets_total", "outcome") == {"cancel": 2, "timeout": 1}
    assert change(before, after, "sift_batch_jobs_total", "outcome") == {"created": 1, "cancelled": 1}
    assert value(after, "sift_batch_target_seconds_count") == 1
    assert value(after, "sift_batch_job_seconds_count") == 1


def test_refused_submits_are_counted_by_their_cap(make_service: MakeService, world: World) -> None:
    service = make_service(batch={"jobs_total": 1, "targets_per_job": 2})
    before = shown(service)

    service.submit(world.url("hang", "a"))
    service.submit(world.url("hang", "b"))
    service.submit(world.url("hang", "c"), caller="bob")
    service.submit(*[world.url("ok", "d")] * 3)
    after = shown(service)

    assert change(before, after, "sift_batch_refused_total", "cap") == {"caller": 1, "jobs": 1, "targets": 1}
    assert change(before, after, "sift_batch_jobs_total", "outcome") == {"created": 1}


def test_busy_is_counted_and_the_wait_is_not_fetching(make_service: MakeService, world: World) -> None:
    service = make_service(gate={"per_host": 1, "wait": "100ms"})
    before = shown(service)
    url = world.url("hang", "one")
    first = threading.Thread(target=service.fetch, args=(url,))
    first.start()
    while value(shown(service), "sift_gate_inuse", gate="host") == 0:
        pass

    assert service.fetch(url).json["reason"] == "busy"
    first.join()
    after = shown(service)

    assert change(before, after, "sift_fetches_total", "outcome") == {"busy": 1, "timeout": 1}
    assert value(after, "sift_gate_wait_seconds_count", lane="interactive") == 2
    assert value(after, "sift_gate_wait_seconds_sum", lane="interactive") >= 0.1
    assert value(after, "sift_fetch_seconds_sum") < 1.6


def test_the_caches_count_hits_misses_and_bytes(make_service: MakeService, world: World) -> None:
    service = make_service()
    before = shown(service)

    service.fetch(world.url("ok", "a"))
    service.fetch(world.url("ok", "a"))
    service.fetch(world.url("ok", "a"), max_age=0)
    after = shown(service)

    assert change(before, after, "sift_cache_requests_total", "result") == {"miss": 1, "hit": 1, "stale": 1}
    assert value(after, "sift_cache_bytes", cache="content") > 1000


def test_bytes_of_stored_jobs_are_shown_at_once(make_service: MakeService, world: World) -> None:
    service = make_service()

    service.wait(service.submit(world.url("ok", "a")).json["job_id"])
    series = shown(service)

    assert value(series, "sift_batch_bytes") > 1024 + value(series, "sift_batch_result_bytes_sum")
    assert value(series, "sift_disk_free_bytes") > 0


@pytest.mark.parametrize(
    ("method", "path", "endpoint", "code"),
    [
        ("GET", "/v1/fetch", "/v1/fetch", "405"),
        ("PUT", "/v1/batch/j_1", "/v1/batch/{id}", "405"),
        ("GET", "/v1/batch/j_1", "/v1/batch/{id}", "404"),
        ("GET", "/nowhere", "other", "404"),
        ("GET", "/healthz", "/healthz", "200"),
        ("GET", "/v1/batch", "/v1/batch", "200"),
    ],
)
def test_an_endpoint_is_the_route(service: Service, method: str, path: str, endpoint: str, code: str) -> None:
    before = shown(service)

    service.ask(method, path)

    grown = {
        tuple(sorted(dict(labels).values()))
        for (name, labels), now in shown(service).items()
        if name == "sift_requests_total"
        and now > before.get((name, labels), 0.0)
        and dict(labels)["endpoint"] != "/metrics"
    }
    assert grown == {tuple(sorted((endpoint, code)))}


def test_a_head_that_no_route_ever_saw_is_counted(service: Service) -> None:
    before = shown(service)

    answer = service.ask("GET", "/healthz", headers={"X-Long": "y" * 70_000})

    assert answer.status == 431
    assert change(before, shown(service), "sift_requests_total", "code") == {"431": 1, "200": 1}


@pytest.fixture
def service(make_service: MakeService) -> Service:
    return make_service(workers={"count": 1})
