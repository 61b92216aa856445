"""What the tools give and what they say where something is wrong, without the protocol."""

import json
from typing import Any

import pytest

from sift.cli.mcp.calls import Answer, Calls, ToolFailed
from sift.cli.mcp.tools import CANCEL, FETCH, OPTIONS, STATUS, SUBMIT, TOOLS
from sift.client import Sift
from sift.target import MODES
from tests.support.held import Held
from tests.support.service import Service
from tests.support.site import Site


def call(calls: Calls, name: str, **arguments: Any) -> Answer:
    return calls.call(name, arguments, lambda job: None)


def test_a_fetched_page_is_text_and_object(calls: Calls, site: Site) -> None:
    answer = call(calls, FETCH, url=site.url("/page/1"))

    assert answer.text.startswith(f"# Page 1\n{site.url('/page/1')} (200, text/html, about ")
    assert "page number 1" in answer.text
    assert answer.structured["title"] == "Page 1"


def test_a_batch_is_submitted_and_collected(calls: Calls, site: Site) -> None:
    targets = [site.url("/page/1"), {"url": site.url("/page/2"), "mode": "links"}, "http://10.0.0.1/"]

    made = call(calls, SUBMIT, targets=targets)
    answer = call(calls, STATUS, job_id=made.structured["job_id"], wait_s=50)

    assert made.text.startswith(f"Job {made.structured['job_id']} is queued: 3 targets.")
    assert answer.structured["status"] == "partial"
    assert "3 of 3 finished, 1 of them failed." in answer.text
    assert "page number 1" in answer.text
    assert "blocked: private address 10.0.0.1. Sift does not go there." in answer.text


def test_contents_are_cut_unless_one_is_asked_for(calls: Calls, site: Site) -> None:
    job_id = call(calls, SUBMIT, targets=[site.url("/page/1"), site.url("/long")]).structured["job_id"]

    cut = call(calls, STATUS, job_id=job_id, wait_s=50)
    none = call(calls, STATUS, job_id=job_id, max_chars=0)
    one = call(calls, STATUS, job_id=job_id, idx=1)

    assert "(cut at 4000 of " in cut.text
    assert len(cut.structured["targets"][1]["result"]["content"]) < 4100
    assert "result" not in none.structured["targets"][0]
    assert [entry["idx"] for entry in one.structured["targets"]] == [1]
    assert len(one.structured["targets"][0]["result"]["content"]) > 20_000


def test_progress_is_told_while_a_batch_is_awaited(calls: Calls, site: Site, held: Held) -> None:
    job_id = call(calls, SUBMIT, targets=[site.url("/page/1"), site.url("/held")]).structured["job_id"]
    assert held.asked.wait(10)
    seen: list[int] = []

    def note(job: Any) -> None:
        seen.append(job["targets_done"])
        held.let_go()

    calls.call(STATUS, {"job_id": job_id, "wait_s": 50}, note)

    assert seen[0] == 1
    assert seen[-1] == 2


def test_a_batch_is_cancelled(calls: Calls, site: Site, held: Held) -> None:
    job_id = call(calls, SUBMIT, targets=[site.url("/held"), site.url("/page/1")]).structured["job_id"]

    assert call(calls, CANCEL, job_id=job_id).structured == {"status": "cancelled"}


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        (FETCH, {"url": "http://10.0.0.1/"}, "blocked: private address 10.0.0.1. Sift does not go there. Do not try"),
        (FETCH, {"url": "/gone"}, "upstream_4xx: the site answered 404. Call again with recover: true"),
        (FETCH, {"url": "/page/1", "mode": "claen"}, 'mode: "claen" is not one of clean, full, raw, links.'),
        (FETCH, {"url": "/page/1", "wait": 1}, "wait: unknown argument; sift_fetch takes url, mode, "),
        (FETCH, {}, "url: missing; sift_fetch takes "),
        (SUBMIT, {"targets": "x"}, "targets: it takes a list"),
        (SUBMIT, {"targets": ["ftp://x.example/", "http://y.example:22/"]}, "targets[1].url: blocked: "),
        (STATUS, {"job_id": "j_0"}, "no such job. Results are kept for a time only; submit the list again"),
        (STATUS, {"job_id": 3}, "job_id: it takes the string that sift_batch_submit answered with"),
        (STATUS, {"job_id": "j_0", "wait_s": 6000}, "wait_s: it takes a number from 0 to 600"),
        ("sift_crawl", {}, "there is no tool sift_crawl; there are sift_fetch, "),
    ],
)
def test_an_error_says_what_to_do(calls: Calls, site: Site, name: str, arguments: dict[str, Any], says: str) -> None:
    if str(arguments.get("url", "")).startswith("/"):
        arguments = arguments | {"url": site.url(arguments["url"])}

    with pytest.raises(ToolFailed) as raised:
        call(calls, name, **arguments)

    assert says in str(raised.value)


def test_a_second_job_is_told_where_the_first_is(calls: Calls, site: Site, held: Held) -> None:
    job_id = call(calls, SUBMIT, targets=[site.url("/held")]).structured["job_id"]

    with pytest.raises(ToolFailed) as raised:
        call(calls, SUBMIT, targets=[site.url("/page/1")])

    assert f"Wait for it with sift_batch_status (job_id: {job_id}, wait_s: 50)" in str(raised.value)


def test_a_wrong_token_and_an_absent_server_are_for_the_user(address: str, service: Service) -> None:
    for client, says in [
        (Sift(address, "wrong", environ={}), "set SIFT_TOKEN_FILE or SIFT_TOKEN"),
        (Sift("http://127.0.0.1:1", "any", environ={}), "Tell the user to start it, or to set SIFT_URL"),
    ]:
        with pytest.raises(ToolFailed) as raised:
            call(Calls(client), FETCH, url="http://example.com/")
        assert says in str(raised.value)


def test_the_tools_take_all_that_a_target_takes() -> None:
    import inspect

    assert set(OPTIONS) == set(inspect.signature(Sift.fetch).parameters) - {"self"}
    assert tuple(OPTIONS["mode"]["enum"]) == MODES


def test_the_list_of_tools_is_small() -> None:
    told = json.dumps({"tools": [{"name": name, **tool} for name, tool in TOOLS.items()]})

    assert len(told.encode()) < 6000
