"""What a page says about itself: JSON-LD, then OpenGraph and other meta elements, then the markup; nothing is guessed.

The page's text is not known here, but for its headings.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from sift.render.html import dates
from sift.render.html.address import Addresses
from sift.render.html.tree import Node, Tree, text_of, walk

_LONGEST_JSON = 2_000_000  # characters of one JSON-LD block
_MOST_OBJECTS = 2000
_LONGEST = 2000  # characters of one fact
_ARTICLE = re.compile(
    r"(?:Article|BlogPosting|Posting|Report|Review|WebPage|QAPage|VideoObject|Recipe|Event|Product|Book|Course)$"
)
_WORK = re.compile(r"(?:Article|BlogPosting|Report|Review)$")
_BAD_TAIL = re.compile(r"^\s*(?:<!--|//\s*<!\[CDATA\[|<!\[CDATA\[)|(?:-->|//\s*\]\]>|\]\]>)\s*;?\s*$|;\s*$")
_PUBLISHED = (
    "article:published_time",
    "og:article:published_time",
    "article:published",
    "og:published_time",
    "datepublished",
    "date.published",
    "parsely-pub-date",
    "sailthru.date",
    "citation_publication_date",
    "citation_date",
    "dcterms.created",
    "dcterms.date",
    "dc.date.issued",
    "dc.date",
    "dc.date.created",
    "publish-date",
    "publish_date",
    "published_time",
    "pubdate",
    "publication_date",
    "date",
    "originalpublicationdate",
    "article.published",
    "cxenseparse:recs:publishtime",
    "bt:pubdate",
    "ptime",
    "displaydate",
)
_AUTHORS = (
    "author",
    "article:author",
    "og:article:author",
    "parsely-author",
    "sailthru.author",
    "dc.creator",
    "dcterms.creator",
    "citation_author",
    "byl",
    "twitter:creator:name",
)


class Facts:
    """The facts of one parsed page, each read when it is asked for."""

    def __init__(self, tree: Tree, addresses: Addresses) -> None:
        self._tree = tree
        self._addresses = addresses

    @cached_property
    def title(self) -> str | None:
        """The headline, else the page's title."""
        return (
            self._ld_text("headline", works_only=True)
            or self._meta("og:title", "twitter:title")
            or _clean(self._tree.title)
            or self._heading()
        )

    @cached_property
    def description(self) -> str | None:
        return self._ld_text("description", works_only=True) or self._meta(
            "og:description", "description", "twitter:description", "dc.description"
        )

    @cached_property
    def author(self) -> str | None:
        """Names, joined by a comma."""
        for item in self._works:
            if names := _names(item.get("author") or item.get("creator")):
                return names
        said = self._meta(*_AUTHORS)
        if said and not said.startswith(("http://", "https://", "@")):
            return re.sub(r"^by\s+", "", said, flags=re.I)
        return self._marked_author()

    @cached_property
    def published(self) -> str | None:
        """ISO 8601; None where the page does not say it."""
        for item in [*self._works, *self._pages]:
            if found := dates.iso(item.get("datePublished")) or dates.iso(item.get("dateCreated")):
                return found
        for name in _PUBLISHED:
            if found := dates.iso(self._metas.get(name)):
                return found
        return self._marked_date()

    @cached_property
    def site(self) -> str | None:
        said = self._meta("og:site_name")
        publishers = (_names(item.get("publisher")) for item in self._works)
        return (
            said
            or next((name for name in publishers if name), None)
            or self._ld_site()
            or self._meta("application-name", "apple-mobile-web-app-title")
        )

    @cached_property
    def language(self) -> str | None:
        """As the page says: `en`, `pt-BR`."""
        said = (
            self._tree.language
            or self._meta("content-language", "language", "dc.language")
            or self._ld_text("inLanguage")
            or self._meta("og:locale")
        )
        return _clean((said or "").replace("_", "-"))[:35] or None if said else None

    @cached_property
    def canonical(self) -> str | None:
        for link in self._tree.links:
            if "canonical" in link.get("rel", "").lower().split() and (found := self._http(link.get("href"))):
                return found
        return self._http(self._meta("og:url"))

    def outline(self, order: list[Node]) -> list[dict[str, Any]]:
        """Level and text of each heading that is not part of a menu."""
        skipped: set[int] = set()
        found = []
        for node in order:
            if node.tag in ("nav", "footer", "aside") or (node.parent is not None and id(node.parent) in skipped):
                skipped.add(id(node))
            elif len(node.tag) == 2 and node.tag[0] == "h" and node.tag[1] in "123456" and (text := text_of(node, 500)):
                found.append({"level": int(node.tag[1]), "text": text[:500]})
        return found

    def _http(self, reference: str | None) -> str | None:
        found = self._addresses.of(reference)
        return found if found and found.lower().startswith(("http://", "https://")) else None

    @cached_property
    def _metas(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for meta in self._tree.metas:
            content = _clean(meta.get("content", ""))
            for key in ("property", "name", "itemprop", "http-equiv"):
                if content and meta.get(key):
                    found.setdefault(meta[key].strip().lower(), content)
        return found

    def _meta(self, *names: str) -> str | None:
        return next((found for name in names if (found := self._metas.get(name))), None)

    @cached_property
    def _objects(self) -> list[dict[str, Any]]:
        return [item for text in self._tree.json_ld for item in _objects(text)][:_MOST_OBJECTS]

    @cached_property
    def _works(self) -> list[dict[str, Any]]:
        return [item for item in self._objects if any(_WORK.search(kind) for kind in _kinds(item))]

    @cached_property
    def _pages(self) -> list[dict[str, Any]]:
        return [
            item
            for item in self._objects
            if any(_ARTICLE.search(kind) for kind in _kinds(item)) and item not in self._works
        ]

    def _ld_text(self, key: str, *, works_only: bool = False) -> str | None:
        items = self._works if works_only else [*self._works, *self._pages]
        return next((text for item in items if (text := _clean(item.get(key)))), None)

    def _ld_site(self) -> str | None:
        return next(
            (name for item in self._objects if "WebSite" in _kinds(item) and (name := _clean(item.get("name")))), None
        )

    def _heading(self) -> str | None:
        return next((text for node in walk(self._tree.root) if node.tag == "h1" and (text := text_of(node, 500))), None)

    def _marked_author(self) -> str | None:
        names: list[str] = []
        for node in walk(self._tree.root):
            if "author" in node.attrs.get("itemprop", "").lower().split() or (
                "author" in node.attrs.get("rel", "").lower().split() and node.tag == "a"
            ):
                inner = next((kid for kid in walk(node) if kid.attrs.get("itemprop", "").lower() == "name"), node)
                name = node.attrs.get("content") or text_of(inner, 120)
                if 2 < len(name) <= 100 and name not in names:
                    names.append(name)
        return ", ".join(names[:5]) or None

    def _marked_date(self) -> str | None:
        times: list[str | None] = []
        for node in walk(self._tree.root):
            attrs = node.attrs
            said = attrs.get("datetime") or attrs.get("content") or attrs.get("title", "")
            if "datepublished" in attrs.get("itemprop", "").lower() or "pubdate" in attrs:
                if found := dates.iso(said) or dates.iso(text_of(node, 90)):
                    return found
            elif node.tag == "time" or " published " in node.names() or " dt-published " in node.names():
                times.append(dates.iso(said) or (dates.iso(text_of(node, 90)) if not said else None))
        found_days = {time[:10] for time in times if time}
        return next(time for time in times if time) if len(found_days) == 1 else None


def _clean(said: object) -> str:
    if not isinstance(said, str):
        return ""
    text = html.unescape(said[: 4 * _LONGEST]) if "&" in said else said[: 4 * _LONGEST]
    return " ".join(text.split())[:_LONGEST]


def _kinds(item: dict[str, Any]) -> list[str]:
    said = item.get("@type")
    return [kind for kind in (said if isinstance(said, list) else [said]) if isinstance(kind, str)]


def _names(said: object) -> str | None:
    people = said if isinstance(said, list) else [said]
    names = [_clean(person.get("name") if isinstance(person, dict) else person) for person in people[:20]]
    good = [name for name in names if name and not name.startswith(("http://", "https://"))]
    return ", ".join(dict.fromkeys(good)) or None


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Every object of a JSON-LD block, outer ones first; none of a broken block."""
    if len(text) > _LONGEST_JSON:
        return
    try:
        data = json.loads(_BAD_TAIL.sub("", text.strip()), strict=False)
    except (ValueError, RecursionError):
        return
    queue = [data]
    for count, item in enumerate(queue):
        if count >= _MOST_OBJECTS:
            return
        if isinstance(item, dict):
            yield item
            queue.extend(value for value in item.values() if isinstance(value, dict | list))
        elif isinstance(item, list):
            queue.extend(value for value in item if isinstance(value, dict | list))
