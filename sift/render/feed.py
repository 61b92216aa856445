"""RSS, RDF and Atom feeds as what their entries say: titles, links, dates, summaries.

Read safely: no entity is expanded, nothing is fetched, and depth and size are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from html import unescape
from itertools import islice

from lxml import etree

ENTRIES_MAX = 2_000
SUMMARY_MAX_CHARS = 600
_TITLE_MAX_CHARS = 300
_CHILDREN_MAX = 300
_DATES = ("published", "pubDate", "date", "issued", "updated", "modified")
_SUMMARIES = ("summary", "description", "subtitle", "encoded", "content")
_BLOCK = re.compile(r"</?(?:p|div|br|li|ul|ol|tr|h[1-6]|blockquote|pre|table|section|article)\b[^<>]*>", re.IGNORECASE)
_UNSEEN = re.compile(r"<(script|style)\b[^<>]*>.*?</\1\s*>|<!--.*?-->", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_ENTITY = re.compile(r"&(#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_ESCAPED = re.compile(r"([\\`*_\[\]<>])")


@dataclass(frozen=True, slots=True)
class Entry:
    """One item of a feed; empty strings for what it does not say. `date` is RFC 3339, or as the feed spells it."""

    title: str
    link: str
    date: str
    author: str
    summary: str


@dataclass(frozen=True, slots=True)
class Feed:
    """What a feed says about itself, and its entries in its own order. `left_out` counts those beyond the limit."""

    title: str
    link: str
    description: str
    entries: tuple[Entry, ...]
    left_out: int = 0

    def markdown(self) -> str:
        """A heading, and a list of the entries: link, date and author, summary below."""
        head = [f"# {_escaped(self.title)}"] if self.title else []
        head += [_escaped(self.description)] if self.description and self.description != self.title else []
        head += [f"<{self.link}>"] if self.link else []
        items = "\n".join(_item(entry) for entry in self.entries)
        tail = [f"… and {self.left_out} more entries"] if self.left_out else []
        return "\n\n".join([*head, *([items] if items else []), *tail]) + "\n"


def read(text: str) -> Feed | None:
    """The feed in `text`, however broken its XML; `None` where no feed is to be found in it."""
    try:
        return _read(text)
    except (
        etree.XMLSyntaxError,
        ValueError,
    ):  # a name or an address that is no Unicode is a ValueError, and comes late
        return None


def _read(text: str) -> Feed | None:
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=True
    )
    root = etree.fromstring(text.lstrip("\ufeff \t\r\n").encode("utf-8", "replace"), parser)
    if root is None or _name(root) not in {"rss", "feed", "RDF"}:
        return None
    channel = next((child for child in root if _name(child) == "channel"), root)
    items = [child for parent in _distinct(channel, root) for child in parent if _name(child) in {"item", "entry"}]
    title = _text(channel, ("title",), _TITLE_MAX_CHARS)
    if not items and not title:
        return None
    return Feed(
        title=title,
        link=_link(channel),
        description=_text(channel, ("subtitle", "description", "tagline"), SUMMARY_MAX_CHARS),
        entries=tuple(_entry(item) for item in items[:ENTRIES_MAX]),
        left_out=max(0, len(items) - ENTRIES_MAX),
    )


def _distinct(channel: etree._Element, root: etree._Element) -> list[etree._Element]:
    return [channel] if channel is root else [channel, root]


def _children(parent: etree._Element) -> Iterator[etree._Element]:
    """What stands directly below an entry or a channel; no feed says anything about itself after so much."""
    return islice(parent.iterchildren(), _CHILDREN_MAX)


def _name(element: etree._Element) -> str:
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def _entry(item: etree._Element) -> Entry:
    return Entry(
        title=_text(item, ("title",), _TITLE_MAX_CHARS),
        link=_link(item),
        date=_date(_first(item, _DATES)),
        author=_author(item),
        summary=_text(item, _SUMMARIES, SUMMARY_MAX_CHARS),
    )


def _first(parent: etree._Element, names: tuple[str, ...]) -> str:
    """The raw inside of the first child that is named so and says something, in the order of `names`."""
    for name in names:
        for child in _children(parent):
            if _name(child) == name and (inside := _inside(child)):
                return inside
    return ""


def _inside(element: etree._Element) -> str:
    """All text below an element. Atom's `xhtml` content is markup in the tree: its tags are left out here."""
    return "".join(str(piece) for piece in element.itertext(with_tail=False)).strip()


def _text(parent: etree._Element, names: tuple[str, ...], limit: int) -> str:
    return _shortened(_plain(_first(parent, names)[: 40 * limit]), limit)


def _plain(html: str) -> str:
    """The words of a piece of HTML, or of text that only looks like it, on one line."""
    if "<" in html:
        html = _TAG.sub("", _BLOCK.sub(" ", _UNSEEN.sub(" ", html)))
    if "&" in html:
        html = _ENTITY.sub(_character, html)
    return " ".join(html.split())


def _character(match: re.Match[str]) -> str:
    return unescape(match[0]).replace("\0", "")


def _shortened(text: str, limit: int) -> str:
    """`text`, cut at a word where it is over `limit` characters."""
    if len(text) <= limit:
        return text
    cut = text[:limit]
    return (cut.rpartition(" ")[0] or cut).rstrip(" ,;:–—-") + "…"


def _link(parent: etree._Element) -> str:
    """The address of the page that an entry stands for: RSS's text, Atom's `alternate`, or a guid that is one."""
    found = ""
    for child in _children(parent):
        if _name(child) != "link":
            continue
        address = (child.get("href") or _inside(child)).strip()
        relation = child.get("rel", "alternate")
        if relation == "alternate" and _is_address(address):
            return address
        found = found or (address if _is_address(address) and relation not in {"self", "hub", "replies"} else "")
    guid = _first(parent, ("guid", "id"))
    return found or (guid if guid.startswith(("http://", "https://")) and _is_address(guid) else "")


def _is_address(address: str) -> bool:
    is_relative = address.startswith("/") or "://" not in address
    return (
        bool(address)
        and len(address) <= 8192
        and not re.search(r"[\s<>\"`]", address)
        and (
            address.startswith(("http://", "https://")) or (is_relative and not re.match(r"[a-zA-Z][\w+.-]*:", address))
        )
    )


def _date(raw: str) -> str:
    """RFC 3339 in UTC for the dates of RSS (RFC 822) and Atom; what is neither stays as it is, shortened."""
    raw = " ".join(raw[:100].split())
    if re.match(r"\d{4}-\d\d-\d\d", raw):
        return raw[:40]
    try:
        parsed = parsedate_to_datetime(raw)
        return parsed.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if parsed.tzinfo else _naive(parsed)
    except (ValueError, TypeError, IndexError, OverflowError):
        return raw[:40]


def _naive(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S")


def _author(item: etree._Element) -> str:
    for child in _children(item):
        if _name(child) in {"author", "creator"}:
            name = _first(child, ("name",)) or _inside(child)
            return _shortened(_plain(name[:400]), 100)
    return ""


def _item(entry: Entry) -> str:
    title = _escaped(entry.title) or _escaped(_shortened(entry.summary, 80)) or entry.link or "(untitled)"
    shown = f"[{title}]({_target(entry.link)})" if entry.link else title
    about = ", ".join(filter(None, (entry.date, _escaped(entry.author))))
    lines = [f"- {shown}" + (f" – {about}" if about else "")]
    if entry.summary and entry.summary != entry.title:
        lines.append(f"  {_escaped(entry.summary)}")
    return "\n".join(lines)


def _target(link: str) -> str:
    return link.replace("(", "%28").replace(")", "%29")


def _escaped(text: str) -> str:
    return _ESCAPED.sub(r"\\\1", text)
