"""Every verdict of `verdicts.tsv`, through the code that fetches: what is refused is never dialled."""

import json
import socket
import ssl
from dataclasses import dataclass
from pathlib import Path

import pytest

from sift.clock import Deadline
from sift.config import FetchConfig, GuardConfig
from sift.errors import Blocked, TargetError, Unreachable
from sift.fetch import Fetcher
from sift.fetch.connector import Connector
from sift.fetch.lookup import Lookups
from sift.guard import Guard
from sift.target import Outcome


@dataclass(frozen=True)
class Case:
    verdict: str
    url: str
    answer: list[str] | None
    why: str


def read_cases() -> list[Case]:
    lines = Path(__file__).with_name("verdicts.tsv").read_text(encoding="utf-8").splitlines()
    cases = []
    for line in lines:
        if line and not line.startswith("#"):
            verdict, url, answer, why = line.split("\t")
            addresses = None if answer == "-" else [] if answer == "none" else answer.split(",")
            cases.append(Case(verdict, json.loads(url), addresses, why))
    return cases


class Slots:
    def at(self, host: str) -> None:
        pass

    def free(self) -> None:
        pass


def fetch(case: Case) -> tuple[TargetError, list[str]]:
    """How the fetch ends where every dial is refused, and what was dialled."""
    dialled: list[str] = []

    def resolve(host: str, port: int) -> list[str]:
        assert case.answer is not None, "a name was looked up that must be judged without DNS"
        return case.answer

    def dial(address: str, port: int, timeout_s: float) -> socket.socket:
        dialled.append(address)
        raise ConnectionRefusedError

    connector = Connector(FetchConfig(), Lookups(resolve), dial, NO_TLS)
    fetcher = Fetcher(FetchConfig(), Guard(GuardConfig()), connector=connector)
    try:
        with pytest.raises(TargetError) as caught:
            fetcher.get(case.url, deadline=Deadline(5), slots=Slots())
    finally:
        fetcher.close()
    return caught.value, dialled


CASES = read_cases()
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 330


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.verdict}:{case.why}")
def test_the_verdict_holds_on_the_way_to_the_dial(case: Case) -> None:
    error, dialled = fetch(case)

    if case.verdict == "allow":
        assert isinstance(error, Unreachable)
        assert dialled
    elif case.verdict != "open":
        assert not dialled
        assert error.outcome == (Outcome.UNREACHABLE if case.answer == [] else Outcome.BLOCKED)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.verdict}:{case.why}")
def test_the_pre_check_decides_from_the_url_alone(case: Case) -> None:
    guard = Guard(GuardConfig())

    if case.verdict == "precheck":
        with pytest.raises(Blocked, match=r"^blocked: "):
            guard.check_url(case.url)
    elif case.verdict in ("connect", "allow"):
        guard.check_url(case.url)
