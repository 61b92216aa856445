"""Batches of good and hostile targets, one after another: memory, threads and descriptors of the server stay flat.

python -m tests.soak.flat [BATCHES]        300 by default, of 5 targets each
"""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.hostile import Hostile
from tests.support.misbehaviour import KINDS
from tests.support.process import Process
from tests.support.site import Site, html

TARGETS = 5
AT_ONCE = 8
CONFIG = """
threads = 32
[gate]
global = 16
per_host = 10
per_caller = 8
reserve = 2
[fetch]
timeout = "300ms"
max_bytes = "256KiB"
[workers]
count = 3
timeout = "300ms"
memory = "512MiB"
[cache]
ttl = 0
[batch]
jobs_per_caller = 8
jobs_total = 8
max_bytes = "1MiB"
[log]
level = "info"
"""
PROGRAMS = ("def f: f; f", "[range(1e9)]", ".a", "last(range(1e12))", ".a.b.c", "env")


@dataclass(frozen=True)
class Reading:
    """What a server process holds: resident memory, its threads, its descriptors, the processes below it."""

    resident_mib: float
    threads: int
    descriptors: int
    processes: int


@dataclass
class Report:
    """Readings after the warm-up and at the end, and how all targets ended."""

    begin: Reading
    end: Reading
    outcomes: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        lines = [f"{'':12}{'begin':>10}{'end':>10}"]
        for name in ("resident_mib", "threads", "descriptors", "processes"):
            lines.append(f"{name:12}{getattr(self.begin, name):10.0f}{getattr(self.end, name):10.0f}")
        return "\n".join([*lines, "outcomes: " + ", ".join(f"{n} {word}" for word, n in self.outcomes.most_common())])


def reading(process: Process) -> Reading:
    pid = process.process.pid
    status = Path(f"/proc/{pid}/status").read_text()
    return Reading(
        resident_mib=int(status.partition("VmRSS:")[2].split()[0]) / 1024,
        threads=int(status.partition("Threads:")[2].split()[0]),
        descriptors=len(os.listdir(f"/proc/{pid}/fd")),
        processes=len(process.children()),
    )


def run(batches: int, directory: Path, *, warm_up: int) -> Report:
    """Runs so many batches through a server of its own, after a warm-up of some."""
    with ExitStack() as stack:
        urls = _targets(stack)
        process = Process(directory, _config(urls))
        stack.callback(process.close)
        process.wait_started()
        report = Report(reading(process), reading(process))
        _drain(process, urls, warm_up, report)
        report.begin = reading(process)
        report.outcomes.clear()
        _drain(process, urls, batches, report)
        report.end = reading(process)
        return report


def _targets(stack: ExitStack) -> list[dict[str, Any]]:
    """One target for each kind of server that there is in the clear, good ones and hard work between them."""
    site = Site({"/good": html("Good", "A page that can be read. " * 30)})
    site.pages["/data"] = (200, {"Content-Type": "application/json"}, b'{"a": 1}')
    site.pages["/deep"] = (200, {"Content-Type": "text/html"}, b"<div>" * 5_000)
    stack.callback(site.close)
    cases = [case for kind in KINDS.values() for case in kind if case.certificate is None]
    hostile = [stack.enter_context(Hostile(case.script)) for case in cases]
    programs = itertools.cycle(PROGRAMS)
    found: list[dict[str, Any]] = []
    for server in hostile:
        found += [{"url": server.url}, {"url": site.url("/good")}, {"url": server.url}]
        found += [{"url": site.url("/data"), "jq": next(programs)}, {"url": site.url("/deep")}]
    return found


def _config(urls: list[dict[str, Any]]) -> str:
    hosts = sorted({url["url"].split("/")[2] for url in urls})
    return CONFIG + f"[guard]\nallow = {hosts}\n"


def _drain(process: Process, urls: list[dict[str, Any]], batches: int, report: Report) -> None:
    """Keeps as many jobs live as there may be, until so many have ended."""
    rounds = itertools.cycle(range(0, len(urls) - TARGETS + 1, TARGETS))
    waiting = [_submitted(process, urls, next(rounds)) for _ in range(min(AT_ONCE, batches))]
    for number in range(batches):
        for target in _ended(process, waiting.pop(0)):
            report.outcomes[target.get("reason", "ok")] += 1
        if number + AT_ONCE < batches:
            waiting.append(_submitted(process, urls, next(rounds)))


def _submitted(process: Process, urls: list[dict[str, Any]], at: int) -> str:
    status, body = process.ask("POST", "/v1/batch", {"targets": urls[at : at + TARGETS], "fresh": True})
    assert status == 202, body
    return str(body["job_id"])


def _ended(process: Process, job_id: str) -> Iterator[dict[str, Any]]:
    while True:
        _, body = process.ask("GET", f"/v1/batch/{job_id}?wait=30&results=none")
        if body["status"] not in ("queued", "running"):
            yield from body["targets"]
            return


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        print(run(int(sys.argv[1]) if len(sys.argv) > 1 else 300, Path(directory), warm_up=100))
