"""`sift fetch`: the content on stdout as it is, everything else on stderr, and the code that says how it went."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.answers import envelope, error
from tests.support.scripted import Said, Scripted

Run = Callable[..., Any]


def test_the_content_is_printed_unaltered_into_a_pipe(run: Run, server: Scripted) -> None:
    content = "# T\n\nesc \x1b]0;x\x07 \x9b \u202e é no line end"
    server.says(Said(200, envelope(content=content)))

    ran = run("fetch", "https://example.com/")

    assert (ran.code, ran.out, ran.err) == (0, content, "")


def test_every_option_becomes_a_field_of_the_target(run: Run, server: Scripted) -> None:
    server.says(Said(200, envelope()))

    run(
        *("fetch", "https://example.com/", "--mode", "full", "--question", "why?", "--pages", "1-3"),
        *("--grep", "a", "--context", "--recover", "--max-age", "30"),
    )
    run("fetch", "https://example.com/", "--jq", ".a", "--max-age", "0.5")

    assert server.asked[0].json == {
        "url": "https://example.com/",
        "mode": "full",
        "question": "why?",
        "pages": "1-3",
        "grep": "a",
        "context": True,
        "recover": True,
        "max_age": 30,
    }
    assert server.asked[1].json == {"url": "https://example.com/", "jq": ".a", "max_age": 0.5}


def test_json_is_the_whole_envelope(run: Run, server: Scripted) -> None:
    server.says(Said(200, envelope(title="é")))

    ran = run("fetch", "https://example.com/", "--json")

    assert json.loads(ran.out) == envelope(title="é")


def test_json_of_a_failure_is_its_error_object(run: Run, server: Scripted) -> None:
    body = error("upstream_4xx", "upstream_4xx: the site answered 404", status=404, hint="recover")
    server.says(Said(502, body))

    ran = run("fetch", "https://example.com/", "--json")

    assert (ran.code, json.loads(ran.out)) == (1, body)


@pytest.mark.parametrize(
    ("status", "reason", "code"),
    [
        (422, "blocked", 1),
        (504, "timeout", 1),
        (429, "busy", 7),
        (502, "upstream_5xx", 1),
        (400, "malformed", 1),
        (401, "unauthorized", 4),
        (404, "not_found", 6),
        (413, "body_too_large", 1),
        (503, "stopping", 1),
        (500, "internal", 1),
    ],
)
def test_a_reason_earns_its_exit_code(run: Run, server: Scripted, status: int, reason: str, code: int) -> None:
    server.says(Said(status, error(reason, f"{reason}: so it is", hint="retry")))

    ran = run("fetch", "https://example.com/", "--busy-timeout", "0")

    assert (ran.code, ran.out) == (code, "")
    assert ran.err == f"sift: {reason}: so it is\nsift: hint: retry (the same may work later)\n"


@pytest.mark.parametrize(
    "text",
    [
        "private address 10.0.0.1",
        "Sift's own address 127.0.0.1",
        "local name printer (only names of the public DNS)",
        "the name does not resolve to public addresses alone",
    ],
)
def test_what_is_blocked_as_private_is_never_to_be_opened_in_a_browser(run: Run, server: Scripted, text: str) -> None:
    server.says(Said(422, error("blocked", f"blocked: {text}", hint="browser")))

    ran = run("fetch", "http://10.0.0.1/")

    assert ran.err.splitlines()[1] == (
        "sift: hint: browser (not for this one: never open a private or local address in a browser)"
    )


@pytest.mark.parametrize(
    "text", ["blocked: port 8080 (only 80, 443)", "upstream_4xx: the site answered 403 at this address"]
)
def test_what_is_not_private_may_be_opened_in_a_browser(run: Run, server: Scripted, text: str) -> None:
    server.says(Said(422, error(text.partition(":")[0], text, hint="browser")))

    ran = run("fetch", "https://example.com/")

    assert "hint: browser (a real browser may get further; never open a private address in one)" in ran.err


def test_every_wrong_place_is_said(run: Run, server: Scripted) -> None:
    places = [{"at": "mode", "error": "no"}, {"at": "pages", "error": "neither"}]
    server.says(Said(400, error("malformed", "mode: no", errors=places)))

    ran = run("fetch", "https://example.com/")

    assert ran.err == "sift: mode: no\nsift: pages: neither\n"


def test_what_the_content_does_not_tell_is_said_on_stderr(run: Run, server: Scripted) -> None:
    server.says(
        Said(
            200,
            envelope(
                truncated=True, hint="grep", withheld=["recover"], context={}, archive={"captured_at": "2020-01-01"}
            ),
        )
    )

    ran = run("fetch", "https://example.com/")

    for words in ("truncated", "hint: grep", "withheld: recover", "--json", "2020-01-01"):
        assert words in ran.err


def test_a_busy_gate_is_waited_for_and_said(run: Run, server: Scripted) -> None:
    server.says(Said(429, error("busy", "busy: no slot", retry_after_s=0)), Said(200, envelope(content="came")))

    ran = run("fetch", "https://example.com/")

    assert (ran.code, ran.out) == (0, "came")
    assert ran.err == "sift: busy: no slot; trying again in 0.1 s\n"


def test_a_message_cannot_steer_the_terminal_nor_break_its_line(run: Run, server: Scripted) -> None:
    server.says(Said(422, error("blocked", "blocked: \x1b]0;owned\x07\nfake \u202eline\x9b")))

    ran = run("fetch", "https://example.com/")

    assert ran.err == "sift: blocked: \\x1b]0;owned\\x07\\x0afake \\u202eline\\x9b\n"


def test_a_wrong_mode_is_a_usage_error_and_asks_nobody(run: Run, server: Scripted) -> None:
    ran = run("fetch", "https://example.com/", "--mode", "claen")

    assert ran.code == 2
    assert "'claen' is not one of 'clean', 'full', 'raw', 'links'" in ran.err
    assert server.asked == []


def test_no_server_is_an_error_that_asks_the_right_question(run: Run) -> None:
    ran = run("fetch", "https://example.com/", "--url", "http://127.0.0.1:1")

    assert ran.code == 1
    assert ran.err == (
        "sift: http://127.0.0.1:1 cannot be reached (connection refused); is sift serve running there?\n"
    )


def test_a_token_in_clear_to_another_host_is_a_usage_error_that_says_how(run: Run) -> None:
    ran = run("fetch", "https://example.com/", "--url", "http://sift.example")

    assert ran.code == 2
    assert "--plain-http" in ran.err


def test_no_token_is_exit_4_and_names_what_would_give_one(run: Run) -> None:
    ran = run("fetch", "https://example.com/", SIFT_TOKEN="")

    assert ran.code == 4
    assert "$SIFT_TOKEN_FILE" in ran.err
    assert "sift token" in ran.err


def test_a_token_is_no_option(run: Run) -> None:
    assert run("fetch", "https://example.com/", "--token", "secret").code == 2
