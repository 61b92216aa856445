"""The newest archived copy of a page that is gone: a look-up in the archive's index, then the original bytes.

Whether a copy may be asked for, and what becomes of the first error, is the pipeline's.
"""

from __future__ import annotations

import json
import re
import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from sift.clock import Clock, Deadline, rfc3339
from sift.errors import Busy, Cancelled, TargetError, TimedOut, UpstreamStatus
from sift.fetch.fetcher import Fetcher, Slots
from sift.fetch.pace import Pace, Paused, TooOften
from sift.fetch.patience import check, slice_s
from sift.guard.url import read_url
from sift.target import Page

REMEMBER_S, MOST_REMEMBERED = 900.0, 2048
"""How long "no copy" is remembered, and of how many pages."""
MOST_INDEX_BYTES = 1024 * 1024

_LEFT_ALONE = "the archive asked to be left alone for a while"
_TIMESTAMP = re.compile(r"[0-9]{14}", re.ASCII)
_CAPTURE = re.compile(r"/web/([0-9]{14})id_/(.+)", re.ASCII | re.DOTALL)


class NoCopy(Exception):
    """There is no copy to be had; the text says why, to stand after the first error: `the archive has no copy`."""


@dataclass(frozen=True, slots=True)
class _Capture:
    timestamp: str
    original: str


class Archive:
    """Asks one archive, for any thread, and no more often than it allows."""

    def __init__(self, url: str, fetcher: Fetcher, clock: Clock, pace: Pace | None = None) -> None:
        self._base = read_url(url).url.rstrip("/")
        self._fetcher = fetcher.for_service(url)
        self._clock = clock
        self._pace = pace or Pace(clock)
        self._lock = threading.Lock()  # guards _without
        self._without: OrderedDict[bytes, float] = OrderedDict()

    def newest(self, url: str, *, deadline: Deadline, slots: Slots) -> Page:
        """The newest copy that was answered with 200; `archive_url` and `captured_at` are set, `final_url` is the
        address it was captured at. Raises NoCopy and Cancelled, nothing else.
        """
        key = sha256(url.encode()).digest()
        self._check_remembered(key)
        try:
            self._await_turn(deadline)
            capture = self._look_up(url, deadline, slots)
            if capture is None:
                self._remember(key)
                raise NoCopy("the archive has no copy")
            return self._copy(url, capture, deadline, slots)
        except Cancelled:
            raise
        except TargetError as error:
            raise NoCopy(self._reason(error)) from None

    def _look_up(self, url: str, deadline: Deadline, slots: Slots) -> _Capture | None:
        query = f"url={quote(url.partition('#')[0], safe='')}&output=json&filter=statuscode:200&limit=-1"
        answer = self._fetcher.get(f"{self._base}/cdx/search/cdx?{query}", deadline=deadline, slots=slots)
        self._pace.answered()
        captures = _captures(answer.body)
        return max(captures, key=lambda capture: capture.timestamp, default=None)

    def _copy(self, url: str, capture: _Capture, deadline: Deadline, slots: Slots) -> Page:
        address = f"{self._base}/web/{capture.timestamp}id_/{capture.original}"
        page = self._fetcher.get(address, deadline=deadline, slots=slots)
        # The archive may redirect to another time; without `id_` it would be a page of the archive's own making.
        match = _CAPTURE.fullmatch(page.final_url.removeprefix(self._base))
        captured_at = _captured_at(match[1]) if match else None
        if match is None or captured_at is None:
            raise NoCopy("the archive sent a page of its own")
        return replace(page, url=url, final_url=match[2], archive_url=page.final_url, captured_at=captured_at)

    def _await_turn(self, deadline: Deadline) -> None:
        """Waits for a look-up to be free; says NoCopy at once where the deadline would be over before."""
        check(deadline)
        try:
            turn_at = deadline.monotonic() + self._pace.take(deadline.left())
        except Paused:
            raise NoCopy(_LEFT_ALONE) from None
        except TooOften:
            raise NoCopy("the archive has been asked too often just now") from None
        silence = threading.Event()
        while (left := turn_at - deadline.monotonic()) > 0:
            silence.wait(min(left, slice_s(deadline)))

    def _reason(self, error: TargetError) -> str:
        if isinstance(error, UpstreamStatus) and error.status == 429:
            self._pace.pause(error.retry_after_s)
            return _LEFT_ALONE
        if isinstance(error, UpstreamStatus):
            return f"the archive answered {error.status}"
        if isinstance(error, TimedOut):
            return "the archive did not answer in time"
        if isinstance(error, Busy):
            return "no slot was free for the archive"
        return "the archive gave no usable answer"

    def _check_remembered(self, key: bytes) -> None:
        with self._lock:
            if self._without.get(key, 0.0) > self._clock.monotonic():
                raise NoCopy("the archive has no copy")

    def _remember(self, key: bytes) -> None:
        with self._lock:
            self._without[key] = self._clock.monotonic() + REMEMBER_S
            self._without.move_to_end(key)
            if len(self._without) > MOST_REMEMBERED:
                self._without.popitem(last=False)


def _captures(body: bytes) -> list[_Capture]:
    """The captures that an index answer lists: a row of column names, then a row each; `[]` or nothing for none."""
    try:
        rows: Any = json.loads(body or b"[]") if len(body) <= MOST_INDEX_BYTES else []
    except (ValueError, RecursionError):
        raise NoCopy("the archive gave no usable answer") from None
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise NoCopy("the archive gave no usable answer")
    named = [dict(zip(rows[0], row, strict=False)) for row in rows[1:] if all(isinstance(cell, str) for cell in row)]
    listed = [row for row in named if row.get("original") and row.get("statuscode", "200") == "200"]
    return [_Capture(row["timestamp"], row["original"]) for row in listed if _captured_at(row.get("timestamp", ""))]


def _captured_at(timestamp: str) -> str | None:
    """RFC 3339 for the archive's 14 digits; `None` where they are none, or no time."""
    if not _TIMESTAMP.fullmatch(timestamp):
        return None
    try:
        return rfc3339(datetime.strptime(timestamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp())
    except (ValueError, OverflowError):
        return None
