"""Reads the Prometheus text format: series by name and labels."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

Series = dict[tuple[str, frozenset[tuple[str, str]]], float]


def read(exposition: bytes) -> Series:
    """Every sample by its name and labels."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(exposition.decode())
        for sample in family.samples
    }


def kinds(exposition: bytes) -> dict[str, str]:
    """The type of every family, by the name that stands in its TYPE line."""
    lines = [line.split() for line in exposition.decode().splitlines() if line.startswith("# TYPE ")]
    return {name: kind for _, _, name, kind in lines}


def value(series: Series, name: str, **labels: str) -> float:
    """The value of one series; fails where there is none."""
    return series[name, frozenset(labels.items())]


def change(before: Series, after: Series, name: str, label: str) -> dict[str, float]:
    """By how much the series of `name` have grown, by the value of `label`; those that have not are left out."""
    grown: dict[str, float] = {}
    for (found, labels), now in after.items():
        moved = now - before.get((found, labels), 0.0)
        if found == name and moved:
            word = dict(labels)[label]
            grown[word] = grown.get(word, 0.0) + moved
    return grown
