"""PDF to Markdown: each page under its number, headings from the outline, text in reading order.

Hostile work, for a worker process alone. Scans are not read: there is no text in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from sift.errors import Invalid, Unsupported
from sift.render.pdf import layout, words
from sift.render.pdf.reader import Bookmark, Document
from sift.render.query import parse_pages

PAGES_MAX = 5_000
_LINKS_MAX = 500
_SHOWN = ("http://", "https://", "mailto:")
_WORD = re.compile(r"\w+")
_DATE = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:([Z+-])(?:(\d\d)'?(\d\d)?)?)?")
_NO_TITLE = re.compile(
    r"(?:untitled|title|document\d*|.*\.(?:docx?|tex|dvi|indd|qxd|pdf|ps|rtf|odt|fm|pmd))", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class PdfText:
    """A PDF as text. `total` counts its pages, `returned` names those in `text` as ranges: `1-3,7`."""

    text: str
    title: str | None
    total: int
    returned: str
    context: dict[str, Any] | None = None


def render(body: bytes, pages: str | None, *, context: bool) -> PdfText:
    """The pages asked for (all, but at most `PAGES_MAX`, where `pages` is `None`) as Markdown.

    Raises `Unsupported` for an empty, damaged or encrypted PDF and for one without text on these pages;
    `Invalid` for a range that lies outside of the document.
    """
    ranges = parse_pages(pages) if pages is not None else [(1, None)]
    with Document(body) as document:
        numbers = _numbers(ranges, len(document))
        outline = document.outline()
        read = [layout.in_order(document.pieces(number - 1)) for number in numbers]
        if not any(read):
            raise Unsupported(_no_text(len(document), pages))
        text = _markdown(numbers, read, outline)
        about = document.about()
        extra = _context(document, about, outline, numbers, text) if context else None
        return PdfText(text, _title(about), len(document), _ranges(numbers), extra)


def links(body: bytes, pages: str | None, *, context: bool) -> PdfText:
    """The addresses that the pages asked for link to, one a line, each once; raises as `render` does, but for scans."""
    with Document(body) as document:
        numbers = _numbers(parse_pages(pages) if pages is not None else [(1, None)], len(document))
        found = dict.fromkeys(address for number in numbers for address in document.links(number - 1))
        about = document.about()
        text = "".join(f"{address}\t\n" for address in found if address.startswith(_SHOWN))
        extra = _context(document, about, document.outline(), numbers, "") if context else None
        return PdfText(text, _title(about), len(document), _ranges(numbers), extra)


def _numbers(ranges: Sequence[tuple[int, int | None]], total: int) -> list[int]:
    """Page numbers, from 1, in the document's order; a range that begins behind the last page is refused."""
    if total == 0:
        raise Unsupported("the PDF is damaged: it has no pages")
    for first, last in ranges:
        if first > total:
            shown = f"{first}" if last == first else f"{first}-{last or ''}"
            held = "1 page" if total == 1 else f"{total} pages"
            raise Invalid(f"pages: {shown} is outside of the document, which has {held}")
    numbers = [n for first, last in ranges for n in range(first, min(last or total, total) + 1)]
    return numbers[:PAGES_MAX]


def _no_text(total: int, pages: str | None) -> str:
    where = f"pages {pages} of the PDF have" if pages is not None else f"the PDF ({total} page{'s' * (total != 1)}) has"
    return f"{where} no text; a scan or pictures alone"


def _markdown(numbers: Sequence[int], read: Sequence[list[str]], outline: Sequence[Bookmark]) -> str:
    known = words.hyphenated("\n".join(block for blocks in read for block in blocks))
    headings: dict[int, list[Bookmark]] = {}
    for bookmark in outline:
        if bookmark.page is not None:
            headings.setdefault(bookmark.page + 1, []).append(bookmark)
    parts = []
    for number, blocks in zip(numbers, read, strict=True):
        tidy = [words.joined(words.cleaned(block), known) for block in blocks]
        shown = _with_headings(tidy, headings.get(number, [])) if tidy else ["(no text on this page)"]
        parts.append("\n\n".join([f"## Page {number}", *shown]))
    return "\n\n".join(parts) + "\n"


def _with_headings(blocks: list[str], bookmarks: Iterable[Bookmark]) -> list[str]:
    """The blocks, with the lines that outline entries name as headings; an entry without a line comes first."""
    lost = []
    for bookmark in bookmarks:
        mark = "#" * min(6, 3 + bookmark.level)
        place = _place(blocks, bookmark.title)
        if place is None:
            lost.append(f"{mark} {bookmark.title}")
            continue
        number, begin, end = place
        before, line, after = (blocks[number][a:b].strip("\n") for a, b in ((0, begin), (begin, end), (end, None)))
        heading = f"{mark} {' '.join(line.split()) or bookmark.title}"
        blocks[number : number + 1] = [part for part in (before, heading, after) if part]
    return lost + blocks


def _place(blocks: Sequence[str], title: str) -> tuple[int, int, int] | None:
    """Where a title stands as lines of its own: block, begin, end. A number before it and spaces do not matter.

    Where it only begins a line, as headings do that run into their text: the empty place before that line.
    """
    letters = r"\s*".join(re.escape(char) for char in title if not char.isspace())
    number = r"(?:(?:Chapter|Section|Appendix)\s+)?(?:[\dA-Z]{1,3}(?:\.\d{1,3}){0,5}\.?:?\s+)?"
    begins = re.compile(rf"^{number}{letters}(?:(?P<alone>\s*$)|(?!\w))", re.MULTILINE | re.IGNORECASE)
    run_in = None
    for at, block in enumerate(blocks):
        if block.startswith(("#", "|")):
            continue
        for found in begins.finditer(block):
            if found["alone"] is not None:
                return at, found.start(), found.end()
            run_in = run_in or (at, found.start(), found.start())
    return run_in


def _ranges(numbers: Sequence[int]) -> str:
    """`1-3,7` for 1, 2, 3, 7."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(f"{first}" if first == last else f"{first}-{last}" for first, last in runs)


def _title(about: dict[str, str]) -> str | None:
    """The title that the document gives itself, unless it is a file's name or a program's filler."""
    title = words.cleaned(about.get("Title", "")).removeprefix("Microsoft Word - ").strip()
    return None if not title or _NO_TITLE.fullmatch(title) else title[:500]


def _context(
    document: Document, about: dict[str, str], outline: Sequence[Bookmark], numbers: Sequence[int], text: str
) -> dict[str, Any]:
    addresses = dict.fromkeys(address for number in numbers for address in document.links(number - 1))
    links = [{"text": "", "url": url} for url in addresses if url.startswith(_SHOWN)]
    return {
        "title": _title(about),
        "description": about.get("Subject") or None,
        "author": about.get("Author") or None,
        "published": _date(about.get("CreationDate", "")),
        "modified": _date(about.get("ModDate", "")),
        "site": None,
        "language": document.language(),
        "canonical": None,
        "outline": [{"level": bookmark.level + 1, "text": bookmark.title} for bookmark in outline],
        "links": links[:_LINKS_MAX],
        "words": len(_WORD.findall(text)),
    }


def _date(raw: str) -> str | None:
    """RFC 3339 for a PDF's date, in UTC where it names its zone; `None` where it is none."""
    match = _DATE.match(raw)
    if not match:
        return None
    year, month, day, hour, minute, second = (
        int(part or low) for part, low in zip(match.groups(), (0, 1, 1, 0, 0, 0), strict=False)
    )
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
        if match[7] in {"+", "-"}:
            ahead = timedelta(hours=int(match[8] or 0), minutes=int(match[9] or 0))
            moment = moment.replace(tzinfo=timezone(ahead if match[7] == "+" else -ahead)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
