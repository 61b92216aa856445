"""The agents' skill: its form, its links, and that what it tells an agent to type can be typed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import sift as sift_package
from sift.cli.command import sift
from sift.target import MODES, Outcome

SKILL = Path(sift_package.__file__).parent / "skill"
PAGES = sorted(SKILL.rglob("*.md"))
TEXT = (SKILL / "SKILL.md").read_text()
KEYS = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}


def _front_matter() -> dict[str, str]:
    """The keys at the start of their lines, each with its text, folded."""
    _, block, _ = TEXT.split("---\n", 2)
    found = re.findall(r"^([a-z-]+):[ ]*(?:>-\n)?((?:.*\n)(?:^[ ]+.*\n)*)", block, re.MULTILINE)
    return {key: " ".join(value.split()) for key, value in found}


def test_the_front_matter_is_that_of_an_agent_skill() -> None:
    front = _front_matter()

    assert set(front) <= KEYS
    assert front["name"] == "sift"
    assert 100 < len(front["description"]) <= 1024
    assert len(front["compatibility"]) <= 500
    assert not set("<>") & set(front["description"])


def test_the_skill_is_short_and_its_pages_are_shorter() -> None:
    assert len(TEXT.splitlines()) < 150
    assert all(len(page.read_text().splitlines()) < 150 for page in PAGES)


def test_every_link_leads_to_a_page_and_every_page_is_linked() -> None:
    links = re.findall(r"\]\(([^)]+)\)", TEXT)

    assert {SKILL / link for link in links} == {page for page in PAGES if page.name != "SKILL.md"}


def _lines(page: Path) -> Iterator[str]:
    """Every command line of the page: in a block of shell, or in backticks."""
    text = page.read_text()
    for block in re.findall(r"^ *```sh\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL):
        yield from (line.strip() for line in block.splitlines())
    yield from re.findall(r"`(sift [^`]+)`", text)


@pytest.mark.parametrize("line", sorted({line for page in PAGES for line in _lines(page)}))
def test_every_command_line_parses(line: str) -> None:
    arguments = shlex.split(line)
    assert arguments.pop(0) == "sift"
    command: click.Command = sift
    while isinstance(command, click.Group) and arguments:
        found = command.get_command(click.Context(command), arguments.pop(0))
        assert found is not None, line
        command = found
    if arguments:
        command.make_context(command.name, arguments)


def test_every_option_that_is_named_exists() -> None:
    known: set[str] = set()
    for path in (["fetch"], *(["batch", name] for name in ("submit", "status", "wait", "results", "cancel", "list"))):
        command: click.Command | None = sift
        for name in path:
            assert isinstance(command, click.Group)
            command = command.get_command(click.Context(command), name)
        assert command is not None
        known.update(option for parameter in command.params for option in parameter.opts)

    for page in PAGES:
        assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", page.read_text())) <= known, page


def test_every_outcome_and_mode_is_explained() -> None:
    outcomes = (SKILL / "references" / "outcomes.md").read_text()
    options = (SKILL / "references" / "options.md").read_text()

    for outcome in set(Outcome) - {Outcome.OK}:
        assert f"| `{outcome.value}` |" in TEXT
        assert f"- `{outcome.value}`." in outcomes
    assert all(f"`--mode {mode}`" in options for mode in MODES)


def test_what_is_no_outcome_of_a_fetch_but_a_reason_is_explained_too() -> None:
    outcomes = (SKILL / "references" / "outcomes.md").read_text()
    invalid = outcomes.partition("- `invalid`.")[2].partition("\n- ")[0]

    assert "| `restart` |" in TEXT
    assert "- `restart`." in outcomes
    assert "`malformed`" in invalid
    assert "`targets[2].jq`" in invalid


def test_a_private_address_is_never_to_be_opened_in_a_browser() -> None:
    assert "**Never open a `blocked` private address in a browser**" in TEXT
