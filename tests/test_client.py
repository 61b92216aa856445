"""The typed client against a server that answers by script."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sift.errors
from sift import client as client_module
from sift.client import (
    Answered,
    Blocked,
    CallerBusy,
    ClientError,
    Malformed,
    NoPlace,
    NoServer,
    NotFound,
    NoToken,
    NotSift,
    RequestRefused,
    Sift,
    TargetFailed,
)
from sift.client.errors import answered
from sift.target import Outcome
from tests.support.answers import TOKEN, done, envelope, error, failed, job, waiting
from tests.support.scripted import Said, Scripted, scripted_server


@pytest.fixture
def server() -> Iterator[Scripted]:
    with scripted_server() as scripted:
        yield scripted


@pytest.fixture
def sift_client(server: Scripted) -> Sift:
    return Sift(server.url, TOKEN, environ={}, sleep=lambda _: None)


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


def test_a_wait_for_a_server_that_never_answered_ends_at_once() -> None:
    with pytest.raises(NoServer, match="connection refused"):
        Sift(f"http://127.0.0.1:{_closed_port()}", TOKEN, environ={}, sleep=_never_sleep).wait("j_1")


def _never_sleep(_: float) -> None:
    raise AssertionError("slept")


def _closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


def test_every_reason_and_outcome_of_sift_has_an_error_of_its_own_name() -> None:
    for kind in sift.errors.RequestError.__subclasses__():
        assert type(answered(400, {"error": "no", "reason": kind.reason})).__name__ == kind.__name__
    for outcome in set(Outcome) - {Outcome.OK}:
        assert isinstance(answered(400, {"error": "no", "reason": outcome.value}), TargetFailed)


def test_every_error_can_be_had_from_the_package() -> None:
    kinds = {*RequestRefused.__subclasses__(), *TargetFailed.__subclasses__(), *ClientError.__subclasses__()}

    assert {kind.__name__ for kind in kinds} <= set(client_module.__all__)


def test_an_error_carries_all_that_the_server_said(server: Scripted, sift_client: Sift) -> None:
    body = error("caller_busy", "you already have a live job", job_id="j_9", retry_after_s=5)
    server.says(Said(429, body, {"Retry-After": "6"}))

    with pytest.raises(CallerBusy) as caught:
        sift_client.submit(["https://example.com/"])

    assert (caught.value.job_id, caught.value.retry_after_s, caught.value.status) == ("j_9", 5, 429)
    assert str(caught.value) == "you already have a live job"
    assert caught.value.body == body


def test_an_error_names_every_wrong_place(server: Scripted, sift_client: Sift) -> None:
    places = [{"at": "targets[0].mode", "error": "x"}, {"at": "targets[1].url", "error": "y"}]
    server.says(Said(400, error("malformed", errors=places)))

    with pytest.raises(Malformed) as caught:
        sift_client.submit(["https://example.com/"])

    assert caught.value.places == (("targets[0].mode", "x"), ("targets[1].url", "y"))


def test_a_failed_fetch_raises_its_outcome(server: Scripted, sift_client: Sift) -> None:
    server.says(Said(422, error("blocked", "blocked: private address 10.0.0.1", hint="browser")))

    with pytest.raises(Blocked, match=r"blocked: private address 10\.0\.0\.1") as caught:
        sift_client.fetch("http://10.0.0.1/")

    assert caught.value.hint == "browser"


def test_a_reason_of_a_later_version_is_a_plain_answered_error(server: Scripted, sift_client: Sift) -> None:
    server.says(Said(418, error("teapot", "short and stout"), {"Retry-After": "3"}))

    with pytest.raises(Answered, match="short and stout") as caught:
        sift_client.list()

    assert (type(caught.value), caught.value.reason, caught.value.retry_after_s) == (Answered, "teapot", 3.0)


@pytest.mark.parametrize(
    "said", [Said(502, b"<html>bad gateway"), Said(200, b"[]"), Said(200, b"\xff"), Said(301, {"a": 1}), Said(500, {})]
)
def test_an_answer_that_is_not_sifts_is_said_to_be_none(server: Scripted, sift_client: Sift, said: Said) -> None:
    server.says(said)

    with pytest.raises(NotSift, match="is the address right"):
        sift_client.list()


def _raw_server(answer: bytes) -> tuple[int, threading.Thread]:
    """Answers one connection with `answer`, and hangs up."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with listener:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(answer)

    thread = threading.Thread(target=serve, name="sift-raw")
    thread.start()
    return listener.getsockname()[1], thread


def _ask_raw(answer: bytes) -> Any:
    port, thread = _raw_server(answer)
    try:
        return Sift(f"http://127.0.0.1:{port}", TOKEN, environ={}).list()
    finally:
        thread.join()


@pytest.mark.parametrize(
    "answer",
    [
        b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6;x=y\r\n{"jobs\r\n5\r\n": []\r\n1\r\n}\r\n0\r\n\r\n',
        b'HTTP/1.0 200 OK\r\n\r\n{"jobs": []}',
        b'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\ncontent-LENGTH:12\n\n{"jobs": []}rest',
    ],
)
def test_an_answer_is_read_however_it_is_framed(answer: bytes) -> None:
    assert _ask_raw(answer) == []


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (b"", NoServer),
        (b"HTTP/1.1 200 OK\r\nContent-Le", NoServer),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{", NoServer),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n{", NoServer),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-6\r\n{", NotSift),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1_0\r\n\r\n{", NotSift),
        (b"SSH-2.0-OpenSSH_9.2\r\n", NotSift),
        (b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 20000 + b"\r\n", NotSift),
        (b"x" * 200000, NotSift),
    ],
)
def test_a_broken_answer_is_an_error_and_not_a_result(answer: bytes, kind: type[ClientError]) -> None:
    with pytest.raises(kind):
        _ask_raw(answer)


@pytest.mark.parametrize(
    "url",
    ["127.0.0.1:8642", "ftp://a/", "http://", "http://u:p@a/", "http://a:99999/", "http://a/?q", "http://a/\r\nX:y"],
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(NoPlace):
        Sift(url, TOKEN, environ={})


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("HTTP://LocalHost:80/", "http://localhost"),
        ("https://sift.example/prefix/", "https://sift.example/prefix"),
        ("http://[::1]:8642", "http://[::1]:8642"),
    ],
)
def test_an_address_is_shown_in_its_plain_form(url: str, shown: str) -> None:
    assert Sift(url, TOKEN, environ={}).url == shown


def test_a_prefix_of_the_address_stays_before_every_path(server: Scripted) -> None:
    server.says(Said(200, {"jobs": []}))

    Sift(server.url + "/sift/", TOKEN, environ={}).list()

    assert server.asked[0].path == "/sift/v1/batch"


def test_a_token_goes_in_clear_to_another_host_only_when_told() -> None:
    with pytest.raises(NoPlace, match="--plain-http"):
        Sift("http://sift.example", TOKEN, environ={})

    assert Sift("http://sift.example", TOKEN, environ={}, plain_http=True).url == "http://sift.example"
    assert Sift("https://sift.example", TOKEN, environ={}).url == "https://sift.example"


def _token_file(path: Path, text: str = TOKEN + "\n", mode: int = 0o600) -> str:
    path.write_text(text)
    path.chmod(mode)
    return str(path)


def _sent_token(server: Scripted, **arguments: Any) -> str:
    server.says(Said(200, {"jobs": []}))
    Sift(server.url, **arguments).list()
    return server.asked[-1].headers["authorization"].removeprefix("Bearer ")


def test_a_token_is_taken_from_the_option_then_the_environment(server: Scripted, tmp_path: Path) -> None:
    by_option = _token_file(tmp_path / "option", "by-option")
    environ = {"SIFT_TOKEN": "by-environment", "SIFT_TOKEN_FILE": _token_file(tmp_path / "file", "by-file")}

    assert _sent_token(server, token_file=by_option, environ=environ) == "by-option"
    assert _sent_token(server, environ=environ) == "by-environment"
    assert _sent_token(server, environ={**environ, "SIFT_TOKEN": ""}) == "by-file"


def test_address_and_token_default_to_what_sift_toml_says(server: Scripted, tmp_path: Path) -> None:
    _token_file(tmp_path / "token")
    config = tmp_path / "sift.toml"
    config.write_text(f'[server]\nport = {server.url.rpartition(":")[2]}\ndata_dir = "{tmp_path}"\n')
    server.says(Said(200, {"jobs": []}))

    Sift(config=str(config), environ={}).list()

    assert server.asked[0].headers["authorization"] == f"Bearer {TOKEN}"


def test_the_token_of_the_local_server_is_not_sent_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "sift").mkdir()
    _token_file(tmp_path / "sift" / "token")

    with pytest.raises(NoToken, match=r"no token for https://elsewhere\.example"):
        Sift("https://elsewhere.example", environ={"XDG_STATE_HOME": str(tmp_path)})


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620])
def test_a_token_file_that_others_may_touch_is_not_used(tmp_path: Path, mode: int) -> None:
    path = _token_file(tmp_path / "token", mode=mode)

    with pytest.raises(NoToken, match="chmod 600"):
        Sift("http://localhost", environ={"SIFT_TOKEN_FILE": path})


@pytest.mark.parametrize("text", ["", "two words", "a\r\nX-Evil: 1", "caf\u00e9"])
def test_what_is_no_token_is_refused_and_not_repeated(tmp_path: Path, text: str) -> None:
    for environ in ({"SIFT_TOKEN_FILE": _token_file(tmp_path / "token", text)}, {"SIFT_TOKEN": text or " "}):
        with pytest.raises(NoToken) as caught:
            Sift("http://localhost", environ=environ)
        assert not text or text not in str(caught.value)


def test_where_no_token_can_be_read_the_error_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NoToken, match=r"\$SIFT_TOKEN_FILE; sift token"):
        Sift(environ={"XDG_STATE_HOME": str(tmp_path)})


def test_the_client_imports_nothing_heavy() -> None:
    code = "import sys, sift.client; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    heavy = {"requests", "flask", "lxml", "urllib3", "http.client", "email", "ssl", "click", "sift.config"}
    assert not heavy & set(loaded)
