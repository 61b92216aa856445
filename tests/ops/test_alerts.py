"""The alert rules and the dashboard: Prometheus takes them, and they ask for nothing that the service does not show."""

import json
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from sift.metrics import Metrics
from tests.support.series import read

ALERTS = Path(str(files("sift").joinpath("ops", "alerts")))
RULES, DASHBOARD = ALERTS / "sift.rules.yml", ALERTS / "sift.dashboard.json"
WANTED = ("Stuck", "EvictedYoung", "Workers", "Disk", "Faults", "Starved")
SELECTOR = re.compile(r"(sift_\w+)(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)(=~|!~|!=|=)"((?:[^"\\]|\\.)*)"')
OF_PROMETHEUS = {"job", "instance"}
with_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is not installed (Debian: prometheus)"
)


def promtool(*words: str) -> None:
    done = subprocess.run(["promtool", *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


@with_promtool
def test_promtool_takes_the_rules() -> None:
    promtool("check", "rules", str(RULES))


@with_promtool
def test_every_alert_fires_on_what_it_is_for_and_not_on_what_comes_close() -> None:
    promtool("test", "rules", str(Path(__file__).with_name("sift.rules.test.yml")))


def test_every_alert_has_a_test() -> None:
    named = set(re.findall(r"- alert: (\w+)", RULES.read_text()))
    tested = set(re.findall(r"alertname: (\w+)", Path(__file__).with_name("sift.rules.test.yml").read_text()))

    assert named == tested
    assert all(any(word in name for name in named) for word in WANTED)


def panels() -> list[Any]:
    found: list[Any] = json.loads(DASHBOARD.read_text())["panels"]
    return found


def queries() -> list[str]:
    return [target["expr"] for panel in panels() for target in panel["targets"]]


def rule_queries() -> list[str]:
    """The expressions of the rules, folded lines joined."""
    return re.findall(r"expr: (?:>-\n)?(.*?)\n +(?:for|labels):", RULES.read_text(), re.DOTALL)


def known_labels(metrics: Metrics) -> dict[str, dict[str, set[str]]]:
    """Per series, per label, the values that are there from the start."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for name, labels in read(metrics.exposition()):
        found[name].update({})
        for label, word in labels:
            found[name][label].add(word)
    return found


def asked(text: str) -> Iterator[tuple[str, str, str, str]]:
    """Every series in an expression with each of its matchers: name, label, operator, value."""
    for name, inside in SELECTOR.findall(text):
        yield name, "", "", ""
        for label, operator, word in MATCHER.findall(inside or ""):
            yield name, label, operator, word


def test_queries_and_rules_name_series_labels_and_values_that_exist(metrics: Metrics) -> None:
    known = known_labels(metrics)

    assert len(queries()) > 20
    assert len(rule_queries()) >= 10
    for text in (*queries(), *rule_queries()):
        for name, label, operator, word in asked(text):
            assert name in known, text
            if not label or label in OF_PROMETHEUS:
                continue
            pattern = re.compile(word.replace("\\\\", "\\") if "~" in operator else re.escape(word))
            assert any(pattern.fullmatch(value) for value in known[name][label]), f"{label} in {text}"


def test_the_dashboard_shows_every_series(metrics: Metrics) -> None:
    families = {name.removesuffix("_bucket") for name in known_labels(metrics) if not name.endswith(("_sum", "_count"))}
    shown = {name.removesuffix("_bucket") for text in queries() for name, *_ in asked(text)}

    assert shown == families


def test_the_first_panel_is_what_the_service_is_for() -> None:
    first = panels()[0]

    assert first["title"] == "Interactive fetches beside batch targets and submits"
    assert (first["gridPos"]["x"], first["gridPos"]["y"]) == (0, 0)
    assert [target["legendFormat"] for target in first["targets"]] == [
        "interactive fetches",
        "batch targets",
        "submits",
    ]


def test_no_two_panels_lie_on_one_another() -> None:
    taken = [
        (x, y)
        for grid in (panel["gridPos"] for panel in panels())
        for x in range(grid["x"], grid["x"] + grid["w"])
        for y in range(grid["y"], grid["y"] + grid["h"])
    ]

    assert len(taken) == len(set(taken))
    assert max(x for x, _ in taken) == 23


@with_promtool
def test_prometheus_can_parse_every_query_of_the_dashboard(tmp_path: Path) -> None:
    rules = [
        {"record": f"q:{number}", "expr": text.replace("$__rate_interval", "5m").replace("$instance", ".*")}
        for number, text in enumerate(queries())
    ]
    file = tmp_path / "queries.json"  # JSON is YAML
    file.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))

    promtool("check", "rules", str(file))
