"""What reaches a terminal, and what a pipe: real ones, in a process of its own."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import termios
import threading
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sift.cli import terminal
from sift.cli.bar import progress_line
from tests.support.answers import done, envelope, error, failed, job, waiting
from tests.support.scripted import Asked, Said, Scripted

STEERING = (
    "\x1b]0;owned\x07 \x1b[2J \x9b31m \x90q\x9c \u202eevil\u2066 \u200e\u061c \x7f\x08\x00 \u2028 \U000e0041 a\rb"
)
FORBIDDEN = set(STEERING) - set(" 0;owned[2J31mqevil]ab")
Environment = dict[str, str]


def on_terminal(command: list[str], environment: Environment, *, stderr: bool = False) -> tuple[int, str]:
    """Runs with stdout (or stderr alone) on a terminal: the code, and all that the terminal got."""
    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (24, 120))
    pipe = subprocess.DEVNULL
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe if stderr else follower, stderr=follower if stderr else pipe, env=environment
    ) as process:
        os.close(follower)
        got = _read_all(leader)
        code = process.wait(10)
    os.close(leader)
    return code, got.decode().replace("\r\n", "\n")


def _read_all(leader: int) -> bytes:
    got = b""
    while select.select([leader], [], [], 10)[0]:
        try:
            part = os.read(leader, 65536)
        except OSError:  # Linux says so when the last writer is gone
            break
        if not part:
            break
        got += part
    return got


def test_content_cannot_steer_the_terminal(server: Scripted, environment: Environment, command: list[str]) -> None:
    server.says(Said(200, envelope(content=f"é 日本\tt\n{STEERING}")))

    code, got = on_terminal([*command, "fetch", "https://example.com/"], environment)

    assert code == 0
    assert got.startswith("é 日本\tt\n\\x1b]0;owned\\x07 ")
    assert got.endswith("a\\x0db\n")
    assert not FORBIDDEN & set(got)


def test_json_on_a_terminal_is_harmless_and_still_the_same_json(
    server: Scripted, environment: Environment, command: list[str]
) -> None:
    body = job("done", done(title=STEERING, url="https://example.com/\x9b\u202e"))
    server.says(Said(200, body))

    _, got = on_terminal([*command, "batch", "status", "j_1"], environment)

    assert json.loads(got) == body
    assert not FORBIDDEN & set(got)


def test_the_index_is_a_table_on_a_terminal(
    server: Scripted, environment: Environment, command: list[str], tmp_path: Path
) -> None:
    server.says(Said(200, job("partial", done(title="T"), failed(f"http://x.example/{STEERING}"))))

    code, got = on_terminal([*command, "batch", "results", "j_1", "-o", str(tmp_path / "out")], environment)

    assert code == 3
    assert got.splitlines()[0] == "0  ok       00-t.md  https://example.com/"
    assert got.splitlines()[1].startswith("1  blocked  -        http://x.example/\\x1b]0;owned")
    assert len(got.splitlines()) == 2
    assert not FORBIDDEN & set(got)


def test_an_error_cannot_steer_the_terminal(server: Scripted, environment: Environment, command: list[str]) -> None:
    server.says(Said(422, error("blocked", f"blocked: {STEERING}", hint=STEERING)))

    code, got = on_terminal([*command, "fetch", "https://example.com/"], environment, stderr=True)

    assert code == 1
    assert not FORBIDDEN & set(got)


def _polls(*jobs: dict[str, Any]) -> list[Said]:
    return [Said(200, body, {"ETag": f'W/"{number}"'}) for number, body in enumerate(jobs)]


def test_the_bar_is_drawn_on_stderr_alone_and_wiped(
    server: Scripted, environment: Environment, command: list[str]
) -> None:
    server.says(*_polls(job("running", failed(), waiting("running", "https://x.example/\x1b[2J")), job()))

    code, got = on_terminal([*command, "batch", "wait", "j_1"], {**environment, "TERM": "xterm"}, stderr=True)

    assert code == 0
    assert "1/2" in got
    assert "1 failed" in got
    assert "target 1 runs: https://x.example/\\x1b[2J" in got
    assert got.endswith("\r\x1b[K")


def test_no_color_is_honoured(server: Scripted, environment: Environment, command: list[str]) -> None:
    server.says(*_polls(job("running", failed(), waiting("running")), job()))

    def wait(**more: str) -> str:
        server.says(*_polls(job("running", failed(), waiting("running")), job()))
        return on_terminal([*command, "batch", "wait", "j_1"], {**environment, "TERM": "xterm", **more}, stderr=True)[1]

    assert "\x1b[31m" in wait()
    assert "\x1b[31m" not in wait(NO_COLOR="1")


def test_the_demo_colours_nothing_for_who_wants_no_colour(environment: Environment, command: list[str]) -> None:
    code, shown = on_terminal([*command, "demo"], {**environment, "TERM": "xterm", "NO_COLOR": "1"}, stderr=True)

    assert code == 0
    assert not re.search(r"\x1b\[[0-9;]*m", shown)


@pytest.mark.parametrize("term", ["dumb", None])
def test_no_bar_without_a_terminal_for_it(
    server: Scripted, environment: Environment, command: list[str], term: str | None
) -> None:
    server.says(*_polls(job("running", waiting("running")), job()))
    arguments = [*command, "batch", "wait", "j_1"]

    if term:
        assert on_terminal(arguments, {**environment, "TERM": term}, stderr=True) == (0, "")
    else:
        assert subprocess.run(arguments, env=environment, capture_output=True, check=True).stderr == b""


def test_the_bar_fits_the_terminal_and_counts_wide_characters_twice() -> None:
    body: Any = job("running", waiting("running", "https://日本語.example/" + "字" * 80))

    line = progress_line(body, 60)

    assert line.startswith(f"[{'-' * 24}] 0/1, target 0 runs: https://日")
    assert len(line) < 60


def test_a_reader_that_goes_away_is_no_error(server: Scripted, environment: Environment, command: list[str]) -> None:
    server.says(Said(200, envelope(content="line\n" * 500_000)))

    with subprocess.Popen(
        [*command, "fetch", "https://example.com/"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"line\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(10) == 0


def test_a_full_disk_is_an_error_of_one_line(server: Scripted, environment: Environment, command: list[str]) -> None:
    server.says(Said(200, envelope()))

    with open("/dev/full", "wb") as full:
        ran = subprocess.run(
            [*command, "fetch", "https://example.com/"],
            env=environment,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )

    assert (ran.returncode, ran.stderr) == (1, b"sift: stdout: no space left on device\n")


@pytest.mark.parametrize(
    "locale", [{"LC_ALL": "C"}, {"LC_ALL": "POSIX", "PYTHONUTF8": "0"}, {"PYTHONIOENCODING": "ascii"}]
)
def test_data_is_utf_8_in_every_locale(
    server: Scripted, environment: Environment, command: list[str], locale: dict[str, str], tmp_path: Path
) -> None:
    server.says(Said(200, envelope(content="é 日本")), Said(200, job("done", done(title="日本", content="é"))))
    environment = {**environment, "PYTHONCOERCECLOCALE": "0", **locale}

    got = subprocess.run([*command, "fetch", "https://é.example/"], env=environment, capture_output=True, check=True)
    subprocess.run([*command, "batch", "results", "j_1", "-o", str(tmp_path)], env=environment, check=True)

    assert got.stdout.decode() == "é 日本"
    assert (tmp_path / "00-日本.md").read_text() == "é"


def test_ctrl_c_ends_the_wait_and_not_the_job(server: Scripted, environment: Environment, command: list[str]) -> None:
    polling = _Polling()
    server.says(Said(200, job("running", waiting("running")), {"ETag": 'W/"1"'}), polling)

    with subprocess.Popen(
        [*command, "batch", "wait", "j_1"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        polling.until_asked()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=10)
    polling.let_go()

    assert (process.returncode, out) == (130, b"")
    assert b"sift batch wait j_1" in err
    assert b"Traceback" not in err
    assert {asked.method for asked in server.asked} == {"GET"}


class _Polling:
    """A long poll that is held until the test lets it go."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._free = threading.Event()

    def __call__(self, _: Asked) -> Said:
        self._asked.set()
        self._free.wait(10)
        return Said(304)

    def until_asked(self) -> None:
        assert self._asked.wait(10)

    def let_go(self) -> None:
        self._free.set()


@pytest.mark.parametrize("make_safe", [terminal.safe, terminal.line])
def test_no_steering_character_is_left(make_safe: Callable[[str], str]) -> None:
    everything = "".join(chr(code) for code in range(0xD800)) + "".join(map(chr, range(0xE000, 0x110000)))

    left = {char for char in make_safe(everything) if not char.isprintable() and char not in "\t\n"}

    assert not {char for char in left if unicodedata.category(char) == "Cc"}
    assert not {char for char in left if unicodedata.bidirectional(char) in ("LRE", "RLE", "LRO", "RLO", "PDF")}
    assert not {char for char in left if unicodedata.bidirectional(char) in ("LRI", "RLI", "FSI", "PDI")}
