"""`fetch_target`: guard → gate → cache or fetch → recover → render … cap → envelope, one line a step.

What waits, waits here in the caller's thread: at gates (`gate`), on the wire (`fetch`), for a worker (`workers`).
"""

from __future__ import annotations

import hashlib
import threading
from dataclasses import replace
from typing import Any

import msgspec

from sift.clock import Clock, Deadline
from sift.config import Config
from sift.dcache import Store, partition
from sift.errors import (
    Internal,
    Invalid,
    TargetError,
    TimedOut,
    TooLong,
    Unreachable,
    Unsupported,
    UpstreamStatus,
)
from sift.fetch import Fetcher
from sift.gate import Gate, Ticket
from sift.guard import CheckedUrl, Guard
from sift.logs import Log
from sift.metrics import Metrics
from sift.pipeline import envelope, messages
from sift.target import Caller, Lane, Outcome, Page, Result, Target
from sift.workers import Pool

ORIGIN_SHARE = 2 / 3
"""Of the deadline, what the site itself gets where an archived copy would do."""
RECOVERABLE = frozenset({404, 410, 451})
_REFUSALS = {"unsupported": Unsupported, "invalid": Invalid, "too_long": TooLong}


class _Slots:
    """One target's slots, as `fetch` sees them; tells the lane when they are held for the first time."""

    def __init__(self, ticket: Ticket, lane: Lane) -> None:
        self._ticket = ticket
        self._lane = lane
        self._begun = False

    def at(self, host: str) -> None:
        """Holds slots of `host`; raises `Busy` or `Cancelled`."""
        self._ticket.at(host)
        self.begin()

    def begin(self) -> None:
        """Says once that the target starts; raises `Cancelled` where it must not."""
        if not self._begun:
            self._begun = True
            self._lane.begin()

    def free(self) -> None:
        """Gives back what is held."""
        self._ticket.free()


class Pipeline:
    """Everything that one target needs. Any thread may use it; it owns none."""

    def __init__(
        self,
        config: Config,
        guard: Guard,
        gate: Gate,
        fetcher: Fetcher,
        store: Store,
        pool: Pool,
        *,
        metrics: Metrics,
        log: Log,
        clock: Clock,
    ) -> None:
        self._config = config
        self._guard = guard
        self._gate = gate
        self._fetcher = fetcher
        self._cache = store.content
        self._pool = pool
        self._metrics = metrics
        self._log = log
        self._clock = clock
        self._aborted = threading.Event()
        # A guard that has become stricter must not be answered from what a laxer one let in.
        self._policy = hashlib.sha256(repr(config.guard).encode()).hexdigest()[:16]

    def fetch_target(self, caller: Caller, target: Target, lane: Lane) -> Result:
        """The result of one target; raises `TargetError`. Logs a line and counts the outcome, either way."""
        began = self._clock.monotonic()
        outcome, status, nbytes = Outcome.INTERNAL, None, 0
        try:
            result = self._steps(caller, target, lane, began)
            outcome, status = Outcome.OK, result.envelope["status"]
            nbytes = result.envelope["content_bytes"]
            return result
        except TargetError as error:
            outcome, status = error.outcome, error.status
            raise _without_used_hint(error, target) from None
        except Exception as error:  # the last resort: a fault of ours is this target's, and tells nothing
            self._log.fault("fetch_target", error)
            raise Internal from None
        finally:
            elapsed_s = self._clock.monotonic() - began
            self._metrics.fetch(outcome, elapsed_s - lane.waited_s)
            host = _host_of(target.url) if not caller.restricted else ""
            self._log.target(
                caller, lane, outcome, status=status, elapsed_ms=int(elapsed_s * 1000), nbytes=nbytes, host=host
            )

    def abort(self) -> None:
        """Ends every fetch under way: the grace of a stop is over."""
        self._aborted.set()

    def check_programs(self, programs: list[str]) -> list[str]:
        """For each jq program what is wrong with it, "" where nothing is known to be."""
        if not programs:
            return []
        try:
            answer = self._pool.call(messages.CHECK_PROGRAMS, msgspec.msgpack.encode(programs), lane="interactive")
        except TargetError:
            return [""] * len(programs)  # no worker now, or it died of one: the target itself will tell
        return msgspec.msgpack.decode(answer, type=list[str])

    def _steps(self, caller: Caller, target: Target, lane: Lane, began: float) -> Result:
        checked = self._guard.check_url(target.url)
        with self._gate.ticket(caller, lane) as ticket:
            slots = _Slots(ticket, lane)
            page, cached = self._page(caller, target, checked, lane, slots)
            slots.begin()  # a cached copy needs no slots, but a cancelled job gets nothing either
        done = self._work(page, target, lane)
        elapsed_ms = int((self._clock.monotonic() - began) * 1000)
        cap_bytes = self._config.fetch.output_cap_bytes
        return Result(envelope.build(target, page, done, cached=cached, elapsed_ms=elapsed_ms, cap_bytes=cap_bytes))

    def _page(
        self, caller: Caller, target: Target, checked: CheckedUrl, lane: Lane, slots: _Slots
    ) -> tuple[Page, bool]:
        """The page, and whether it came from the cache or was confirmed to be what the cache holds."""
        part = f"{partition(caller)} {self._policy}"
        known = self._cache.get(part, checked.url)
        if known is not None and self._is_fresh(known, target):
            self._metrics.cache_requests_total.labels("content", "hit").inc()
            return replace(known, url=target.url), True
        self._metrics.cache_requests_total.labels("content", "stale" if known else "miss").inc()
        page = self._fetch(target, known if target.max_age_s != 0 else None, lane, slots)
        confirmed = known is not None and page.body is known.body
        if confirmed:
            self._cache.touch(part, checked.url, page)
        else:
            self._store(part, checked.url, page)
        return page, confirmed

    def _fetch(self, target: Target, known: Page | None, lane: Lane, slots: _Slots) -> Page:
        timeout_s = self._config.fetch.timeout_s
        deadline = Deadline(timeout_s, self._clock.monotonic, self._aborted.is_set)

        def refresh(page: Page) -> str | None:
            asked = (page.final_url, page.headers.get("content-type"), page.body[: 256 << 10])
            found = self._pool.call(messages.REFRESH, msgspec.msgpack.encode(asked), lane=lane.name)
            return found.decode() or None

        return self._fetcher.get(target.url, deadline=deadline, slots=slots, known=known, refresh=refresh)

    def _work(self, page: Page, target: Target, lane: Lane) -> messages.Yield:
        if not page.body:
            return messages.Yield(media_type=_bare(page.headers.get("content-type")))
        wish = messages.Wish(
            url=page.final_url,
            content_type=page.headers.get("content-type"),
            body=page.body,
            mode=target.mode,
            pages=target.pages,
            jq=target.jq,
            grep=target.grep,
            question=target.question,
            context=target.context,
            cap_bytes=self._config.fetch.output_cap_bytes,
            digest_chars=self._config.digest.max_chars,
        )
        answer = self._pool.call(messages.PAGE, msgspec.msgpack.encode(wish), lane=lane.name)
        done = msgspec.msgpack.decode(answer, type=messages.Yield)
        if done.refused is not None:
            refusal = _REFUSALS.get(done.refused)
            if refusal is None:
                raise Internal
            raise refusal(done.why.removeprefix(f"{done.refused}: "), hint=done.hint)
        return done

    def _is_fresh(self, page: Page, target: Target) -> bool:
        ttl_s = self._config.cache.ttl_s
        limit_s = ttl_s if target.max_age_s is None else min(ttl_s, target.max_age_s)
        return limit_s > 0 and 0 <= self._clock.now() - page.fetched_at <= limit_s

    def _store(self, part: str, url: str, page: Page) -> None:
        if page.status == 200 and page.body and not _forbids_storing(page):
            self._cache.put(part, url, page)
        else:
            self._cache.delete(part, url)


def _forbids_storing(page: Page) -> bool:
    directives = page.headers.get("cache-control", "").lower().split(",")
    return any(directive.strip().partition("=")[0] == "no-store" for directive in directives)


def _without_used_hint(error: TargetError, target: Target) -> TargetError:
    used: dict[str, Any] = {"recover": target.recover, "jq": target.jq, "pages": target.pages, "grep": target.grep}
    if error.hint is not None and used.get(error.hint):
        error.hint = None
    return error


def _bare(content_type: str | None) -> str:
    return (content_type or "").partition(";")[0].strip().lower()


def _host_of(url: str) -> str:
    """The host as it was asked for, for the log; "" where there is none to be seen."""
    authority = url.partition("://")[2]
    for mark in "/?#\\":
        authority = authority.partition(mark)[0]
    return authority.rpartition("@")[2][:255]


__all__ = ["RECOVERABLE", "Pipeline", "TimedOut", "Unreachable", "UpstreamStatus"]
