"""Small PDFs, written by hand: text at places, an outline, facts about the document, and ways to be broken.

Bytes only; nothing is read or rendered here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

# A text at a place: left edge and baseline in points from the lower left corner, size, words.
Run = tuple[float, float, float, str]
# An entry of the outline: level from 0, title, page from 1.
Mark = tuple[int, str, int]
_LEADING = 12


def lines(text: str, *, x: float = 72, y: float = 720, size: float = 10) -> list[Run]:
    """The lines of `text` below each other, from `y` down."""
    return [(x, y - number * _LEADING, size, line) for number, line in enumerate(text.split("\n")) if line]


def pdf(
    pages: Sequence[Sequence[Run]],
    *,
    outline: Sequence[Mark] = (),
    about: Mapping[str, str] | None = None,
    language: str | None = None,
    links: Sequence[str] = (),
    is_encrypted: bool = False,
    font: str = "Helvetica",
) -> bytes:
    """A PDF with these pages; `links` are annotations of its first page."""
    objects: list[bytes] = [b""] * 4  # catalog, pages, font, info: their places are fixed
    kids = [_page(objects, runs, links if number == 0 else ()) for number, runs in enumerate(pages)]
    first, last = _outline(objects, outline, kids)
    marks = b""
    if first:
        objects.append(b"<< /Type /Outlines /First %d 0 R /Last %d 0 R /Count %d >>" % (first, last, len(outline)))
        marks = b" /Outlines %d 0 R" % len(objects)
    spoken = b" /Lang %b" % _string(language) if language else b""
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R%b%b >>" % (marks, spoken)
    references = b" ".join(b"%d 0 R" % kid for kid in kids)
    objects[1] = b"<< /Type /Pages /Kids [%b] /Count %d /MediaBox [0 0 612 792] >>" % (references, len(kids))
    objects[2] = b"<< /Type /Font /Subtype /Type1 /BaseFont /%b /Encoding /WinAnsiEncoding >>" % font.encode()
    facts = b" ".join(b"/%b %b" % (key.encode(), _string(value)) for key, value in (about or {}).items())
    objects[3] = b"<< %b >>" % facts
    if is_encrypted:
        objects.append(b"<< /Filter /Standard /V 1 /R 2 /O <%b> /U <%b> /P -4 >>" % (b"ab" * 32, b"cd" * 32))
    return _file(objects, b" /Encrypt %d 0 R /ID [<00> <00>]" % len(objects) if is_encrypted else b"")


def _page(objects: list[bytes], runs: Sequence[Run], links: Sequence[str]) -> int:
    content = b"\n".join(
        b"BT /F1 %b Tf 1 0 0 1 %b %b Tm %b Tj ET" % (_number(size), _number(x), _number(y), _literal(text))
        for x, y, size, text in runs
    )
    objects.append(b"<< /Length %d >>\nstream\n%b\nendstream" % (len(content), content))
    stream = len(objects)
    notes = []
    for number, url in enumerate(links):
        box = b"[72 %d 200 %d]" % (100 + 20 * number, 115 + 20 * number)
        action = b"<< /S /URI /URI %b >>" % _literal(url)
        objects.append(b"<< /Type /Annot /Subtype /Link /Rect %b /A %b >>" % (box, action))
        notes.append(b"%d 0 R" % len(objects))
    annotations = b" /Annots [%b]" % b" ".join(notes) if notes else b""
    font = b"/Resources << /Font << /F1 3 0 R >> >>"
    objects.append(b"<< /Type /Page /Parent 2 0 R /Contents %d 0 R %b%b >>" % (stream, font, annotations))
    return len(objects)


def _outline(objects: list[bytes], marks: Sequence[Mark], kids: Sequence[int]) -> tuple[int, int]:
    """Adds the entries; the object numbers of the first and last of the top level, 0 where there are none."""
    if not marks:
        return 0, 0
    base = len(objects) + 1
    root = base + len(marks)
    parents, ends = _kin(marks)
    for at, (level, title, page) in enumerate(marks):
        after = next((n for n in range(at + 1, len(marks)) if marks[n][0] <= level), None)
        following = b" /Next %d 0 R" % (base + after) if after is not None and marks[after][0] == level else b""
        inside = b""
        if ends[at] is not None:
            inside = b" /First %d 0 R /Last %d 0 R /Count 1" % (base + at + 1, base + (ends[at] or 0))
        parent = base + parents[at] if parents[at] >= 0 else root
        goal = b"/Dest [%d 0 R /Fit]" % kids[page - 1]
        objects.append(b"<< /Title %b /Parent %d 0 R %b%b%b >>" % (_string(title), parent, goal, following, inside))
    return base, base + max(n for n, mark in enumerate(marks) if mark[0] == 0)


def _kin(marks: Sequence[Mark]) -> tuple[list[int], list[int | None]]:
    """For each entry its parent (-1: none) and the last of its children."""
    parents: list[int] = []
    ends: list[int | None] = [None] * len(marks)
    for at, (level, _, _) in enumerate(marks):
        parent = next((n for n in range(at - 1, -1, -1) if marks[n][0] < level), -1)
        parents.append(parent)
        if parent >= 0:
            ends[parent] = at
    return parents, ends


def _file(objects: Sequence[bytes], extra: bytes) -> bytes:
    parts = [b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"]
    places, at = [], len(parts[0])
    for number, content in enumerate(objects, 1):
        parts.append(b"%d 0 obj\n%b\nendobj\n" % (number, content))
        places.append(at)
        at += len(parts[-1])
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    trailer = b"trailer\n<< /Size %d /Root 1 0 R /Info 4 0 R%b >>" % (len(objects) + 1, extra)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    return b"".join([*parts, head, table, trailer, b"\nstartxref\n%d\n%%%%EOF\n" % at])


def _number(value: float) -> bytes:
    return f"{value:g}".encode()


def _literal(text: str) -> bytes:
    raw = text.encode("cp1252")
    for sign in (b"\\", b"(", b")"):
        raw = raw.replace(sign, b"\\" + sign)
    return b"(" + raw + b")"


def _string(text: str) -> bytes:
    return b"<" + b"\xfe\xff".hex().encode() + text.encode("utf-16-be").hex().encode() + b">"
