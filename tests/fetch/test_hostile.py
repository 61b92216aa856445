"""Servers that drip, flood, bomb, lie, reset and hang: each costs one failed fetch, and no more than its deadline.

For each: the outcome, the time (the deadline and a second), this process's memory (64 MiB, the hostile server's own
included), the bytes taken from the peer (the cap and a MiB), and that slot, thread and descriptor are free again.
"""

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sift.clock import Deadline
from sift.errors import TargetError
from tests.support.hostile import Hostile
from tests.support.misbehaviour import KINDS, MIB, Case

ALL = [(kind, case) for kind, cases in KINDS.items() for case in cases]


@dataclass
class Measured:
    """What this process has when it is made, to compare with later."""

    descriptors: int = field(default_factory=lambda: len(os.listdir("/proc/self/fd")))
    resident: int = field(default_factory=lambda: status_kib("VmRSS"))

    def __post_init__(self) -> None:
        Path("/proc/self/clear_refs").write_text("5")  # VmHWM starts anew from what is resident now

    @property
    def grown_mib(self) -> float:
        return (status_kib("VmHWM") - self.resident) / 1024


def status_kib(name: str) -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.partition(f"{name}:")[2].split()[0])


def server_for(case: Case) -> Hostile:
    return Hostile(case.script, certificate=None if case.certificate == "raw" else case.certificate)


@pytest.mark.parametrize(("kind", "case"), ALL, ids=[f"{kind}:{case.name}" for kind, case in ALL])
def test_a_hostile_server_costs_one_fetch(kind: str, case: Case, net: Any, slots: Any) -> None:
    fetcher = net.fetcher(**case.config)
    before = Measured()
    with server_for(case) as server:
        net.sites = {443: server, 80: server}
        began = time.monotonic()
        outcome, text, body = fetched(fetcher, case, slots)
        took_s = time.monotonic() - began
        grown_mib = before.grown_mib
    sent = server.sent

    expected, part = case.fault or ("ok", "")
    assert outcome == expected
    assert part in text
    assert body == case.body
    assert took_s < case.deadline_s + 1
    assert grown_mib < 64
    assert sent < case.config["max_bytes"] + MIB
    assert slots.held is None
    assert slots.events == ["site.example.org", "-"]
    fetcher.close()
    assert len(os.listdir("/proc/self/fd")) == before.descriptors


def fetched(fetcher: Any, case: Case, slots: Any) -> tuple[str, str, bytes]:
    url = f"{'https' if case.certificate else 'http'}://site.example.org/"
    try:
        page = fetcher.get(url, deadline=Deadline(case.deadline_s), slots=slots)
    except TargetError as error:
        return error.outcome, str(error), b""
    return "ok", "", page.body


def test_there_are_enough_cases_of_each_kind() -> None:
    least = {"drips": 14, "floods": 16, "bombs": 13, "lies": 60, "ends": 20}

    assert {kind: len(cases) >= least[kind] for kind, cases in KINDS.items()} == dict.fromkeys(least, True)
