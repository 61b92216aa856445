"""The commands that ask no server: `token`, `config`, `unit`, `skill`, `alerts`; and `serve` before it serves."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sift
from sift.config import load
from tests.support.scripted import Scripted

Run = Callable[..., Any]


def test_a_token_comes_once_with_a_block_that_lets_it_in(run: Run, tmp_path: Path) -> None:
    ran = run("token", "hermes", "--class", "restricted")

    token, _, block = ran.out.partition("\n\n")
    (tmp_path / "pasted.toml").write_text(block)
    [caller] = load(str(tmp_path / "pasted.toml"), {}).callers
    assert ran.code == 0
    assert (caller.name, caller.caller_class) == ("hermes", "restricted")
    assert caller.token_sha256 == (hashlib.sha256(token.encode()).hexdigest(),)
    assert len(token) >= 43
    assert token not in block
    assert token not in ran.err


def test_no_two_tokens_are_alike(run: Run) -> None:
    assert run("token", "a").out.split()[0] != run("token", "a").out.split()[0]


@pytest.mark.parametrize("name", ["", "Hermes", "a b", '"', "x" * 65, "-x", "a\nb"])
def test_a_name_that_the_config_would_refuse_gets_no_token(run: Run, name: str) -> None:
    ran = run("token", "--", name)

    assert (ran.code, ran.out) == (2, "")
    assert "it takes 1 to 64 of a-z" in ran.err


def test_the_config_is_printed_as_it_is_in_force(run: Run, tmp_path: Path) -> None:
    digest = "ab" * 32
    (tmp_path / "sift.toml").write_text(
        f'[server]\nport = 9000\n[[caller]]\nname = "hermes"\ntoken_sha256 = "{digest}"\n'
    )

    ran = run("config")

    shown = tomllib.loads(ran.out)
    assert (ran.code, shown["server"]["port"], shown["caller"][0]["name"]) == (0, 9000, "hermes")
    assert digest not in ran.out
    assert ran.err == "sift: sift.toml is good\n"


def test_the_defaults_are_a_config_too(run: Run) -> None:
    ran = run("config")

    assert tomllib.loads(ran.out)["gate"]["global"] == 8
    assert "no sift.toml was found" in ran.err


@pytest.mark.parametrize("command", ["config", "serve"])
def test_a_bad_config_is_one_line_and_exit_1(run: Run, tmp_path: Path, command: str) -> None:
    (tmp_path / "bad.toml").write_text("[gate]\nreserve = 8\n")

    ran = run(command, "--config", str(tmp_path / "bad.toml"))

    assert (ran.code, ran.out) == (1, "")
    assert ran.err == "sift: bad.toml: [gate] reserve: found 8; it takes less than [gate] global (8)\n"


@pytest.mark.parametrize("command", ["config", "serve"])
def test_an_open_host_without_a_caller_is_refused_before_anything_starts(
    run: Run, tmp_path: Path, command: str
) -> None:
    (tmp_path / "sift.toml").write_text(f'[server]\nhost = "0.0.0.0"\nport = 0\ndata_dir = "{tmp_path / "data"}"\n')

    ran = run(command)

    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("sift: [server] host 0.0.0.0 is open to others and there is no [[caller]]; sift token")


def test_the_config_says_where_the_server_is(run: Run, server: Scripted, tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text(f'[server]\nport = 1\ndata_dir = "{tmp_path}"\n')
    (tmp_path / "token").write_text("token")
    (tmp_path / "token").chmod(0o600)

    ran = run("batch", "list", "--config", "other.toml", SIFT_URL="", SIFT_TOKEN="")

    assert ran.err.startswith("sift: http://127.0.0.1:1 cannot be reached")


def test_the_skill_is_printed_as_it_stands(run: Run) -> None:
    ran = run("skill")

    assert ran.code == 0
    assert ran.out == (Path(sift.__file__).parent / "skill" / "SKILL.md").read_text()


def test_the_skill_is_installed_into_a_folder_of_its_name(run: Run, tmp_path: Path) -> None:
    ran = run("skill", "--install", "skills")

    assert ran.code == 0
    assert (tmp_path / "skills" / "sift" / "SKILL.md").is_file()
    assert "skills/sift/SKILL.md\n" in ran.out
    assert all((tmp_path / line).is_file() for line in ran.out.splitlines())


def test_a_folder_that_has_the_name_already_is_the_skills_own(run: Run, tmp_path: Path) -> None:
    run("skill", "--install", "skills/sift/")

    assert (tmp_path / "skills" / "sift" / "SKILL.md").is_file()


def test_an_installed_skill_that_was_edited_is_not_overwritten(run: Run, tmp_path: Path) -> None:
    run("skill", "--install", ".")
    (tmp_path / "sift" / "SKILL.md").write_text("mine")

    assert run("skill", "--install", ".").code == 1
    assert (tmp_path / "sift" / "SKILL.md").read_text() == "mine"
    assert run("skill", "--install", ".", "--force").code == 0


def test_an_unknown_file_is_a_usage_error_that_names_the_known(run: Run) -> None:
    ran = run("skill", "nothing.md")

    assert ran.code == 2
    assert "nothing.md is none of SKILL.md" in ran.err


@pytest.mark.parametrize(("command", "suffixes"), [("alerts", {".yml", ".json"})])
def test_what_an_operator_needs_is_printed_and_installed(
    run: Run, tmp_path: Path, command: str, suffixes: set[str]
) -> None:
    shown = run(command)
    installed = run(command, "--install", "put")

    files = sorted((tmp_path / "put").iterdir())
    assert (shown.code, installed.code) == (0, 0)
    assert suffixes <= {path.suffix for path in files}
    assert installed.out.splitlines() == [f"put/{path.name}" for path in files]
    for path in files:
        assert f"# {path.name}\n{path.read_text()}" in shown.out
        assert run(command, path.name).out == path.read_text()
