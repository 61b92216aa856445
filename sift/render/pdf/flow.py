"""Lines of one column as paragraphs: wrapped lines joined, short ones left alone, code with its indentation.

Knows nothing of columns, tables or pages.
"""

from __future__ import annotations

import re
from itertools import groupby, pairwise

from sift.render.pdf.reader import Piece
from sift.render.pdf.words import HYPHEN

APART = "   "  # between what stands on one line but apart, where it is no table
_NARROW = 14  # line heights: what is narrower was not wrapped for lack of width
_IDEOGRAPHIC = re.compile("[\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
_INDENT_MAX = 60
_LEADERS = re.compile(r"\.{4,}|(?:\. ){3,}")
_ITEM = re.compile(r"[•‣◦▪●○■–—*·-] |\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)] |\[\d{1,3}\] |\[[A-Z]\w{0,20}\] |$")

# Pieces in order, each with what stands between it and the one before.
Paragraph = list[tuple[str, Piece]]


def flow(pieces: list[Piece]) -> list[str]:
    """The paragraphs of a column: what was two lines only for lack of width is one line again."""
    shown: list[str] = []
    for is_code, group in groupby(_paragraphs(pieces), key=_is_code):
        paragraphs = list(group)
        margin = min(piece.left for paragraph in paragraphs for _, piece in paragraph)
        shown += [_indented(paragraph, margin) if is_code else _text(paragraph) for paragraph in paragraphs]
    return shown


def _paragraphs(pieces: list[Piece]) -> list[Paragraph]:
    if not pieces:
        return []
    edge = max(piece.right for piece in pieces)
    is_narrow = edge - min(piece.left for piece in pieces) < _NARROW * pieces[0].em
    leading = _leading(pieces)
    paragraphs: list[Paragraph] = [[("", pieces[0])]]
    for above, below in pairwise(pieces):
        distance = above.y - below.y
        if abs(distance) < 0.3 * below.em:
            paragraphs[-1].append((APART, below))
        elif _is_apart(above, below, distance, leading):
            paragraphs.append([("", below)])
        elif above.text.endswith(HYPHEN):
            paragraphs[-1].append(("", below))
        else:
            is_wrapped = not is_narrow and _is_wrapped(above, below, edge)
            paragraphs[-1].append((_between(above, below) if is_wrapped else "\n", below))
    return paragraphs


def _between(above: Piece, below: Piece) -> str:
    """What joins a wrapped line to the next: nothing between signs of Chinese or Japanese."""
    return "" if _IDEOGRAPHIC.search(above.text[-1:]) and _IDEOGRAPHIC.search(below.text[:1]) else " "


def _text(paragraph: Paragraph) -> str:
    return "".join(between + piece.text for between, piece in paragraph)


def _is_code(paragraph: Paragraph) -> bool:
    """Whether the lines were written with a typewriter: no line is wrapped, and all signs are of one width."""
    widths = sorted(_sign(piece) for _, piece in paragraph if len(piece.text) > 3)
    if len(widths) < 2 or any(between != "\n" for between, _ in paragraph[1:] if between != APART):
        return False
    # wider ones are lines whose inner spaces were folded into one
    same = sum(1 for width in widths if width < 1.01 * widths[0])
    return same >= 2 and same >= 0.6 * len(widths)


def _sign(piece: Piece) -> float:
    return (piece.right - piece.left) / len(piece.text)


def _indented(paragraph: Paragraph, margin: float) -> str:
    """Lines of code, each as far from the margin as it stands on the page."""
    sign = min(_sign(piece) for _, piece in paragraph if len(piece.text) > 3)
    if sign <= 0:
        return _text(paragraph)
    shown = ""
    for between, piece in paragraph:
        spaces = round((piece.left - margin) / sign) if between != APART else 0
        shown += between + " " * min(spaces, _INDENT_MAX) + piece.text
    return shown


def _leading(pieces: list[Piece]) -> float:
    """The usual distance of two lines."""
    distances = sorted(a.y - b.y for a, b in pairwise(pieces) if 0.5 * b.em < a.y - b.y < 2.5 * b.em)
    return distances[len(distances) // 2] if distances else 1.2 * pieces[0].em


def _is_apart(above: Piece, below: Piece, distance: float, leading: float) -> bool:
    is_far = distance > 1.4 * max(leading, 0.8 * below.em) or distance < -0.5 * below.em
    return is_far or abs(above.em - below.em) > 0.25 * above.em


def _is_wrapped(above: Piece, below: Piece, edge: float) -> bool:
    """Whether the first word of the lower line would not have fitted on the upper one."""
    if _ITEM.match(below.text) or _LEADERS.search(above.text) or _LEADERS.search(below.text):
        return False
    if below.left > above.left + 0.8 * below.em and above.text[-1:] in ".!?:":
        return False
    first = len(below.text.split(" ", 1)[0])
    width = (below.right - below.left) / max(1, len(below.text))
    return above.right + (first + 1) * width > edge - 0.3 * above.em
