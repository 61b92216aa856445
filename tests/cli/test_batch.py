"""`sift batch`: submit, look, wait, collect, cancel, list, and the codes each of them ends with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.answers import done, error, failed, job, waiting
from tests.support.scripted import Said, Scripted

Run = Callable[..., Any]
MADE = {"success": True, "job_id": "j_1", "status": "queued", "targets": 1, "reused": False}


def test_a_submit_prints_one_line_with_the_id(run: Run, server: Scripted) -> None:
    server.says(Said(202, MADE))

    ran = run("batch", "submit", "https://example.com/")

    assert (ran.code, ran.out, ran.err) == (0, '{"job_id": "j_1", "reused": false}\n', "")
    assert server.asked[0].json == {"targets": [{"url": "https://example.com/"}]}


def test_a_file_and_urls_are_one_list_in_their_order(run: Run, server: Scripted, tmp_path: Path) -> None:
    server.says(Said(202, MADE))
    (tmp_path / "urls.txt").write_text("https://a.example/\n")

    run("batch", "submit", "urls.txt", "https://b.example/", "HTTPS://C.example/")

    urls = [target["url"] for target in server.asked[0].json["targets"]]
    assert urls == ["https://a.example/", "https://b.example/", "HTTPS://C.example/"]


def test_every_wrong_line_of_a_list_is_said_and_nothing_is_sent(run: Run, server: Scripted) -> None:
    ran = run("batch", "submit", "-", stdin=b"https://a.example/\nnope\nneither\n")

    assert (ran.code, ran.out, server.asked) == (2, "", [])
    assert ran.err.splitlines()[:2] == [
        'sift: stdin: line 2: "nope" is no URL; one begins with http:// or https://',
        'sift: stdin: line 3: "neither" is no URL; one begins with http:// or https://',
    ]


def test_stdin_is_a_dash_and_fresh_a_field(run: Run, server: Scripted) -> None:
    server.says(Said(202, MADE))

    run("batch", "submit", "-", "--fresh", stdin=b'{"targets": [{"url": "https://a.example/", "mode": "raw"}]}')

    assert server.asked[0].json == {"targets": [{"url": "https://a.example/", "mode": "raw"}], "fresh": True}


def test_a_reused_job_with_failures_says_how_to_fetch_anew(run: Run, server: Scripted) -> None:
    server.says(Said(202, {**MADE, "reused": True, "hint": "fresh"}))

    ran = run("batch", "submit", "https://example.com/")

    assert json.loads(ran.out) == {"job_id": "j_1", "reused": True}
    assert "--fresh" in ran.err


def test_a_busy_caller_ends_at_once_and_names_the_live_job(run: Run, server: Scripted) -> None:
    server.says(Said(429, error("caller_busy", "you already have a live job (j_9)", job_id="j_9", retry_after_s=5)))

    ran = run("batch", "submit", "https://example.com/")

    assert (ran.code, len(server.asked)) == (7, 1)
    assert "sift batch wait j_9" in ran.err
    assert "sift batch cancel j_9" in ran.err


def test_busy_jobs_are_waited_for(run: Run, server: Scripted) -> None:
    server.says(Said(429, error("jobs_busy", "8 jobs are live", retry_after_s=0)), Said(202, MADE))

    ran = run("batch", "submit", "https://example.com/")

    assert ran.code == 0
    assert "trying again" in ran.err


def test_busy_jobs_that_stay_busy_are_exit_7(run: Run, server: Scripted) -> None:
    server.says(Said(429, error("jobs_busy", "8 jobs are live", retry_after_s=0)))

    ran = run("batch", "submit", "https://example.com/", "--busy-timeout", "0.15")

    assert (ran.code, ran.out) == (7, "")
    assert len(server.asked) >= 2


def test_submit_and_wait_prints_the_body_alone_on_stdout(run: Run, server: Scripted) -> None:
    server.says(Said(202, MADE), Said(200, job("partial", done(), failed())))

    ran = run("batch", "submit", "https://example.com/", "--wait")

    assert ran.code == 3
    assert json.loads(ran.out)["status"] == "partial"
    assert ran.err.splitlines()[0] == '{"job_id": "j_1", "reused": false}'


def test_a_timeout_without_a_wait_is_a_usage_error(run: Run) -> None:
    assert run("batch", "submit", "https://example.com/", "--timeout", "3").code == 2


def test_a_status_prints_the_whole_body_and_does_not_judge_it(run: Run, server: Scripted) -> None:
    body = job("failed", failed())
    server.says(Said(200, body))

    ran = run("batch", "status", "j_1")

    assert (ran.code, json.loads(ran.out), ran.err) == (0, body, "")
    assert ran.out.count("\n") == 1


@pytest.mark.parametrize(
    ("status", "code"),
    [("done", 0), ("partial", 3), ("failed", 5), ("cancelled", 5), ("queued", 8), ("running", 8)],
)
def test_a_wait_ends_with_the_code_of_the_jobs_status(run: Run, server: Scripted, status: str, code: int) -> None:
    server.says(Said(200, job(status, done(), waiting())))

    ran = run("batch", "wait", "j_1", "--timeout", "0")

    assert (ran.code, json.loads(ran.out)["status"]) == (code, status)


def test_a_wait_that_ran_out_says_how_to_wait_on(run: Run, server: Scripted) -> None:
    server.says(Said(200, job("running", done(), waiting("running"))))

    ran = run("batch", "wait", "j_1", "--timeout", "0")

    assert ran.err == "sift: the job is running (1 of 2 targets have ended); sift batch wait j_1 waits on\n"


def test_a_job_that_a_restart_ended_says_so(run: Run, server: Scripted) -> None:
    server.says(Said(200, job("failed", failed(), error="restart")))

    ran = run("batch", "wait", "j_1")

    assert (ran.code, ran.err) == (
        5,
        "sift: the job failed: restart; 0 of 1 targets came, 1 failed, 0 never began\n",
    )


def _cancelled(*targets: dict[str, Any]) -> Said:
    return Said(200, job("cancelled", *targets), {"ETag": f'W/"{[target["status"] for target in targets]}"'})


@pytest.mark.parametrize("verb", [["wait"], ["results", "-o", "out"]])
def test_what_a_cancelled_job_has_in_flight_is_waited_for(run: Run, server: Scripted, verb: list[str]) -> None:
    before, after = _cancelled(waiting("running"), failed(), waiting()), _cancelled(done(), failed(), waiting())
    server.says(before, *([before] if verb[0] == "results" else []), after)

    ran = run("batch", *verb, "j_1")

    assert (ran.code, ran.err) == (
        5,
        "sift: the job is cancelled: 1 of 3 targets came, 1 failed, 1 never began\n",
    )
    assert "Example Domain" in ran.out
    assert "wait=60" in server.asked[-2].path


@pytest.mark.parametrize("verb", [["wait"], ["results", "-o", "out"]])
def test_what_stays_in_flight_is_waited_for_no_longer_than_told(run: Run, server: Scripted, verb: list[str]) -> None:
    server.says(_cancelled(waiting("running"), waiting()))

    ran = run("batch", *verb, "j_1", "--timeout", "0")

    assert (ran.code, ran.err.splitlines()) == (
        5,
        [
            "sift: the job is cancelled: 0 of 2 targets came, 0 failed, 1 in flight, 1 never began",
            "sift: what is in flight will be kept; sift batch wait j_1 waits for it",
        ],
    )


def test_a_server_that_goes_away_is_told_of_once_and_giving_up_says_how_to_go_on(run: Run, server: Scripted) -> None:
    stopping = Said(503, error("stopping", "the server is stopping", retry_after_s=0.1))
    server.says(Said(200, job("running", waiting("running")), {"ETag": 'W/"1"'}), stopping)

    ran = run("batch", "wait", "j_1", "--timeout", "1")

    assert (ran.code, ran.out) == (1, "")
    assert ran.err.splitlines() == [
        "sift: the server is stopping; waiting for it, 30 s at most",
        "sift: the server is stopping",
        "sift: once the server is back, sift batch wait j_1 goes on; a restart fails a job that was live",
    ]
    assert len(server.asked) > 3


@pytest.mark.parametrize("verb", [["status"], ["wait"], ["cancel"], ["results", "-o", "out"]])
def test_an_unknown_job_is_exit_6(run: Run, server: Scripted, verb: list[str]) -> None:
    server.says(Said(404, error("not_found", "no such job")))

    ran = run("batch", *verb, "j_unknown")

    assert (ran.code, ran.out, ran.err) == (6, "", "sift: no such job\n")


@pytest.mark.parametrize("verb", [["status"], ["wait"], ["cancel"], ["results", "-o", "out"]])
def test_an_empty_id_is_a_usage_error(run: Run, server: Scripted, verb: list[str]) -> None:
    assert run("batch", *verb, " ").code == 2
    assert server.asked == []


def test_a_cancel_prints_the_answer(run: Run, server: Scripted) -> None:
    server.says(Said(200, {"success": True, "status": "cancelled"}))

    ran = run("batch", "cancel", "j_1")

    assert (ran.code, json.loads(ran.out), ran.err) == (0, {"success": True, "status": "cancelled"}, "")


def test_a_cancel_that_came_too_late_says_so(run: Run, server: Scripted) -> None:
    server.says(Said(200, {"success": True, "status": "done"}))

    ran = run("batch", "cancel", "j_1")

    assert (ran.code, ran.err) == (0, "sift: the job had ended before: done\n")


def test_a_list_is_the_callers_jobs(run: Run, server: Scripted) -> None:
    server.says(Said(200, {"jobs": [{"job_id": "j_1", "status": "done"}]}))

    assert json.loads(run("batch", "list").out) == {"jobs": [{"job_id": "j_1", "status": "done"}]}


def test_results_are_files_and_an_index(run: Run, server: Scripted, tmp_path: Path) -> None:
    server.says(
        Said(200, job("partial", done(title="A Title", content="one\n"), failed(), done(title="", content="two")))
    )

    ran = run("batch", "results", "j_1", "-o", "new/out")

    index = [json.loads(line) for line in ran.out.splitlines()]
    assert [(line["idx"], line["outcome"], line["file"]) for line in index] == [
        (0, "ok", "00-a-title.md"),
        (1, "blocked", None),
        (2, "ok", "02-example-com.md"),
    ]
    assert {path.name: path.read_text() for path in (tmp_path / "new/out").iterdir()} == {
        "00-a-title.md": "one\n",
        "02-example-com.md": "two",
    }
    assert ran.code == 3


def test_results_of_a_live_job_are_what_is_there_and_exit_8(run: Run, server: Scripted, tmp_path: Path) -> None:
    server.says(Said(200, job("running", done(), waiting("running"), waiting())))

    ran = run("batch", "results", "j_1", "-o", "out")

    assert [json.loads(line)["outcome"] for line in ran.out.splitlines()] == ["ok", "running", "pending"]
    assert (ran.code, len(list((tmp_path / "out").iterdir()))) == (8, 1)


def test_an_empty_directory_name_is_a_usage_error_that_names_the_option(run: Run, server: Scripted) -> None:
    ran = run("batch", "results", "j_1", "-o", "")

    assert (ran.code, ran.out) == (2, "")
    assert "'-o' / '--output': an empty path" in ran.err
    assert server.asked == []


def test_a_directory_in_the_way_of_a_result_is_named(run: Run, server: Scripted, tmp_path: Path) -> None:
    server.says(Said(200, job()))
    (tmp_path / "out" / "00-example-domain.md").mkdir(parents=True)

    ran = run("batch", "results", "j_1", "-o", "out", "--force")

    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("sift: out/00-example-domain.md is a directory")


def test_results_collected_twice_are_no_conflict(run: Run, server: Scripted, tmp_path: Path) -> None:
    server.says(Said(200, job()))

    assert run("batch", "results", "j_1", "-o", "out").code == 0
    assert run("batch", "results", "j_1", "-o", "out").code == 0


def test_results_replace_no_other_file_unless_forced(run: Run, server: Scripted, tmp_path: Path) -> None:
    server.says(Said(200, job("done", done(), done(content="new"))))
    out = tmp_path / "out"
    out.mkdir()
    (out / "01-example-domain.md").write_text("mine")

    ran = run("batch", "results", "j_1", "-o", "out")

    assert (ran.code, ran.out) == (1, "")
    assert "out/01-example-domain.md is there already" in ran.err
    assert [path.read_text() for path in out.iterdir()] == ["mine"]
    assert run("batch", "results", "j_1", "-o", "out", "--force").code == 0
    assert (out / "01-example-domain.md").read_text() == "new"
