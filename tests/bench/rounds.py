"""Paired measuring: two things by turns in every round, the median of the rounds' ratios; and the table of a question.

What is measured is not known here.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Options:
    """`shared` holds real pages, `peers` is a virtual environment; `None` where there is none."""

    shared: Path | None
    rounds: int
    peers: Path | None


@dataclass(frozen=True)
class Pair:
    """Medians of two figures over the rounds, and of their ratios; `spread` is the ratios' lowest and highest."""

    ours: float
    theirs: float
    ratio: float
    spread: tuple[float, float]


def paired(rounds: int, ours: Callable[[], float], theirs: Callable[[], float]) -> Pair:
    """Both measured once a round, the first one of them by turns."""
    found = []
    for number in range(rounds):
        if number % 2:
            second = theirs()
            found.append((ours(), second))
        else:
            first = ours()
            found.append((first, theirs()))
    return pair_of(found)


def pair_of(found: Sequence[tuple[float, float]]) -> Pair:
    """What the rounds say together."""
    ratios = [mine / other for mine, other in found]
    return Pair(
        statistics.median(mine for mine, _ in found),
        statistics.median(other for _, other in found),
        statistics.median(ratios),
        (min(ratios), max(ratios)),
    )


def seconds(work: Callable[[], object]) -> float:
    """How long `work` takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def median_s(count: int, work: Callable[[], object]) -> float:
    """The median of `count` runs."""
    return statistics.median(seconds(work) for _ in range(count))


def p99(samples: Sequence[float]) -> float:
    """The 99th percentile: of 1,000 samples the 990th."""
    return sorted(samples)[max(0, -(-len(samples) * 99 // 100) - 1)]


def ms(value_s: float) -> str:
    """Seconds as milliseconds, with as many digits as mean something."""
    value = value_s * 1000
    return f"{value:.0f} ms" if value >= 100 else f"{value:.1f} ms" if value >= 10 else f"{value:.2f} ms"


def row(what: str, pair: Pair, against: str, most: float | None, *, shown: Callable[[float], str] = ms) -> list[str]:
    """One line of a question's table."""
    verdict = "" if most is None else "met" if pair.ratio <= most else "missed"
    spread = f"{pair.spread[0]:.2f} to {pair.spread[1]:.2f}"
    target = "" if most is None else f"≤ {most:g}x"
    return [what, shown(pair.ours), f"{against}: {shown(pair.theirs)}", f"{pair.ratio:.2f}x", spread, target, verdict]


HEAD = ("what", "figure", "against", "ratio", "rounds", "target", "")


def show(title: str, rows: Sequence[Sequence[str]], head: Sequence[str] = HEAD) -> None:
    """Prints a Markdown table under its title."""
    widths = [max(len(str(line[at])) for line in (head, *rows)) for at in range(len(head))]
    print(f"\n{title}\n")
    for line in (head, ["-" * width for width in widths], *rows):
        print("| " + " | ".join(str(cell).ljust(width) for cell, width in zip(line, widths, strict=True)) + " |")


def leave_out(title: str, what: str) -> None:
    """Says that something was not measured since it is not installed."""
    print(f"\n{title}: left out, {what} is not installed")
