"""What README promises is what the code does: commands, settings, outcomes, exit codes, series."""

import dataclasses
import re
from pathlib import Path

from prometheus_client import CollectorRegistry

from sift.api.errors import STATUS_OF_OUTCOME
from sift.cli import exits
from sift.config import CallerConfig
from sift.config.tables import TABLES
from sift.metrics import Metrics
from sift.target import MODES, Outcome

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def rows(heading: str) -> list[list[str]]:
    """The cells of the table whose head row begins with `heading`."""
    lines = README[README.index(f"| {heading} |") :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def words(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_it_is_read_at_one_sitting() -> None:
    assert len(README.splitlines()) <= 400


def test_the_second_command_is_what_ci_runs() -> None:
    commands = re.findall(r"^    (\S.*)$", README, re.MULTILINE)

    assert commands[0].endswith("sift demo")
    assert commands[1] in (ROOT / ".ci" / "run").read_text()


def test_every_setting_is_named() -> None:
    found = {words(table)[0].strip("[]"): words(keys) for table, keys in rows("table")}

    assert set(found) == {*TABLES, "caller"}
    for table, kind in TABLES.items():
        assert found[table] == [f.metadata["key"] for f in dataclasses.fields(kind)]
    assert found["caller"][:3] == [f.metadata["key"] for f in dataclasses.fields(CallerConfig)]


def test_every_outcome_has_its_status() -> None:
    found = {words(outcome)[0]: int(status) for outcome, _, status in rows("outcome")}

    assert found == {outcome.value: STATUS_OF_OUTCOME[outcome] for outcome in Outcome}


def test_every_option_and_mode_is_explained() -> None:
    found = {words(option)[0]: text for option, text in rows("option")}

    assert set(found) == {"mode", "question", "grep", "jq", "pages", "context", "recover", "max_age"}
    assert set(words(found["mode"])) == set(MODES)


def test_every_exit_status_is_named() -> None:
    sentence = README[README.index("The command's exit status:") :].split("\n\n")[0]

    assert {int(number) for number in re.findall(r"\b(\d+) ", sentence)} == set(exits.MEANINGS)


def test_every_series_is_named() -> None:
    registry = CollectorRegistry()
    Metrics(registry)
    suffix = {"counter": "_total"}
    series = {f"{family.name}{suffix.get(family.type, '')}" for family in registry.collect()}

    assert {words(name)[0].partition("{")[0] for name, _ in rows("series")} == series


def test_every_dependency_has_its_line() -> None:
    setup = (ROOT / "setup.cfg").read_text()
    required = re.findall(
        r"^    ([a-z0-9.-]+)>?=?", setup.partition("install_requires =\n")[2].partition("\n\n")[0], re.M
    )

    assert {name for cell, _ in rows("package") for name in words(cell)} == set(required)


def test_no_path_of_any_machine_stands_in_it() -> None:
    assert not re.search(r"/(work|root|home|tmp)/", README)
