"""The values that are passed around: callers, targets, pages, results, and the words for how a target ended.

Values only: what is done with them lives in the rooms above.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Outcome(StrEnum):
    """One word for how a target ended; a metric label and the first word of an error's text."""

    OK = "ok"
    BLOCKED = "blocked"
    TIMEOUT = "timeout"
    BUSY = "busy"
    UPSTREAM_4XX = "upstream_4xx"
    UPSTREAM_5XX = "upstream_5xx"
    UNSUPPORTED = "unsupported"
    TOO_LONG = "too_long"
    CANCEL = "cancel"
    UNREACHABLE = "unreachable"
    INVALID = "invalid"
    INTERNAL = "internal"


MODES = ("clean", "full", "raw", "links")
INTERACTIVE = "interactive"
BATCH = "batch"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks. `restricted` callers leave no trace in logs and have a cache partition of their own."""

    name: str
    restricted: bool = False

    @property
    def caller_class(self) -> str:
        """`"standard"` or `"restricted"`, as config and store spell it."""
        return "restricted" if self.restricted else "standard"


@dataclass(frozen=True, slots=True)
class Target:
    """One URL with its options: the unit of work of every endpoint. `None` means not asked for.

    `max_age_s`: how old a cached copy may be; `None` is the cache's own TTL, `0` fetches anew.
    """

    url: str
    mode: str = "clean"
    question: str | None = None
    pages: str | None = None
    grep: str | None = None
    jq: str | None = None
    context: bool = False
    recover: bool = False
    max_age_s: float | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """One complete answer of a site: status 200-299, decoded of its content codings, not of its charset.

    `headers` has lower-case names and the last value of each. `fetched_at` is epoch seconds: when it
    came, or was last revalidated. `archive_url` and `captured_at` (RFC 3339) are set on an archived copy.
    """

    url: str
    final_url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    fetched_at: float
    archive_url: str | None = None
    captured_at: str | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """How a target that came through ended: the envelope, ready to be serialized as JSON."""

    envelope: Mapping[str, Any]


def _nothing() -> None:
    return None


def _never() -> bool:
    return False


@dataclass(slots=True)
class Lane:
    """The lane a target travels in, and what its driver wants to be asked on the way.

    `wait_s` is how long it waits at gates in all, `None` as long as it takes. `begin` is called once, when
    the target holds its slots (or needs none), before anything is dialled; it raises `Cancelled` where the
    target must not start any more. `stopped` is looked at least twice a second during every wait.
    `waited_s` is what the gates have taken so far. `job_id` and `idx` are set for a batch's target.
    """

    name: str = INTERACTIVE
    wait_s: float | None = 0.0
    begin: Callable[[], None] = _nothing
    stopped: Callable[[], bool] = _never
    waited_s: float = 0.0
    job_id: str | None = None
    idx: int | None = None
