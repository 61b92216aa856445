"""HTML to Markdown, links, and what a page says about itself: pure functions for the worker processes.

No network, no files; nothing here raises for any page, short of memory.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sift.render.html import clean, furniture, links, rescue, running, walls
from sift.render.html.address import Addresses
from sift.render.html.facts import Facts
from sift.render.html.refresh import refresh_target
from sift.render.html.tree import Node, Tree, parse, release, restore

__all__ = ["HtmlPage", "convert", "refresh_target", "title"]
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class HtmlPage:
    """What one parse gives.

    `text` is Markdown, or in mode `links` one link a line: absolute URL, tab, text. `context` is there where it was
    asked for. `needs_browser`: a browser would show more than is here.
    """

    title: str | None
    text: str
    context: dict[str, Any] | None
    needs_browser: bool


def convert(html: str, *, url: str, mode: str, context: bool = False) -> HtmlPage:
    """The page at `url` in `mode` `clean`, `full` or `links`. `html` is decoded text of any kind; nothing is raised."""
    with _collector_resting():
        tree = parse(html)
        try:
            return _page(tree, html, url, mode, context=context)
        finally:
            release(tree)


@contextmanager
def _collector_resting() -> Iterator[None]:
    """A page makes many objects and leaves no circles: the collector would look at them in vain (measured: 11 %)."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def title(html: str) -> str | None:
    """The page's headline or title."""
    tree = parse(html)
    try:
        return _sane(Facts(tree, Addresses("", "")).title)
    finally:
        release(tree)


def _page(tree: Tree, html: str, url: str, mode: str, *, context: bool) -> HtmlPage:
    order = running.score(tree.root)
    addresses = Addresses(url, tree.base)
    facts = Facts(tree, addresses)
    furniture.drop_permalinks(order)
    found = links.links(tree.root, addresses) if context or mode == "links" else []
    outline = facts.outline(order) if context else []
    needs_browser = walls.needs_browser(tree)
    text = (
        links.listed(found)
        if mode == "links"
        else _markdown(tree, order, addresses, html, url, mode, facts.title or "")
    )
    text = _CONTROL.sub("", text)
    said = None
    if context:
        restore(tree.root)
        said = _context(facts, outline, found, text)
    return HtmlPage(_sane(facts.title), text, said, needs_browser)


def _markdown(
    tree: Tree, order: list[Node], addresses: Addresses, html: str, url: str, mode: str, headline: str
) -> str:
    if mode == "full":
        text = clean.full(tree, addresses)
    else:
        text = clean.markdown(tree, order, addresses, url=url, headline=headline)
    return text or rescue.text(tree, addresses, html)


def _context(facts: Facts, outline: list[dict[str, Any]], found: list[tuple[str, str]], text: str) -> dict[str, Any]:
    said = {
        "title": facts.title,
        "description": facts.description,
        "author": facts.author,
        "published": facts.published,
        "site": facts.site,
        "language": facts.language,
        "canonical": facts.canonical,
    }
    return {
        **{name: _sane(value) for name, value in said.items()},
        "outline": [{"level": heading["level"], "text": _sane(heading["text"])} for heading in outline],
        "links": [{"text": _sane(label) or "", "url": _sane(address)} for address, label in found],
        "words": len(_WORD.findall(text)),
    }


def _sane(text: str | None) -> str | None:
    return _CONTROL.sub("", text) or None if text else None
