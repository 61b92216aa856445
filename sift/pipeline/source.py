"""Where a page comes from: the cache, the site, or an archive's copy.

What is then made of it is not known here.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import msgspec

from sift.clock import Clock, Deadline
from sift.config import Config
from sift.dcache import ContentCache, partition
from sift.errors import TargetError, TimedOut, Unreachable, UpstreamStatus
from sift.fetch import Archive, Fetcher, NoCopy
from sift.gate import Ticket
from sift.guard import CheckedUrl
from sift.metrics import Metrics
from sift.pipeline import messages
from sift.target import Caller, Lane, Outcome, Page, Target
from sift.workers import Pool

ORIGIN_SHARE = 2 / 3
"""Of the deadline, what the site itself gets where an archived copy would do."""
RECOVERABLE = frozenset({404, 410, 451})


@dataclass(frozen=True, slots=True)
class Arrival:
    """A page; `cached`: it came from the cache, or the site confirmed what the cache holds.

    `keep` puts into the cache what belongs there: to be called once, while others work on the page.
    """

    page: Page
    cached: bool
    keep: Callable[[], None]


class LaneSlots:
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


class Source:
    """Gets pages for any thread. `abort` ends all fetches under way, once the grace of a stop is over."""

    def __init__(
        self, config: Config, fetcher: Fetcher, cache: ContentCache, pool: Pool, *, metrics: Metrics, clock: Clock
    ) -> None:
        self._config = config
        self._fetcher = fetcher
        self._archive = Archive(config.recover.url, fetcher, clock)
        self._cache = cache
        self._pool = pool
        self._metrics = metrics
        self._clock = clock
        self._aborted = threading.Event()
        # A guard that has become stricter must not be answered from what a laxer one let in.
        self._policy = hashlib.sha256(repr(config.guard).encode()).hexdigest()[:16]

    def abort(self) -> None:
        """Ends every fetch under way, and every later one."""
        self._aborted.set()

    def page(self, caller: Caller, target: Target, checked: CheckedUrl, lane: Lane, slots: LaneSlots) -> Arrival:
        """The page, wherever it comes from. Raises `TargetError`."""
        part = f"{partition(caller)} {self._policy}"
        known = self._cache.get(part, checked.url)
        if known is not None and self._is_fresh(known, target):
            self._metrics.cache_requests_total.labels("content", "hit").inc()
            return Arrival(replace(known, url=target.url), True, _nothing)
        self._metrics.cache_requests_total.labels("content", "stale" if known else "miss").inc()
        recover = target.recover and self.may_recover(caller)
        share = ORIGIN_SHARE if recover else 1.0
        deadline = self._deadline(self._config.fetch.timeout_s * share)
        try:
            page = self._fetch(target, known if target.max_age_s != 0 else None, deadline, lane, slots)
        except TargetError as error:
            if not recover or not _is_recoverable(error):
                raise
            left_s = self._config.fetch.timeout_s - (deadline.seconds - deadline.left())
            return self._recovered(error, target, checked, part, left_s, slots)
        if known is not None and page.body is known.body:
            return Arrival(page, True, partial(self._cache.touch, part, checked.url, page, known=known))
        return Arrival(page, False, partial(self._store, part, checked.url, page))

    def _deadline(self, seconds: float) -> Deadline:
        return Deadline(seconds, self._clock.monotonic, self._aborted.is_set)

    def _fetch(self, target: Target, known: Page | None, deadline: Deadline, lane: Lane, slots: LaneSlots) -> Page:
        def refresh(page: Page) -> str | None:
            asked = (page.final_url, page.headers.get("content-type"), page.body[: 256 << 10])
            found = self._pool.call(messages.REFRESH, msgspec.msgpack.encode(asked), lane=lane.name)
            return found.decode() or None

        return self._fetcher.get(target.url, deadline=deadline, slots=slots, known=known, refresh=refresh)

    def may_recover(self, caller: Caller) -> bool:
        """Whether this caller's URLs may be shown to an archive."""
        return not caller.restricted or self._config.recover.restricted

    def _recovered(
        self, error: TargetError, target: Target, checked: CheckedUrl, part: str, left_s: float, slots: LaneSlots
    ) -> Arrival:
        """The newest archived copy, kept apart from what the site itself has said; else `error`, which says so."""
        part = f"{part} archive"
        known = self._cache.get(part, checked.url)
        if known is not None and self._is_fresh(known, target):
            return Arrival(replace(known, url=target.url), True, _nothing)
        deadline = self._deadline(left_s)
        try:
            page = self._archive.newest(target.url, deadline=deadline, slots=slots)
        except NoCopy as none:
            error.args = (f"{error}; {none}",)
            raise error from None
        return Arrival(page, False, partial(self._store, part, checked.url, page))

    def _is_fresh(self, page: Page, target: Target) -> bool:
        ttl_s = self._config.cache.ttl_s
        limit_s = ttl_s if target.max_age_s is None else min(ttl_s, target.max_age_s)
        return limit_s > 0 and 0 <= self._clock.now() - page.fetched_at <= limit_s

    def _store(self, part: str, url: str, page: Page) -> None:
        if page.status == 200 and page.body and not forbids_storing(page):
            self._cache.put(part, url, page)
        else:
            self._cache.delete(part, url)


def _nothing() -> None:
    """Nothing is to be kept."""


def _is_recoverable(error: TargetError) -> bool:
    """Whether a copy may stand in: the page is gone or cannot be had now; never where the guard said no."""
    if isinstance(error, UpstreamStatus):
        return error.outcome is Outcome.UPSTREAM_5XX or error.status in RECOVERABLE
    return isinstance(error, Unreachable | TimedOut)


def forbids_storing(page: Page) -> bool:
    """Whether the site said `no-store`: neither the page nor what was made of it is kept then."""
    directives = page.headers.get("cache-control", "").lower().split(",")
    return any(directive.strip().partition("=")[0] == "no-store" for directive in directives)
