"""The typed client's methods: what each sends, what each gives."""

from __future__ import annotations

import socket
import subprocess
import sys
from typing import Any

import pytest

from sift.client import NoServer, NotFound, Sift
from tests.support.answers import TOKEN, done, envelope, error, failed, job, waiting
from tests.support.scripted import Said, Scripted


def test_a_fetch_sends_the_options_that_were_given_and_no_others(server: Scripted, sift_client: Sift) -> None:
    server.says(Said(200, envelope()))

    page = sift_client.fetch("https://example.com/", mode="links", max_age=0)

    assert page["title"] == "Example Domain"
    assert server.asked[0].json == {"url": "https://example.com/", "mode": "links", "max_age": 0}
    assert server.asked[0].path == "/v1/fetch"
    assert server.asked[0].headers["authorization"] == f"Bearer {TOKEN}"


def test_a_submit_takes_urls_and_targets_side_by_side(server: Scripted, sift_client: Sift) -> None:
    server.says(Said(202, {"success": True, "job_id": "j_1", "status": "queued", "targets": 2, "reused": False}))

    made = sift_client.submit(["https://a.example/", {"url": "https://b.example/", "jq": "."}], fresh=True)

    assert made["job_id"] == "j_1"
    assert server.asked[0].json == {
        "targets": [{"url": "https://a.example/"}, {"url": "https://b.example/", "jq": "."}],
        "fresh": True,
    }


@pytest.mark.parametrize("one", ["https://a.example/", b"https://a.example/", {"url": "https://a.example/"}])
def test_a_single_target_is_no_list_of_them(server: Scripted, sift_client: Sift, one: Any) -> None:
    with pytest.raises(TypeError, match="put the one into a list"):
        sift_client.submit(one)

    assert server.asked == []


def test_a_status_asks_for_as_much_as_is_wanted(server: Scripted, sift_client: Sift) -> None:
    server.says(Said(200, job()))

    sift_client.status("j_1")
    sift_client.status("j_1", results=False, since=3)

    assert [asked.path for asked in server.asked] == ["/v1/batch/j_1", "/v1/batch/j_1?results=none&since=3"]


def test_an_id_stays_one_segment_whatever_it_holds(server: Scripted, sift_client: Sift) -> None:
    server.says(Said(404, error("not_found")))

    with pytest.raises(NotFound):
        sift_client.status("../../healthz?a#b\r\nX: y")

    assert server.asked[0].path == "/v1/batch/%2E%2E%2F%2E%2E%2Fhealthz%3Fa%23b%0D%0AX%3A%20y"


def test_results_are_the_targets_that_have_ended(server: Scripted, sift_client: Sift) -> None:
    server.says(Said(200, job("running", done(), failed(), waiting("running"), waiting())))

    entries = list(sift_client.results("j_1"))

    assert [entry["status"] for entry in entries] == ["done", "failed"]


def test_a_cancel_and_a_list_answer_what_the_server_says(server: Scripted, sift_client: Sift) -> None:
    server.says(Said(200, {"success": True, "status": "cancelled"}), Said(200, {"jobs": [{"job_id": "j_1"}]}))

    assert sift_client.cancel("j_1")["status"] == "cancelled"
    assert [job["job_id"] for job in sift_client.list()] == ["j_1"]
    assert [asked.method for asked in server.asked] == ["DELETE", "GET"]


def test_a_wait_is_one_look_and_then_long_polls_by_etag(server: Scripted, sift_client: Sift) -> None:
    server.says(
        Said(200, job("running", waiting("running")), {"ETag": 'W/"1"'}),
        Said(200, job("running", done(), waiting("running")), {"ETag": 'W/"2"'}),
        Said(304, headers={"ETag": 'W/"2"', "Retry-After": "2"}),
        Said(200, job(), {"ETag": 'W/"3"'}),
    )
    seen: list[int] = []

    ended = sift_client.wait("j_1", progress=lambda job: seen.append(job["targets_done"]))

    assert ended["status"] == "done"
    assert seen == [0, 1, 1]
    assert [asked.path for asked in server.asked] == [
        "/v1/batch/j_1?results=none",
        *["/v1/batch/j_1?results=none&wait=60"] * 3,
        "/v1/batch/j_1",
    ]
    tags = [asked.headers.get("if-none-match") for asked in server.asked]
    assert tags == [None, 'W/"1"', 'W/"2"', 'W/"2"', None]


def test_a_long_poll_that_was_not_granted_is_asked_again_when_the_server_says(server: Scripted) -> None:
    pauses: list[float] = []
    server.says(
        Said(200, job("running"), {"ETag": 'W/"1"'}),
        Said(304, headers={"ETag": 'W/"1"', "Retry-After": "7"}),
        Said(200, job(), {"ETag": 'W/"2"'}),
    )

    Sift(server.url, TOKEN, environ={}, sleep=pauses.append).wait("j_1")

    assert pauses == [7.0]


def test_a_wait_that_runs_out_gives_the_job_as_it_stands(server: Scripted, sift_client: Sift) -> None:
    server.says(Said(200, job("running", done(), waiting("running"))))

    assert sift_client.wait("j_1", timeout_s=0)["status"] == "running"


def test_a_wait_bears_a_server_that_stops_and_comes_back(server: Scripted) -> None:
    pauses: list[float] = []
    server.says(
        Said(200, job("running"), {"ETag": 'W/"1"'}),
        Said(503, error("stopping", retry_after_s=5)),
        Said(200, job("failed", failed(), error="restart"), {"ETag": 'W/"2"'}),
    )

    ended = Sift(server.url, TOKEN, environ={}, sleep=pauses.append).wait("j_1")

    assert ended["error"] == "restart"
    assert pauses == [5]


def test_a_wait_tells_when_a_server_goes_away_and_once_each_time(server: Scripted, sift_client: Sift) -> None:
    stopping, running = Said(503, error("stopping")), Said(200, job("running"), {"ETag": 'W/"1"'})
    server.says(running, stopping, stopping, running, stopping, Said(200, job()))
    told: list[str] = []

    sift_client.wait("j_1", away=lambda error: told.append(type(error).__name__))

    assert told == ["Stopping", "Stopping"]


def test_a_cancelled_job_has_ended_once_nothing_of_it_is_in_flight(server: Scripted, sift_client: Sift) -> None:
    server.says(
        Said(200, job("cancelled", waiting("running"), waiting()), {"ETag": 'W/"1"'}),
        Said(200, job("cancelled", done(), waiting())),
    )

    assert sift_client.wait("j_1")["counts"] == {"pending": 1, "running": 0, "done": 1, "failed": 0}


def test_a_wait_for_a_server_that_never_answered_ends_at_once() -> None:
    with pytest.raises(NoServer, match="connection refused"):
        Sift(f"http://127.0.0.1:{_closed_port()}", TOKEN, environ={}, sleep=_never_sleep).wait("j_1")


def _never_sleep(_: float) -> None:
    raise AssertionError("slept")


def _closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


def test_the_client_imports_nothing_heavy() -> None:
    code = "import sys, sift.client; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    heavy = {"requests", "flask", "lxml", "urllib3", "http.client", "email", "ssl", "click", "sift.config"}
    assert not heavy & set(loaded)
