"""The renderings that a scrape needs: each one `fetch_target`, the first from the wire, the others from the cache.

What they look like to Firecrawl's clients is not known here.

    A page that may be kept is fetched once, whatever is asked for; one that may not be, once a rendering. So links
    come out of the first one's context: Markdown, links and what the page says about itself are one fetch always.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sift.api.app import FetchTarget
from sift.api.scrape.wish import HTML, LINKS, MARKDOWN, QUESTION, RAW_HTML, Wish
from sift.errors import TargetError, Unsupported
from sift.target import INTERACTIVE, Caller, Lane, Target

Envelope = Mapping[str, Any]


@dataclass(slots=True)
class Found:
    """Envelopes by rendering: `markdown`, `question`, `links`, `rawHtml`; `failed` says what could not be had and why.

    `first` is the envelope that came first; it has the context.
    """

    first: Envelope = field(default_factory=dict)
    envelopes: dict[str, Envelope] = field(default_factory=dict)
    failed: dict[str, TargetError] = field(default_factory=dict)


class Renderings:
    """One scrape's calls of `fetch_target`, in the interactive lane; they share the time that it may wait."""

    def __init__(self, fetch_target: FetchTarget, caller: Caller, wish: Wish, stopped: Callable[[], bool]) -> None:
        self._fetch_target = fetch_target
        self._caller = caller
        self._wish = wish
        self._stopped = stopped
        self._left_s = wish.wait_s
        self._found = Found()
        self._pages: str | None = None

    def all(self) -> Found:
        """Everything asked for. Raises `TargetError` where the page, or all that was asked of it, cannot be had."""
        for name in (MARKDOWN, QUESTION, RAW_HTML, LINKS):
            if self._is_asked(name) and not (name == LINKS and self._knows_links()):
                self._render(name)
        if not self._found.envelopes:
            raise next(iter(self._found.failed.values()))
        return self._found

    def _is_asked(self, name: str) -> bool:
        return bool({name, HTML if name == RAW_HTML else name} & self._wish.formats)

    def _knows_links(self) -> bool:
        """Whether the first envelope's context has them all. That of a text has an empty list, which says nothing."""
        context = self._found.first.get("context", {})
        has_some = bool(context.get("links")) or "html" in self._found.first.get("content_type", "")
        return "links" in context and has_some and not context.get("truncated")

    def _render(self, name: str) -> None:
        try:
            envelope = self._fetch(name)
            if self._has_too_many_pages(envelope):
                self._pages = f"1-{self._wish.most_pages}"
                envelope = self._fetch(name, again=True)
        except TargetError as error:
            if not self._found.first and not isinstance(error, Unsupported):
                raise
            self._found.failed[name] = error
            return
        self._found.first = self._found.first or envelope
        self._found.envelopes[name] = envelope

    def _fetch(self, name: str, *, again: bool = False) -> Envelope:
        first = not self._found.first
        target = Target(
            self._wish.url,
            mode={RAW_HTML: "raw", LINKS: "links"}.get(name, self._wish.mode),
            question=self._wish.question if name == QUESTION else None,
            pages=self._pages,
            context=first,
            max_age_s=self._wish.max_age_s if first and not again and not self._found.failed else None,
        )
        lane = Lane(INTERACTIVE, wait_s=self._left_s, stopped=self._stopped)
        try:
            return self._fetch_target(self._caller, target, lane).envelope
        finally:
            self._left_s = max(0.0, self._left_s - lane.waited_s)

    def _has_too_many_pages(self, envelope: Envelope) -> bool:
        """Whether it is a PDF of more pages than were asked for; only a look at it tells."""
        most = self._wish.most_pages
        return most is not None and self._pages is None and envelope.get("pages", {}).get("total", 0) > most
