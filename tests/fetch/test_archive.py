"""Copies from an archive: a stand-in that speaks the real wire shapes, its faults included."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from sift.clock import Clock, Deadline
from sift.config import FetchConfig, GuardConfig
from sift.errors import Busy, Cancelled
from sift.fetch import Archive, Fetcher, NoCopy
from sift.fetch.pace import Pace, TooOften
from sift.guard import Guard
from tests.support.hostile import Hostile, Peer, reply

URL = "http://gone.example.org/page?a=1"
COLUMNS = ["urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length"]
KEY = "org,example,gone)/page?a=1"
REPLAY = "/web/{}id_/" + URL


def row(timestamp: str, original: str = URL, status: str = "200") -> list[str]:
    return [KEY, timestamp, original, "text/html", status, "DIGEST", "1234"]


def index(*rows: list[str]) -> bytes:
    return reply(json.dumps([COLUMNS, *rows]).encode(), fields={"Content-Type": "application/json"})


@dataclass
class StandIn:
    """Answers the index with `index`, a replay by its path; counts the look-ups."""

    index: bytes = field(default_factory=lambda: index(row("20240102030405")))
    replays: dict[str, bytes] = field(default_factory=lambda: {REPLAY.format("20240102030405"): reply(b"<p>copy")})
    hangs: bool = False
    lookups: list[dict[str, list[str]]] = field(default_factory=list)

    def __call__(self, peer: Peer) -> None:
        target = peer.path()
        if self.hangs:
            peer.hang()
        if target.startswith("/cdx/search/cdx?"):
            self.lookups.append(parse_qs(urlsplit(target).query))
            peer.send(self.index)
        else:
            peer.send(self.replays.get(target, reply(status=404)))


@pytest.fixture
def stand_in() -> StandIn:
    return StandIn()


@pytest.fixture
def now() -> list[float]:
    """The archive's own clock, turned by hand."""
    return [5000.0]


@pytest.fixture
def archive(stand_in: StandIn, now: list[float], serve: Callable[..., Hostile]) -> Iterator[Archive]:
    site = serve(stand_in)
    fetcher = Fetcher(FetchConfig(), Guard(GuardConfig()))
    yield Archive(f"http://127.0.0.1:{site.port}/", fetcher, Clock(monotonic=lambda: now[0]))
    fetcher.close()


@pytest.fixture
def newest(archive: Archive, slots: Any) -> Callable[..., Any]:
    def ask(url: str = URL, seconds: float = 2.0) -> Any:
        return archive.newest(url, deadline=Deadline(seconds), slots=slots)

    return ask


def why(ask: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    with pytest.raises(NoCopy) as caught:
        ask(*args, **kwargs)
    return str(caught.value)


def test_the_newest_copy_comes_as_its_original_bytes(newest: Any, stand_in: StandIn) -> None:
    page = newest()

    assert page.body == b"<p>copy"
    assert (page.url, page.final_url) == (URL, URL)
    assert page.captured_at == "2024-01-02T03:04:05Z"
    assert page.archive_url.endswith(REPLAY.format("20240102030405"))
    assert stand_in.lookups == [
        {"url": [URL], "output": ["json"], "filter": ["statuscode:200"], "limit": ["-1"]},
    ]


def test_the_newest_of_several_that_were_answered_with_200_is_taken(newest: Any, stand_in: StandIn) -> None:
    stand_in.index = index(
        row("20200101000000"), row("20240102030405"), row("20250101000000", status="404"), row("20230101000000")
    )

    assert newest().captured_at == "2024-01-02T03:04:05Z"


def test_a_fragment_is_not_asked_for(newest: Any, stand_in: StandIn) -> None:
    newest(URL + "#part")

    assert stand_in.lookups[0]["url"] == [URL]


def test_a_capture_that_redirects_to_another_time_is_dated_by_where_it_ends(newest: Any, stand_in: StandIn) -> None:
    stand_in.replays = {
        REPLAY.format("20240102030405"): reply(status=302, fields={"Location": REPLAY.format("20240101000000")}),
        REPLAY.format("20240101000000"): reply(b"older"),
    }

    page = newest()

    assert (page.body, page.captured_at) == (b"older", "2024-01-01T00:00:00Z")


def test_a_redirect_to_a_page_of_the_archives_own_is_no_copy(newest: Any, stand_in: StandIn) -> None:
    toolbar = REPLAY.format("20240101000000").replace("id_", "")
    stand_in.replays = {
        REPLAY.format("20240102030405"): reply(status=302, fields={"Location": toolbar}),
        toolbar: reply(b"<p>banner"),
    }

    assert why(newest) == "the archive sent a page of its own"


@pytest.mark.parametrize("location", ["http://127.0.0.1:1/", "http://10.0.0.1/", "file:///etc/passwd"])
def test_a_redirect_out_of_the_archive_passes_the_guard(location: str, newest: Any, stand_in: StandIn) -> None:
    stand_in.replays = {REPLAY.format("20240102030405"): reply(status=302, fields={"Location": location})}

    assert why(newest) == "the archive gave no usable answer"


@pytest.mark.parametrize("status", [404, 500, 503, 504])
def test_a_capture_of_an_error_page_is_no_copy(status: int, newest: Any, stand_in: StandIn) -> None:
    stand_in.replays = {REPLAY.format("20240102030405"): reply(b"error", status=status)}

    assert why(newest) == f"the archive answered {status}"


def test_a_504_of_the_index_is_said_and_not_remembered(newest: Any, stand_in: StandIn) -> None:
    whole, stand_in.index = stand_in.index, reply(status=504)

    assert why(newest) == "the archive answered 504"
    stand_in.index = whole
    assert newest().body == b"<p>copy"


@pytest.mark.parametrize("body", [b"[]", b"", b"[]\n", json.dumps([COLUMNS]).encode()])
def test_nothing_archived_is_remembered_for_a_while(
    body: bytes, newest: Any, stand_in: StandIn, now: list[float]
) -> None:
    stand_in.index = reply(body)

    assert [why(newest), why(newest)] == ["the archive has no copy"] * 2
    assert len(stand_in.lookups) == 1
    now[0] += 901
    assert why(newest) == "the archive has no copy"
    assert len(stand_in.lookups) == 2


@pytest.mark.parametrize("body", [b"<html>", b"{}", b"[1, 2]", b"[" * 100_000, b"\xff\xfe", b'[["a"], null]'])
def test_an_index_that_answers_nonsense_is_said(body: bytes, newest: Any, stand_in: StandIn) -> None:
    stand_in.index = reply(body)

    assert why(newest) == "the archive gave no usable answer"


@pytest.mark.parametrize(
    "bad",
    [row("2024"), row("20249999999999"), row("２０２４0102030405"), row("20240102030405", ""), [KEY], [], [1, 2, 3]],
)
def test_a_row_that_makes_no_sense_is_passed_over(bad: list[str], newest: Any, stand_in: StandIn) -> None:
    stand_in.index = index(row("20240102030405"), bad)

    assert newest().body == b"<p>copy"


def test_an_archive_that_hangs_costs_the_deadline(newest: Any, stand_in: StandIn) -> None:
    stand_in.hangs = True
    began = Clock().monotonic()

    assert why(newest, seconds=0.3) == "the archive did not answer in time"
    assert Clock().monotonic() - began < 1.3


def test_a_cut_copy_is_no_copy(newest: Any, stand_in: StandIn) -> None:
    stand_in.replays = {REPLAY.format("20240102030405"): reply(b"half", length=9)}

    assert why(newest) == "the archive gave no usable answer"


class TestHowOften:
    def test_after_a_429_the_archive_is_left_alone_as_long_as_it_says(
        self, newest: Any, stand_in: StandIn, now: list[float]
    ) -> None:
        whole, stand_in.index = stand_in.index, reply(status=429, fields={"Retry-After": "600"})

        assert [why(newest), why(newest)] == ["the archive asked to be left alone for a while"] * 2
        assert len(stand_in.lookups) == 1
        stand_in.index = whole
        now[0] += 599
        why(newest)
        now[0] += 2
        assert newest().body == b"<p>copy"
        assert len(stand_in.lookups) == 2

    def test_a_429_without_a_word_is_a_minute_then_twice_that(
        self, newest: Any, stand_in: StandIn, now: list[float]
    ) -> None:
        stand_in.index = reply(status=429)

        for pause_s in (60, 120, 240):
            why(newest)
            asked = len(stand_in.lookups)
            now[0] += pause_s - 1
            why(newest)
            assert len(stand_in.lookups) == asked
            now[0] += 2

    def test_a_429_for_the_copy_counts_too(self, newest: Any, stand_in: StandIn) -> None:
        stand_in.replays = {REPLAY.format("20240102030405"): reply(status=429)}

        why(newest)
        why(newest)
        assert len(stand_in.lookups) == 1

    def test_no_pause_is_longer_than_an_hour(self, newest: Any, stand_in: StandIn, now: list[float]) -> None:
        whole, stand_in.index = stand_in.index, reply(status=429, fields={"Retry-After": "999999"})

        why(newest)
        stand_in.index = whole
        now[0] += 3601
        assert newest().body == b"<p>copy"

    def test_in_any_minute_there_are_24_turns_at_most(self, now: list[float]) -> None:
        pace = Pace(Clock(monotonic=lambda: now[0]))
        taken_at = []
        for _ in range(1200):
            with suppress(TooOften):
                pace.take(0.01)
                taken_at.append(now[0])
            now[0] += 0.25

        assert len(taken_at) > 95
        assert max(sum(start <= at < start + 60 for at in taken_at) for start in taken_at) <= 24

    def test_a_turn_is_due_where_the_one_before_leaves_off(self, now: list[float]) -> None:
        pace = Pace(Clock(monotonic=lambda: now[0]))

        assert [pace.take(100) for _ in range(7)] == [0, 0, 0, 0, 3, 6, 9]
        now[0] += 1000
        assert [pace.take(100) for _ in range(5)] == [0, 0, 0, 0, 3]

    def test_a_turn_that_comes_too_late_is_said_at_once(self, newest: Any, stand_in: StandIn) -> None:
        for _ in range(4):
            newest()

        assert why(newest) == "the archive has been asked too often just now"
        assert len(stand_in.lookups) == 4

    def test_a_turn_that_comes_in_time_is_waited_for(
        self, stand_in: StandIn, serve: Callable[..., Hostile], slots: Any
    ) -> None:
        fetcher, clock = Fetcher(FetchConfig(), Guard(GuardConfig())), Clock()
        archive = Archive(f"http://127.0.0.1:{serve(stand_in).port}", fetcher, clock, Pace(clock, every_s=0.1))
        began = clock.monotonic()

        for _ in range(7):
            archive.newest(URL, deadline=Deadline(5), slots=slots)
        fetcher.close()

        assert len(stand_in.lookups) == 7
        assert clock.monotonic() - began >= 0.2


class TestSlots:
    def test_the_archives_own_are_taken_for_both_requests(self, newest: Any, slots: Any) -> None:
        newest()

        assert slots.events == ["127.0.0.1", "-", "127.0.0.1", "-"]

    def test_a_gate_that_is_full_is_said(self, newest: Any, slots: Any) -> None:
        def busy(host: str) -> None:
            raise Busy("no slot")

        slots.at = busy

        assert why(newest) == "no slot was free for the archive"

    def test_a_stop_comes_through(self, archive: Archive, slots: Any) -> None:
        with pytest.raises(Cancelled):
            archive.newest(URL, deadline=Deadline(2, stopped=lambda: True), slots=slots)
