"""Where the client finds its server and its token, and where it does not send it."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest

from sift.client import NoPlace, NoToken, Sift
from sift.client.place import read_token
from tests.support.answers import TOKEN
from tests.support.scripted import Said, Scripted


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


def test_the_address_of_sift_toml_is_this_host_whatever_it_is_called(tmp_path: Path) -> None:
    config = tmp_path / "sift.toml"
    config.write_text('[server]\nhost = "sift.lan"\n')

    assert Sift(token=TOKEN, config=str(config), environ={}).url == "http://sift.lan:8642"


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


def _config(folder: Path, port: int | str) -> str:
    _token_file(folder / "token")
    (folder / "sift.toml").write_text(f'[server]\nport = {port}\ndata_dir = "{folder}"\n')
    return str(folder / "sift.toml")


def test_the_token_of_the_local_server_is_not_sent_to_another_port_of_this_machine(
    server: Scripted, tmp_path: Path
) -> None:
    config = _config(tmp_path, 8642)

    for url in (server.url, "http://127.0.0.2:8642", "http://[::1]:8642"):
        with pytest.raises(NoToken, match=r"8642 of sift\.toml alone; set .*\$SIFT_TOKEN_FILE; sift token"):
            Sift(url, config=config, environ={})
        with pytest.raises(NoToken, match=r"\$SIFT_TOKEN_FILE"):
            Sift(config=config, environ={"SIFT_URL": url})


def test_the_token_of_the_local_server_goes_to_its_address_however_it_was_told(
    server: Scripted, tmp_path: Path
) -> None:
    config = _config(tmp_path, server.url.rpartition(":")[2])

    assert _sent_token(server, config=config, environ={}) == TOKEN


def test_where_the_port_is_any_the_token_stays_on_this_machine(server: Scripted, tmp_path: Path) -> None:
    config = _config(tmp_path, 0)

    assert _sent_token(server, config=config, environ={}) == TOKEN
    with pytest.raises(NoToken, match="no token for https"):
        Sift("https://elsewhere.example", config=config, environ={})


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620])
def test_a_token_file_that_others_may_touch_is_not_used(tmp_path: Path, mode: int) -> None:
    path = _token_file(tmp_path / "token", mode=mode)

    with pytest.raises(NoToken, match="chmod 600"):
        Sift("http://localhost", environ={"SIFT_TOKEN_FILE": path})


def test_a_token_file_that_is_a_pipe_without_a_writer_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "token", 0o600)

    with pytest.raises(NoToken, match=r"a pipe that gave nothing in 0\.01 s"):
        read_token(str(tmp_path / "token"), pipe_s=0.01)


def test_a_token_comes_out_of_a_pipe_whose_writer_is_slow() -> None:
    reading, writing = os.pipe()
    late = threading.Timer(0.05, os.write, (writing, TOKEN.encode() + b"\n"))
    late.name = "sift-late-writer"
    late.start()

    assert read_token(f"/dev/fd/{reading}", pipe_s=30) == TOKEN
    late.join()
    os.close(reading)
    os.close(writing)


@pytest.mark.parametrize(("path", "why"), [("/dev/zero", "neither a file nor a pipe"), ("/", "is a directory")])
def test_what_is_neither_a_file_nor_a_pipe_is_no_token_file(path: str, why: str) -> None:
    with pytest.raises(NoToken, match=why):
        read_token(path)


@pytest.mark.parametrize("text", ["", "two words", "a\r\nX-Evil: 1", "caf\u00e9"])
def test_what_is_no_token_is_refused_and_not_repeated(tmp_path: Path, text: str) -> None:
    for environ in ({"SIFT_TOKEN_FILE": _token_file(tmp_path / "token", text)}, {"SIFT_TOKEN": text or " "}):
        with pytest.raises(NoToken) as caught:
            Sift("http://localhost", environ=environ)
        assert not text or text not in str(caught.value)


def test_where_no_token_can_be_read_the_error_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NoToken, match=r"\$SIFT_TOKEN_FILE; sift token"):
        Sift(environ={"XDG_STATE_HOME": str(tmp_path)})
