"""The command as a whole: its help, its names, its completion, and how fast it starts."""

from __future__ import annotations

import os
import re
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from sift.cli import exits
from sift.cli.command import sift
from tests.support.answers import TOKEN, envelope, job
from tests.support.scripted import Said, Scripted

Run = Callable[..., Any]
Environment = dict[str, str]


def _commands(group: click.Group, prefix: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield (*prefix, name), command
        if isinstance(command, click.Group):
            yield from _commands(command, (*prefix, name))


COMMANDS = dict(_commands(sift))


def test_every_command_of_the_contract_is_there() -> None:
    names = {" ".join(path) for path in COMMANDS}

    assert names == {
        *("serve", "fetch", "batch", "token", "config", "unit", "skill", "alerts", "mcp", "demo"),
        *("batch submit", "batch status", "batch wait", "batch results", "batch cancel", "batch list"),
    }


def test_every_help_has_examples_that_parse(run: Run) -> None:
    for path in [(), *COMMANDS]:
        examples = re.findall(r"^ {4}(?:.*\| )?(sift .*?)(?: [|>] .*)?$", run(*path, "--help").out, re.MULTILINE)
        assert examples, path
        for example in examples:
            _parse(shlex.split(example)[1:])


def _parse(arguments: list[str]) -> None:
    """Follows the groups to the command and lets it read its arguments; runs nothing."""
    command: click.Command = sift
    while isinstance(command, click.Group):
        found = command.get_command(click.Context(command), arguments.pop(0))
        assert found is not None
        command = found
    command.make_context(command.name, arguments, resilient_parsing=False)


def test_no_command_at_all_shows_the_help_and_is_a_usage_error(run: Run) -> None:
    for arguments in ([], ["batch"]):
        ran = run(*arguments)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.startswith("Usage: sift")


@pytest.mark.parametrize("arguments", [["fetsh"], ["batch", "stat"], ["fetch"], ["batch", "status"], ["--nope"]])
def test_a_wrong_line_is_exit_2_and_says_where_help_is(run: Run, arguments: list[str]) -> None:
    ran = run(*arguments)

    assert (ran.code, ran.out) == (2, "")
    assert "--help shows how it is called" in ran.err


TIMES = (
    ("batch", "wait", "j_1", "--timeout"),
    ("batch", "submit", "https://a.example/", "--wait", "--timeout"),
    ("batch", "submit", "https://a.example/", "--busy-timeout"),
    ("fetch", "https://a.example/", "--busy-timeout"),
    ("fetch", "https://a.example/", "--max-age"),
)


@pytest.mark.parametrize("line", TIMES, ids=" ".join)
def test_a_time_is_a_finite_number_of_seconds(run: Run, server: Scripted, line: tuple[str, ...]) -> None:
    for value in ("nan", "inf", "-inf", "1e400", "-1", "soon", ""):
        ran = run(*line, value)

        assert (ran.code, ran.out) == (2, "")
        assert line[-1] in ran.err
        assert "it takes seconds: a finite number, 0 or more" in ran.err
    assert server.asked == []


NOT_UTF8 = "https://caf\udce9.example/"  # as the interpreter reads the byte E9
BROKEN = {
    "'URL'": ("fetch", NOT_UTF8),
    "'--grep'": ("fetch", "https://a.example/", "--grep", NOT_UTF8),
    "'--url'": ("batch", "list", "--url", NOT_UTF8),
    "'ID'": ("batch", "status", NOT_UTF8),
    "URL: ": ("batch", "submit", "https://a.example/", NOT_UTF8),
}


@pytest.mark.parametrize("named", BROKEN)
def test_an_argument_that_is_not_utf8_is_a_usage_error_that_names_it(run: Run, server: Scripted, named: str) -> None:
    ran = run(*BROKEN[named])

    assert (ran.code, ran.out) == (2, "")
    assert named in ran.err
    assert "'https://caf\\udce9.example/' is not UTF-8" in ran.err
    assert server.asked == []


def test_an_argument_in_utf8_is_text_in_a_locale_that_knows_no_utf8(
    server: Scripted, environment: Environment, command: list[str]
) -> None:
    server.says(Said(200, envelope()))
    environment = {**environment, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}

    subprocess.run([*command, "fetch", "https://é.example/"], env=environment, capture_output=True, check=True)

    assert server.asked[0].json == {"url": "https://é.example/"}


@pytest.mark.parametrize("line", [["--help"], ["--version"], ["batch", "--help"], ["fetch", "--help"]], ids=" ".join)
def test_help_for_a_reader_that_has_gone_is_no_error(
    environment: Environment, command: list[str], line: list[str]
) -> None:
    reading, writing = os.pipe()
    os.close(reading)

    ran = subprocess.run([*command, *line], env=environment, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)

    assert (ran.returncode, ran.stderr) == (0, b"")


@pytest.mark.parametrize("line", [["config"], ["--help"]], ids=" ".join)
def test_a_full_disk_is_said_and_no_file_is_made_up(
    environment: Environment, command: list[str], line: list[str]
) -> None:
    with open("/dev/full", "wb") as full:
        ran = subprocess.run([*command, *line], env=environment, stdout=full, stderr=subprocess.PIPE, check=False)

    assert ran.returncode == 1
    assert ran.stderr.decode() in ("sift: stdout: no space left on device\n", "sift: no space left on device\n")


def test_the_help_names_every_exit_code(run: Run) -> None:
    text = run("--help").out

    assert all(re.search(rf"\b{code} ", text) for code in exits.MEANINGS)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_there_for_three_shells(environment: Environment, command: list[str], shell: str) -> None:
    if shell == "bash":  # click asks bash for its version
        environment = {**environment, "PATH": os.environ["PATH"]}

    got = subprocess.run(
        command, env={**environment, "_SIFT_COMPLETE": f"{shell}_source"}, capture_output=True, text=True, check=False
    )

    assert "_SIFT_COMPLETE" in got.stdout
    assert "sift" in got.stdout


def test_completion_knows_the_commands_and_their_options(environment: Environment, command: list[str]) -> None:
    def complete(*words: str) -> list[str]:
        asked = {"_SIFT_COMPLETE": "bash_complete", "COMP_WORDS": "\n".join(words), "COMP_CWORD": str(len(words) - 1)}
        ran = subprocess.run(command, env={**environment, **asked}, capture_output=True, text=True, check=False)
        return [line.partition(",")[2] for line in ran.stdout.splitlines()]

    assert complete("sift", "ba") == ["batch"]
    assert complete("sift", "batch", "s") == ["submit", "status"]
    assert complete("sift", "fetch", "--mode", "c") == ["clean"]


def test_a_status_loads_nothing_that_is_slow_to_load(server: Scripted, environment: Environment) -> None:
    server.says(Said(200, job()))
    code = (
        "import sys\nfrom sift.cli.run import run\n"
        "run(['batch', 'status', 'j_1'])\nprint(*sys.modules, file=sys.stderr)"
    )

    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)

    loaded = set(ran.stderr.split())
    slow = {"requests", "flask", "lxml", "urllib3", "msgspec", "http.client", "email", "ssl", "sift.config"}
    assert "sift.cli.batch" in loaded
    assert not slow & loaded


@pytest.mark.parametrize("told_by", ["environment", "sift.toml"])
def test_a_status_takes_no_longer_than_eight_bare_pythons(
    server: Scripted, environment: Environment, command: list[str], tmp_path: Path, told_by: str
) -> None:
    server.says(Said(200, job()))
    environment = {**environment, "PYTHONPYCACHEPREFIX": str(tmp_path / "pyc")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if told_by == "sift.toml":
        environment |= {"SIFT_URL": "", "SIFT_TOKEN": "", "SIFT_CONFIG": _config(tmp_path, server)}
    bare, status = [], []
    for _ in range(11):
        bare.append(_seconds([sys.executable, "-c", "pass"], environment))
        status.append(_seconds([*command, "batch", "status", "j_1"], environment))

    assert statistics.median(status) < 8 * statistics.median(bare)


def _config(folder: Path, server: Scripted) -> str:
    (folder / "token").write_text(TOKEN)
    (folder / "token").chmod(0o600)
    (folder / "sift.toml").write_text(f'[server]\nport = {server.url.rpartition(":")[2]}\ndata_dir = "{folder}"\n')
    return str(folder / "sift.toml")


def _seconds(command: list[str], environment: Environment) -> float:
    began = time.perf_counter()
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began
