import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.held import Held
from tests.support.service import Service
from tests.support.site import Site


@pytest.fixture
def held(site: Site) -> Held:
    page = Held()
    site.pages["/held"] = page
    return page


def urls(site: Site, count: int) -> list[str]:
    return [site.url(f"/page/{number}") for number in range(count)]


def test_a_submit_is_202_with_where_and_when_to_look(service: Service, site: Site) -> None:
    reply = service.submit(*urls(site, 3))

    assert reply.status == 202
    assert reply.json | {"job_id": "", "status": ""} == {
        "success": True,
        "job_id": "",
        "status": "",
        "targets": 3,
        "reused": False,
    }
    assert reply.headers["location"] == f"/v1/batch/{reply.json['job_id']}"
    assert int(reply.headers["retry-after"]) >= 1


def test_a_job_ends_done_in_order_one_request_at_a_time(service: Service, site: Site) -> None:
    job = service.wait(service.submit(*urls(site, 6)).json["job_id"])

    assert job["status"] == "done"
    assert [target["idx"] for target in job["targets"]] == list(range(6))
    for number, target in enumerate(job["targets"]):
        assert target["result"]["title"] == f"Page {number}"
        assert f"Number {number}." in target["result"]["content"]
    assert site.seen == [f"/page/{number}" for number in range(6)]
    assert site.most_at_once == 1


def test_the_same_list_again_is_the_same_job(service: Service, site: Site) -> None:
    first = service.submit(*urls(site, 2)).json
    service.wait(first["job_id"])
    second = service.submit(*urls(site, 2)).json

    assert (second["job_id"], second["reused"]) == (first["job_id"], True)
    assert len(site.seen) == 2


def test_fresh_never_reuses(service: Service, site: Site) -> None:
    first = service.submit(*urls(site, 1)).json
    service.wait(first["job_id"])

    assert service.submit(*urls(site, 1), fresh=True).json["job_id"] != first["job_id"]


def test_a_reused_job_with_failed_targets_hints_fresh(service: Service, site: Site) -> None:
    first = service.submit(site.url("/gone")).json
    assert service.wait(first["job_id"])["status"] == "failed"

    assert service.submit(site.url("/gone")).json["hint"] == "fresh"


def test_ten_identical_submits_at_one_moment_make_one_job(service: Service, site: Site) -> None:
    with ThreadPoolExecutor(10) as threads:
        replies = [future.result() for future in [threads.submit(service.submit, *urls(site, 3)) for _ in range(10)]]

    assert {reply.status for reply in replies} == {202}
    assert len({reply.json["job_id"] for reply in replies}) == 1
    assert sorted(reply.json["reused"] for reply in replies) == [False] + [True] * 9
    service.wait(replies[0].json["job_id"])
    assert len(site.seen) == 3


def test_a_port_that_the_guard_refuses_is_422_at_submit_and_named(service: Service, site: Site) -> None:
    reply = service.submit(site.url("/page/0"), "http://example.com:8080/", "ftp://example.com/")

    assert (reply.status, reply.json["reason"]) == (422, "refused")
    assert [place["at"] for place in reply.json["errors"]] == ["targets[1].url", "targets[2].url"]
    assert reply.json["error"].startswith("targets[1].url: blocked: port 8080")
    assert service.ask("GET", "/v1/batch").json == {"jobs": []}


def test_thirty_three_targets_are_422(service: Service, site: Site) -> None:
    reply = service.submit(*urls(site, 33))

    assert (reply.status, reply.json["reason"]) == (422, "too_many_targets")
    assert reply.json["error"] == "targets: 33 given, at most 32 a job; split the list"


def test_wrong_fields_come_before_the_count(service: Service) -> None:
    targets = [{"url": "http://example.com/", "mode": "claen"}] * 33

    assert service.ask("POST", "/v1/batch", {"targets": targets}).status == 400


def test_a_private_address_is_one_failed_target_of_a_partial_job(service: Service, site: Site) -> None:
    job = service.wait(service.submit(site.url("/page/0"), "http://10.0.0.1/").json["job_id"])

    assert job["status"] == "partial"
    assert job["targets"][1] == {
        "idx": 1,
        "url": "http://10.0.0.1/",
        "status": "failed",
        "error": "blocked: private address 10.0.0.1",
        "reason": "blocked",
        "hint": "browser",
    }
    assert job["counts"] == {"pending": 0, "running": 0, "done": 1, "failed": 1}


def test_another_callers_job_is_404_not_403(service: Service, site: Site) -> None:
    job_id = service.submit(*urls(site, 1)).json["job_id"]
    same = {"X-Request-Id": "one"}

    others = service.ask("GET", f"/v1/batch/{job_id}", caller="bob", headers=same)
    unknown = service.ask("GET", "/v1/batch/j_00000000000000000000000000000000", caller="bob", headers=same)
    malformed = service.ask("GET", "/v1/batch/..%2f%00%20x'--", caller="bob", headers=same)

    assert (others.status, others.body) == (404, unknown.body)
    assert others.body == malformed.body
    assert service.ask("DELETE", f"/v1/batch/{job_id}", caller="bob").status == 404
    assert service.ask("GET", "/v1/batch", caller="bob").json == {"jobs": []}


def test_a_cancel_lets_the_target_in_flight_finish_and_starts_no_other(
    service: Service, site: Site, held: Held
) -> None:
    job_id = service.submit(site.url("/held"), *urls(site, 2)).json["job_id"]
    assert held.asked.wait(10)

    reply = service.ask("DELETE", f"/v1/batch/{job_id}")
    again = service.submit(*urls(site, 1))
    held.let_go()

    assert reply.json == {"success": True, "status": "cancelled"}
    assert again.status == 202
    assert service.wait(again.json["job_id"])["status"] == "done"
    while (job := service.ask("GET", f"/v1/batch/{job_id}").json)["counts"]["running"]:
        pass
    assert job["status"] == "cancelled"
    assert [target["status"] for target in job["targets"]] == ["done", "pending", "pending"]
    assert site.seen == ["/held", "/page/0"]


def test_a_second_live_job_of_a_caller_is_429_and_names_the_first(service: Service, site: Site, held: Held) -> None:
    job_id = service.submit(site.url("/held")).json["job_id"]

    reply = service.submit(*urls(site, 1))
    held.let_go()

    assert (reply.status, reply.json["reason"], reply.json["job_id"]) == (429, "caller_busy", job_id)
    assert reply.json["retry_after_s"] == int(reply.headers["retry-after"]) >= 1


def test_jobs_at_their_cap_are_429(make_service: Callable[..., Service], site: Site, held: Held) -> None:
    service = make_service(batch={"jobs_total": 1})
    service.submit(site.url("/held"))

    reply = service.submit(*urls(site, 1), caller="bob")
    held.let_go()

    assert (reply.status, reply.json["reason"]) == (429, "jobs_busy")


def test_a_long_poll_answers_when_the_job_ends(service: Service, site: Site, held: Held) -> None:
    job_id = service.submit(site.url("/held")).json["job_id"]
    assert held.asked.wait(10)
    with ThreadPoolExecutor(1) as threads:
        poll = threads.submit(service.ask, "GET", f"/v1/batch/{job_id}?wait=30")
        held.let_go()

        assert poll.result(20).json["status"] == "done"


def test_an_unchanged_job_is_304_with_the_same_tag(service: Service, site: Site) -> None:
    job_id = service.submit(*urls(site, 1)).json["job_id"]
    service.wait(job_id)
    first = service.ask("GET", f"/v1/batch/{job_id}")

    second = service.ask("GET", f"/v1/batch/{job_id}", headers={"If-None-Match": f'"x", {first.headers["etag"]}'})

    assert first.headers["etag"].startswith('W/"')
    assert (second.status, second.body, second.headers["etag"]) == (304, b"", first.headers["etag"])


@pytest.mark.parametrize("known", ["its own", "*"])
def test_a_long_poll_of_a_job_that_has_ended_answers_at_once(service: Service, site: Site, known: str) -> None:
    job_id = service.submit(*urls(site, 1)).json["job_id"]
    service.wait(job_id)
    tag = service.ask("GET", f"/v1/batch/{job_id}").headers["etag"]
    began = time.monotonic()

    reply = service.ask("GET", f"/v1/batch/{job_id}?wait=20", headers={"If-None-Match": tag if known != "*" else "*"})

    assert reply.status == 304
    assert time.monotonic() - began < 5


def test_results_can_be_left_out_or_begin_later(service: Service, site: Site) -> None:
    job_id = service.submit(*urls(site, 3), site.url("/gone")).json["job_id"]
    service.wait(job_id)

    none = service.ask("GET", f"/v1/batch/{job_id}?results=none").json["targets"]
    since = service.ask("GET", f"/v1/batch/{job_id}?since=2").json["targets"]

    assert ["result" in target for target in none] == [False] * 4
    assert ["result" in target for target in since] == [False, False, True, False]
    assert none[3]["reason"] == since[3]["reason"] == "upstream_4xx"


@pytest.mark.parametrize(
    ("query", "at"),
    [
        ("wait=61", "wait"),
        ("wait=x", "wait"),
        ("wait=-1", "wait"),
        ("since=-1", "since"),
        ("results=all", "results"),
        ("result=none", "result"),
        ("wait=1&wait=2", "wait"),
    ],
)
def test_a_bad_query_value_is_400_and_named(service: Service, site: Site, query: str, at: str) -> None:
    job_id = service.submit(*urls(site, 1)).json["job_id"]

    reply = service.ask("GET", f"/v1/batch/{job_id}?{query}")

    assert (reply.status, reply.json["errors"][0]["at"]) == (400, at)


def test_the_list_shows_ones_own_jobs_newest_first_without_targets(service: Service, site: Site) -> None:
    first = service.submit(*urls(site, 1)).json["job_id"]
    service.wait(first)
    second = service.submit(*urls(site, 2)).json["job_id"]
    service.wait(second)

    jobs = service.ask("GET", "/v1/batch").json["jobs"]

    assert [job["job_id"] for job in jobs] == [second, first]
    assert "targets" not in jobs[0]


def test_eight_callers_jobs_run_beside_each_other(make_service: Callable[..., Service], site: Site, held: Held) -> None:
    service = make_service(batch={"jobs_per_caller": 8}, gate={"per_host": 9, "global": 12, "reserve": 2})
    for number in range(8):
        site.pages[f"/held/{number}"] = held
        assert service.submit(site.url(f"/held/{number}")).status == 202
    while site.at_once < 8:
        threading.Event().wait(0.01)

    assert service.submit(*urls(site, 1), caller="bob").json["reason"] == "jobs_busy"
    held.let_go()
    ids = [job["job_id"] for job in service.ask("GET", "/v1/batch").json["jobs"]]
    assert [service.wait(job_id)["status"] for job_id in ids] == ["done"] * 8


def test_batches_make_way_for_who_waits_for_an_answer_but_not_for_who_waits_for_a_batch(
    service: Service, site: Site, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered: list[None] = []
    monkeypatch.setattr(service.server.parts.runner.pace, "answered", lambda: answered.append(None))

    def counted(method: str, path: str, body: object = None) -> int:
        before = len(answered)
        service.ask(method, path, body)
        return len(answered) - before

    live = service.submit(site.url("/held")).json["job_id"]
    assert held.asked.wait(10)
    assert counted("GET", f"/v1/batch/{live}") == 0
    assert counted("GET", f"/v1/batch/{live}?wait=0.01") == 0
    assert counted("GET", "/healthz") == 1
    assert counted("POST", "/v1/fetch", {"url": site.url("/page/1")}) == 1
    held.let_go()
    service.wait(live)
    assert counted("GET", f"/v1/batch/{live}?wait=5") == 0
    assert counted("GET", f"/v1/batch/{live}") == 1


def test_a_batch_goes_on_beside_a_fetch_that_takes_long(service: Service, site: Site, held: Held) -> None:
    with ThreadPoolExecutor(1) as threads:
        fetch = threads.submit(service.fetch, site.url("/held"))
        assert held.asked.wait(10)

        job = service.wait(service.submit(*urls(site, 4)).json["job_id"])

        assert job["status"] == "done"
        assert not fetch.done()
        held.let_go()
        assert fetch.result(10)
