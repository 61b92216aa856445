"""The command, run in this process or in one of its own, against a server that answers by script."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sift.cli.run import run as run_command
from tests.support.answers import TOKEN
from tests.support.scripted import Scripted, scripted_server


@dataclass
class Ran:
    """How a run ended."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def server() -> Iterator[Scripted]:
    with scripted_server() as scripted:
        yield scripted


@pytest.fixture
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No setting of whoever runs the tests gets in, and no file of theirs is found."""
    for name in os.environ:
        if name.startswith("SIFT_") or name in ("NO_COLOR", "STATE_DIRECTORY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(
    clean_environment: None,
    server: Scripted,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> Run:
    """Runs a command line in this process; the server and the token are in its environment."""

    def run_line(*arguments: str, stdin: bytes = b"", **environ: str) -> Ran:
        monkeypatch.setenv("SIFT_URL", server.url)
        monkeypatch.setenv("SIFT_TOKEN", TOKEN)
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = run_command(list(arguments))
        caught: Any = capfdbinary.readouterr()
        return Ran(code, caught.out.decode(), caught.err.decode())

    return run_line


@pytest.fixture
def environment(clean_environment: None, server: Scripted) -> dict[str, str]:
    """The environment for a process of its own."""
    root = str(Path(__file__).parents[2])
    return {**os.environ, "SIFT_URL": server.url, "SIFT_TOKEN": TOKEN, "PYTHONPATH": root}


COMMAND = [sys.executable, "-m", "sift.cli"]


@pytest.fixture
def command() -> list[str]:
    """What starts the command in a process of its own."""
    return list(COMMAND)
