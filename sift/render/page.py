"""One page to text, whatever it is: the way from a body to its renderer.

What is then asked of the text (`jq`, `grep`, a question) is not known here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sift.errors import Unsupported
from sift.render import charset, html, pdf, sniff, text
from sift.target import Page, Target


@dataclass(frozen=True, slots=True)
class Rendered:
    """A page as text. `kind` is one of `sniff`'s words; `pages` is `{"total", "returned"}` of a PDF."""

    text: str
    kind: str
    media_type: str
    title: str | None = None
    pages: dict[str, Any] | None = None
    context: dict[str, Any] | None = None
    needs_browser: bool = False


def render(page: Page, target: Target) -> Rendered:
    """The text of `page` in the target's `mode`. Raises `Unsupported` or `Invalid` where that cannot be had."""
    content_type = page.headers.get("content-type")
    kind = sniff.kind(content_type, page.body)
    if kind.name == sniff.UNSUPPORTED:
        raise kind.unsupported()
    if target.pages is not None and kind.name != sniff.PDF:
        raise Unsupported(f"pages needs a PDF, and the page is {kind.media_type or kind.name}")
    if kind.name == sniff.PDF:
        return _pdf(page, target)
    if kind.name == sniff.HTML:
        return _html(page, target, content_type, kind)
    return _text(page, target, content_type, kind)


def refresh_target(body: bytes, content_type: str | None, *, url: str) -> str | None:
    """Where a meta refresh of 0 s sends the reader, absolute; `None` where there is none or it is no HTML."""
    if sniff.kind(content_type, body).name != sniff.HTML:
        return None
    return html.refresh_target(charset.decode(body, content_type, kind="html"), url=url)


def _pdf(page: Page, target: Target) -> Rendered:
    if target.mode == "raw":
        raise Unsupported("mode raw of a PDF; use clean or full")
    read = pdf.links if target.mode == "links" else pdf.render
    found = read(page.body, target.pages, context=target.context)
    pages = {"total": found.total, "returned": found.returned}
    return Rendered(found.text, sniff.PDF, "application/pdf", found.title, pages, found.context)


def _html(page: Page, target: Target, content_type: str | None, kind: sniff.Kind) -> Rendered:
    decoded = charset.decode(page.body, content_type, kind.name)
    media_type = kind.media_type or "text/html"
    if target.mode == "raw" and not target.context:
        return Rendered(decoded, kind.name, media_type, html.title(decoded))
    mode = "full" if target.mode == "raw" else target.mode
    found = html.convert(decoded, url=page.final_url, mode=mode, context=target.context)
    shown = decoded if target.mode == "raw" else found.text
    return Rendered(shown, kind.name, media_type, found.title, None, found.context, found.needs_browser)


def _text(page: Page, target: Target, content_type: str | None, kind: sniff.Kind) -> Rendered:
    if target.mode == "links":
        raise Unsupported(f"mode links needs HTML or PDF, and the page is {kind.media_type or kind.name}")
    decoded = charset.decode(page.body, content_type, kind.name)
    shown, title = (decoded, None) if target.mode == "raw" else text.render(decoded, kind.name, mode=target.mode)
    context = text.context(decoded, kind.name, title) if target.context else None
    return Rendered(shown, kind.name, kind.media_type or "text/plain", title, None, context)
