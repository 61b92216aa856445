"""A PDF through PDFium: its pages as pieces of lines with their places, its outline, what it says about itself.

The only module that speaks to PDFium; reading order and Markdown are not known here.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from sift.errors import Unsupported
from sift.render.pdf.words import HYPHEN

# PDFium puts a mark for a hyphen at the end of a line, and goes on with the next line at once.
_LINE = re.compile(rf"[^\r\n{HYPHEN}]+{HYPHEN}?")
_ABOUT = ("Title", "Author", "Subject", "CreationDate", "ModDate")
_OUTLINE_MAX = 5_000
_OUTLINE_DEPTH = 8
_TITLE_MAX_CHARS = 500
_PASSWORD = 4  # FPDF_ERR_PASSWORD
_SECURITY = 5  # FPDF_ERR_SECURITY
# What may stand alone at the beginning of a line, far from its text, without being a column: a bullet, a number.
_MARKER = re.compile(
    r"\W|\(?(?:\d{1,3}|[a-zA-Z]|[ivxlIVXL]{1,5})[.):]|\d{1,3}(?:\.\d{1,3})*\.?|[A-Z](?:\.\d{1,3})*|§ ?\d+"
)
_WIDE = 1.2  # gaps over so many line heights keep columns apart; a justified line stretches less
_WIDE_AMONG = 0.75
_CROWDED = 0.5  # line heights a character: no wider than this is no line with a gap in it
_SPREAD = 1.03  # lines so much wider a character than the page's median are looked at for gaps


@dataclass(slots=True)
class Piece:
    """A stretch of text on one line: left and right edge, baseline or near it, height, in points from below."""

    text: str
    left: float
    right: float
    y: float
    em: float


@dataclass(frozen=True, slots=True)
class Bookmark:
    """An entry of the outline. `level` counts from 0; `page` from 0, `None` where it leads nowhere."""

    title: str
    level: int
    page: int | None


class Document:
    """An open PDF. Use it as a context manager; one thread alone."""

    def __init__(self, body: bytes) -> None:
        """Raises `Unsupported`, saying which, for what is empty, damaged or encrypted."""
        if not body.strip():
            raise Unsupported("the PDF is empty; there is nothing in it")
        self._document = _opened(body)
        self._boxes = tuple(ctypes.c_double() for _ in range(4))
        self._box_refs = tuple(ctypes.byref(edge) for edge in self._boxes)
        self._loose = pdfium.FS_RECTF()
        self._loose_ref = ctypes.byref(self._loose)

    def __enter__(self) -> Document:
        return self

    def __exit__(self, *_: object) -> None:
        self._document.close()

    def __len__(self) -> int:
        return len(self._document)

    def pieces(self, index: int) -> list[Piece]:
        """The text of a page (counted from 0) in the order of the file; empty where it has none or is damaged."""
        page = pdfium.FPDF_LoadPage(self._document.raw, index)
        if not page:
            return []
        text_page = pdfium.FPDFText_LoadPage(page)
        try:
            return self._read(text_page) if text_page else []
        finally:
            if text_page:
                pdfium.FPDFText_ClosePage(text_page)
            pdfium.FPDF_ClosePage(page)

    def _read(self, text_page: Any) -> list[Piece]:
        size = pdfium.FPDFText_CountChars(text_page)
        if size <= 0:
            return []
        buffer = (ctypes.c_ushort * (size + 1))()
        written = max(0, pdfium.FPDFText_GetText(text_page, 0, size, buffer) - 1)
        text = bytes(buffer)[: 2 * written].decode("utf-16-le", "replace")
        if len(text) != size:
            # characters and their places no longer count alike (some have no Unicode, or take two units)
            text = _character_by_character(text_page, size)
        return self._pieces(text_page, text)

    def _pieces(self, text_page: Any, text: str) -> list[Piece]:
        lines = [(match.start(), match[0]) for match in _LINE.finditer(text.replace("\ufffe", HYPHEN))]
        whole = [self._whole(text_page, at, line) for at, line in lines if line.strip()]
        widths = sorted((p.right - p.left) / (len(p.text) * p.em) for _, p in whole if len(p.text) > 8)
        usual = min(_CROWDED, _SPREAD * widths[len(widths) // 2] if widths else _CROWDED)
        pieces: list[Piece] = []
        for at, piece in whole:
            is_spread = piece.right - piece.left > usual * len(piece.text) * piece.em
            pieces.extend(self._split(text_page, at, piece) if is_spread and " " in piece.text else [piece])
        return pieces

    def _whole(self, text_page: Any, at: int, line: str) -> tuple[int, Piece]:
        """A line as one piece, without the spaces around it, and the index of its first character."""
        begin = at + len(line) - len(line.lstrip())
        line = line.strip()
        last = begin + max(1, len(line.rstrip(HYPHEN))) - 1
        middle = (begin + last) // 2
        middle += line[middle - begin] == " "  # a space may have the height of another font
        boxes = [self._loose_box(text_page, index) for index in (begin, middle, last)]
        em = sorted(top - bottom for _, bottom, _, top in boxes)[1]  # a bullet's font or a footnote's is not the line's
        left, right = boxes[0][0], boxes[2][2]
        y = self._baseline(text_page, begin)
        return begin, Piece(line, left, max(left, right), y, em if 0 < em < 10_000 else 10.0)

    def _split(self, text_page: Any, at: int, piece: Piece) -> list[Piece]:
        """A line, taken apart where the gap at a space is wide."""
        spaces = [(match.start(), match.end()) for match in re.finditer(r" +", piece.text)]
        edges = [(self._box(text_page, at + a - 1)[2], self._box(text_page, at + b)[0]) for a, b in spaces]
        usual = sorted(after - before for before, after in edges)[len(edges) // 2]
        pieces, begin, left = [], 0, piece.left
        for (end, following), (before, after) in zip(spaces, edges, strict=True):
            is_marker = begin == 0 and _MARKER.fullmatch(piece.text[:end])
            # the space after a sentence may be twice that of a word
            least = 2.5 * usual if piece.text[end - 1] not in ".:;!?," else float("inf")
            if _is_wide(after - before, least, piece.em) and not is_marker:
                pieces.append(Piece(piece.text[begin:end], left, before, piece.y, piece.em))
                begin, left = following, after
        pieces.append(Piece(piece.text[begin:], left, piece.right, piece.y, piece.em))
        return pieces

    def _loose_box(self, text_page: Any, index: int) -> tuple[float, float, float, float]:
        """Left, bottom, right, top of a character's cell; its height is that of the line."""
        box = self._loose
        if not pdfium.FPDFText_GetLooseCharBox(text_page, index, self._loose_ref):
            return 0.0, 0.0, 0.0, 0.0
        return box.left, box.bottom, box.right, box.top

    def _baseline(self, text_page: Any, index: int) -> float:
        """The height on which a character stands; other than its box, the same for all fonts of a line."""
        _, y, _, _ = self._boxes
        return y.value if pdfium.FPDFText_GetCharOrigin(text_page, index, *self._box_refs[:2]) else 0.0

    def _box(self, text_page: Any, index: int) -> tuple[float, float, float, float]:
        left, right, bottom, top = self._boxes
        pdfium.FPDFText_GetCharBox(text_page, index, *self._box_refs)
        return left.value, bottom.value, right.value, top.value

    def outline(self) -> list[Bookmark]:
        """The outline in its order, up to a limit in number and depth; titles on one line, never empty."""
        found: list[Bookmark] = []
        seen: set[int] = set()
        waiting = [(pdfium.FPDFBookmark_GetFirstChild(self._document.raw, None), 0)]
        while waiting and len(seen) < _OUTLINE_MAX:
            entry, level = waiting.pop()
            if not entry or ctypes.addressof(entry.contents) in seen:  # an outline may lead in a circle
                continue
            seen.add(ctypes.addressof(entry.contents))
            waiting.append((pdfium.FPDFBookmark_GetNextSibling(self._document.raw, entry), level))
            if level < _OUTLINE_DEPTH:
                waiting.append((pdfium.FPDFBookmark_GetFirstChild(self._document.raw, entry), level + 1))
            title = " ".join(_text_of(pypdfium2.PdfBookmark(entry, self._document, level).get_title).split())
            if title:
                found.append(Bookmark(title[:_TITLE_MAX_CHARS], level, self._page_of(entry)))
        return found

    def _page_of(self, entry: Any) -> int | None:
        destination = pdfium.FPDFBookmark_GetDest(self._document.raw, entry)
        index = pdfium.FPDFDest_GetDestPageIndex(self._document.raw, destination) if destination else -1
        return index if index >= 0 else None

    def about(self) -> dict[str, str]:
        """What the document says about itself, by PDF's own keys (`Title`, `Author`, `CreationDate` …)."""
        read = {key: partial(self._document.get_metadata_value, key) for key in _ABOUT}
        return {key: " ".join(_text_of(value).split())[:_TITLE_MAX_CHARS] for key, value in read.items()}

    def language(self) -> str | None:
        """The language of the whole document, as its catalog names it."""
        size = pdfium.FPDFCatalog_GetLanguage(self._document.raw, None, 0)
        if not 2 < size < 200:
            return None
        buffer = ctypes.create_string_buffer(size)
        pdfium.FPDFCatalog_GetLanguage(self._document.raw, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
        return buffer.raw[: size - 2].decode("utf-16-le", "ignore").strip("\0 ") or None

    def links(self, index: int) -> Iterator[str]:
        """The addresses that a page's link annotations lead to."""
        page = pdfium.FPDF_LoadPage(self._document.raw, index)
        if not page:
            return
        try:
            position, link = ctypes.c_int(0), pdfium.FPDF_LINK()
            while pdfium.FPDFLink_Enumerate(page, ctypes.byref(position), ctypes.byref(link)):
                address = self._address(link)
                if address:
                    yield address
        finally:
            pdfium.FPDF_ClosePage(page)

    def _address(self, link: Any) -> str:
        action = pdfium.FPDFLink_GetAction(link)
        size = pdfium.FPDFAction_GetURIPath(self._document.raw, action, None, 0) if action else 0
        if not 1 < size < 8192:
            return ""
        buffer = ctypes.create_string_buffer(size)
        pdfium.FPDFAction_GetURIPath(self._document.raw, action, buffer, size)
        return buffer.value.decode("utf-8", "replace")


def _is_wide(gap: float, least: float, em: float) -> bool:
    """Whether a gap keeps columns apart: very wide, or wide in a line whose other gaps are not."""
    return gap > _WIDE * em or (gap > _WIDE_AMONG * em and gap > least)


def _opened(body: bytes) -> Any:
    try:
        return pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) in {_PASSWORD, _SECURITY}:
            raise Unsupported("the PDF is encrypted and asks for a password") from None
        raise Unsupported("the PDF is damaged and cannot be read") from None


def _character_by_character(text_page: Any, size: int) -> str:
    codes = (pdfium.FPDFText_GetUnicode(text_page, index) for index in range(size))
    return "".join(chr(code) if 0 < code < 0xD800 or 0xDFFF < code <= 0x10FFFF else "\ufffd" for code in codes)


def _text_of(read: Any) -> str:
    try:
        return _utf8(read())
    except (UnicodeDecodeError, pypdfium2.PdfiumError):
        return ""


def _utf8(text: str) -> str:
    return text.encode("utf-8", "replace").decode().replace("\0", "")
