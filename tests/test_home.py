"""Where a local server is, as its clients find out."""

from __future__ import annotations

from pathlib import Path

import pytest

from sift.config import load
from sift.errors import ConfigError
from sift.home import Home, local_server


def test_without_a_file_the_home_is_that_of_the_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    server = load(None, {"HOME": "/h"}).server

    assert local_server(None, {"HOME": "/h"}) == Home(server.host, server.port, server.data_dir)


def test_a_file_gives_the_home_that_the_server_takes(tmp_path: Path) -> None:
    path = tmp_path / "sift.toml"
    path.write_text('[server]\nhost = "::1"\nport = 9000\ndata_dir = "/d"\n')
    server = load(str(path), {}).server

    assert local_server(str(path), {}) == Home(server.host, server.port, server.data_dir) == Home("::1", 9000, "/d")


def test_what_concerns_the_service_alone_keeps_no_client_out(tmp_path: Path) -> None:
    path = tmp_path / "sift.toml"
    path.write_text('[digest]\nllm_url = "http://127.0.0.1:1"\nllm_model = "m"\nllm_key_file = "/not/readable"\n')

    assert local_server(str(path), {"HOME": "/h"}).port == 8642


@pytest.mark.parametrize(
    "text", ["[server]\nport = '1'\n", "[server]\nhost = 1\n", "[server]\ndata_dir = [1]\n", "x ="]
)
def test_a_home_that_cannot_be_told_is_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "sift.toml"
    path.write_text(text)

    with pytest.raises(ConfigError, match=r"^sift\.toml: "):
        local_server(str(path), {})
