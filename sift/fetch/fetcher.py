"""One URL to one page: hop by hop, each through the guard and the slots, under one deadline.

Jobs, caches and what a page means are not known here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from io import BytesIO
from typing import Protocol

from sift.clock import Clock, Deadline
from sift.config import FetchConfig
from sift.errors import Unreachable, UpstreamStatus
from sift.fetch.coding import ACCEPTED, decoded, known_codings
from sift.fetch.connector import Connector
from sift.fetch.cookies import Jar
from sift.fetch.head import Head, retry_after_s
from sift.fetch.lookup import Lookups, Resolve, system_resolve
from sift.fetch.redirect import location, may_refresh, resolve_reference
from sift.fetch.transport import Answer, send
from sift.fetch.wire import Dial, Wire
from sift.fetch.wire import dial as system_dial
from sift.guard import CheckedUrl, Guard
from sift.target import Page

ACCEPT = (
    "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, application/json;q=0.8, "
    "application/pdf;q=0.8, text/plain;q=0.8, */*;q=0.5"
)
Refresh = Callable[[Page], str | None]
"""Asked for the URL of a page's 0 s meta refresh, absolute or relative to the page; `None` where it has none."""

_EMPTY_STATUSES = (204, 205)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
# RFC 9111 4.3.4: what a 304 renews of the stored answer's fields; the rest describes the body, which stays.
_RENEWED = ("cache-control", "date", "etag", "expires", "last-modified", "vary")


class Slots(Protocol):
    """The right to talk to a host, asked for before each hop."""

    def at(self, host: str) -> None:
        """Holds slots for the host, those of another host given back first; blocks. Raises Busy, Cancelled."""

    def free(self) -> None:
        """Gives all back; harmless where none are held."""


@dataclass(slots=True)
class _Trip:
    """One fetch on its way: what it was asked for and what it has seen. `hops` counts redirects.

    `is_private` once any answer on the way was `no-store`: where the way led is not to be kept either.
    """

    url: str
    deadline: Deadline
    slots: Slots
    known: Page | None
    jar: Jar = field(default_factory=Jar)
    hops: int = 0
    is_private: bool = False
    seen: set[object] = field(default_factory=set)


class Fetcher:
    """Fetches for any thread. `close` ends the look-up threads; a fetch under way then fails."""

    def __init__(
        self,
        config: FetchConfig,
        guard: Guard,
        *,
        resolve: Resolve = system_resolve,
        dial: Dial = system_dial,
        clock: Clock | None = None,
        connector: Connector | None = None,
    ) -> None:
        self._config = config
        self._guard = guard
        self._clock = clock or Clock()
        self._connector = connector or Connector(config, Lookups(resolve), dial)

    def get(
        self,
        url: str,
        *,
        deadline: Deadline,
        slots: Slots,
        known: Page | None = None,
        refresh: Refresh | None = None,
    ) -> Page:
        """The page at `url`, redirects followed; its body complete and decoded. Frees the slots in the end.

        `known` is a stale copy: its validators are sent to its `final_url` alone, and a 304 gives it back with
        `fetched_at` now. `refresh` is asked, with no slot held, about HTML that may hold a meta refresh.
        Raises Blocked, TimedOut, UpstreamStatus, Unreachable, TooLong, Unsupported (a content coding), and what
        `slots` raises.
        """
        trip = _Trip(url, deadline, slots, known)
        try:
            return self._travel(trip, refresh)
        finally:
            slots.free()

    def post_json(self, url: str, body: bytes, headers: Mapping[str, str], deadline: Deadline) -> bytes:
        """What a service answers to a JSON body; no redirect is followed and no slot is taken.

        For configured services: `fetcher.for_service(url).post_json(url, …)`. Raises as `get` does.
        """
        checked = self._guard.check_url(url)
        fields = {"Accept": "application/json", "Content-Type": "application/json", **headers}
        head, answer = self._exchange("POST", checked, fields, deadline, body)
        if head.status >= 300:
            raise self._refused(head)
        return answer

    def for_service(self, url: str) -> Fetcher:
        """This fetcher for one configured service, whose host and port its guard lets pass. Not to be closed."""
        guard = self._guard.for_service(url)
        return Fetcher(self._config, guard, clock=self._clock, connector=self._connector)

    def close(self) -> None:
        self._connector.close()

    def _travel(self, trip: _Trip, refresh: Refresh | None) -> Page:
        checked = self._guard.check_url(trip.url)
        while True:
            self._arrive(trip, checked)
            head, body = self._ask(trip, checked)
            if 300 <= head.status < 400 and not (head.status == 304 and _is_at(trip.known, checked)):
                checked = self._next(trip, checked, location(head))
                continue
            page = self._page(trip, checked, head, body)
            target = self._refreshed(trip, page, refresh)
            if target is None:
                return page
            checked = self._next(trip, checked, target)

    def _arrive(self, trip: _Trip, checked: CheckedUrl) -> None:
        """Notes the visit; the same URL with the same cookies twice is a loop. Then waits for the host's slots."""
        visit = (checked, trip.jar.state)
        if visit in trip.seen:
            raise Unreachable("a redirect loop")
        trip.seen.add(visit)
        self._guard.check_host(checked)
        with trip.deadline.paused():
            trip.slots.at(checked.host)

    def _next(self, trip: _Trip, base: CheckedUrl, reference: str) -> CheckedUrl:
        if trip.hops >= self._config.max_redirects:
            raise Unreachable(f"more than {self._config.max_redirects} redirects")
        trip.hops += 1
        return self._guard.check_url(resolve_reference(base, reference))

    def _ask(self, trip: _Trip, checked: CheckedUrl) -> tuple[Head, bytes]:
        fields = {"Accept": ACCEPT}
        if cookie := trip.jar.header(checked):
            fields["Cookie"] = cookie
        if trip.known is not None and _is_at(trip.known, checked):
            fields |= _validators(trip.known)
        head, body = self._exchange("GET", checked, fields, trip.deadline)
        trip.is_private = trip.is_private or "no-store" in head.listed("cache-control")
        trip.jar.take(checked, head.values("set-cookie"), self._clock.now())
        return head, body

    def _exchange(
        self,
        method: str,
        checked: CheckedUrl,
        fields: Mapping[str, str],
        deadline: Deadline,
        body: bytes | None = None,
    ) -> tuple[Head, bytes]:
        """One request and its answer; only the body of a 2xx is read, and it is whole and decoded."""
        own = {"User-Agent": self._config.user_agent, "Accept-Encoding": ACCEPTED}
        wire = self._connector.open(self._guard, checked, deadline)
        try:
            answer = send(wire, method, checked, own | dict(fields), body)
            if not 200 <= answer.head.status < 300 or answer.head.status in _EMPTY_STATUSES:
                return answer.head, b""
            return answer.head, self._body(answer, wire)
        finally:
            wire.close()

    def _body(self, answer: Answer, wire: Wire) -> bytes:
        codings = known_codings(answer.head.listed("content-encoding"))
        most = self._config.max_bytes
        body = BytesIO()
        for piece in decoded(answer.pieces(most), codings, most, wire.check):
            body.write(piece)
        return body.getvalue()

    def _page(self, trip: _Trip, checked: CheckedUrl, head: Head, body: bytes) -> Page:
        now = self._clock.now()
        if head.status == 304 and trip.known is not None:
            renewed = {name: value for name, value in _clean(head).items() if name in _RENEWED}
            return replace(trip.known, url=trip.url, headers={**trip.known.headers, **renewed}, fetched_at=now)
        if not 200 <= head.status < 300 or head.status == 206:
            raise self._refused(head)
        fields = _clean(head)
        if trip.is_private:
            fields["cache-control"] = "no-store"
        return Page(trip.url, checked.url, head.status, fields, body, now)

    def _refused(self, head: Head) -> UpstreamStatus | Unreachable:
        if head.status >= 400:
            return UpstreamStatus(head.status, retry_after_s=retry_after_s(head, self._clock.now()))
        if head.status == 206:
            return Unreachable("the site sent a part that was not asked for")
        return Unreachable(f"the site answered {head.status}, which is not followed")

    def _refreshed(self, trip: _Trip, page: Page, refresh: Refresh | None) -> str | None:
        """Where a meta refresh leads; found out with no slot held and off the fetch's clock."""
        if refresh is None or not may_refresh(page):
            return None
        trip.slots.free()
        with trip.deadline.paused():
            return refresh(page)


def _is_at(known: Page | None, checked: CheckedUrl) -> bool:
    """Whether the stale copy can be revalidated here: it came from this very URL and has a validator."""
    return known is not None and known.final_url == checked.url and bool(_validators(known))


def _validators(known: Page) -> dict[str, str]:
    fields = {"If-None-Match": known.headers.get("etag"), "If-Modified-Since": known.headers.get("last-modified")}
    return {name: value for name, value in fields.items() if value and value.isascii()}


def _clean(head: Head) -> dict[str, str]:
    """The fields as a page shows them: no control characters; cookies stay behind."""
    fields = {name: _CONTROL.sub(" ", value).strip() for name, value in head.fields}
    fields.pop("set-cookie", None)
    return fields
