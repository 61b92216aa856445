"""Pieces of a page, by their places alone, in reading order: columns one after the other, tables as rows.

Pure geometry and text; PDFium is not known here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from sift.render.pdf.flow import APART, flow
from sift.render.pdf.reader import Piece
from sift.render.pdf.words import HYPHEN

_GUTTER = 0.6  # narrowest gap between columns, in line heights
_PROSE_CHARS = 22  # a column whose lines are so long on average is prose; shorter ones are a table's
_DEPTH = 6
_PIECES_MAX = 3_000  # a page of more pieces is a drawing or an attack: read in its own order


@dataclass(slots=True)
class Row:
    """Pieces that stand side by side, from left to right."""

    pieces: list[Piece] = field(default_factory=list)

    @property
    def y(self) -> float:
        return self.pieces[0].y

    @property
    def em(self) -> float:
        return max(piece.em for piece in self.pieces)


def in_order(pieces: Sequence[Piece]) -> list[str]:
    """The page's paragraphs and tables, each a string of lines, in reading order."""
    if not pieces:
        return []
    if len(pieces) > _PIECES_MAX or _is_upright(pieces):
        return ["\n".join(piece.text for piece in pieces)]
    if _falls(pieces):
        return flow(list(pieces))
    ordered = sorted(pieces, key=lambda piece: (-piece.y - piece.em / 2, piece.left))
    return _blocks(ordered, _DEPTH)


def _is_upright(pieces: Sequence[Piece]) -> bool:
    """Whether most text runs up or down the page: then places say nothing about lines."""
    long = [piece for piece in pieces if len(piece.text) > 5]
    return bool(long) and sum(1 for p in long if p.right - p.left < p.em) > len(long) / 2


def _falls(pieces: Sequence[Piece]) -> bool:
    """Whether each piece stands below the one before it, so that there is nothing to order."""
    return all(below.y + 0.3 * below.em <= above.y for above, below in pairwise(pieces))


def _blocks(pieces: list[Piece], depth: int) -> list[str]:
    """Paragraphs and tables of a region whose pieces come from top to bottom."""
    found: list[str] = []
    plain: list[Piece] = []
    at = 0
    while at < len(pieces):
        band = _band(pieces, at, at - len(plain)) if depth else None
        if not band:
            plain.append(pieces[at])
            at += 1
            continue
        begin, end, gutter = band
        del plain[len(plain) - (at - begin) :]
        found += flow(plain)
        plain = []
        found += _side_by_side(pieces[begin:end], gutter, depth)
        at = end
    return found + flow(plain)


def _band(pieces: list[Piece], at: int, floor: int) -> tuple[int, int, tuple[float, float]] | None:
    """The stretch around the piece `at`, from `floor` on, that a gutter divides: begin, end, gutter.

    `None` where nothing stands beside that piece.
    """
    gutter = _gutter_beside(pieces, at)
    if not gutter:
        return None
    begin, end = at, at + 1
    while end < len(pieces) and (narrowed := _narrowed(gutter, pieces[end])):
        gutter, end = narrowed, end + 1
    while (
        begin > floor
        and (narrowed := _narrowed(gutter, pieces[begin - 1]))
        and _is_near(pieces[begin - 1], pieces[begin])
    ):
        gutter, begin = narrowed, begin - 1
    return begin, end, gutter


def _gutter_beside(pieces: list[Piece], at: int) -> tuple[float, float] | None:
    """The widest gap between the piece `at` and what stands beside it on its height."""
    one = pieces[at]
    gaps = []
    for other in pieces[at + 1 :]:
        if other.y + other.em < one.y + 0.5 * one.em:
            break
        gaps.append((one.right, other.left) if other.left > one.left else (other.right, one.left))
    wide = [gap for gap in gaps if gap[1] - gap[0] >= _GUTTER * one.em]
    # the nearest neighbour's: a gap that spans a third column is no gutter
    return min(wide, key=lambda gap: gap[1] - gap[0]) if wide else None


def _narrowed(gutter: tuple[float, float], piece: Piece) -> tuple[float, float] | None:
    """What is left of a gutter beside a piece; `None` where that is too narrow: the piece crosses it."""
    left, right = gutter
    beside = ((max(left, piece.right), right), (left, min(right, piece.left)))
    rest = max(beside, key=lambda gap: gap[1] - gap[0])
    return rest if rest[1] - rest[0] >= _GUTTER * 0.8 * piece.em else None


def _is_near(above: Piece, below: Piece) -> bool:
    return above.y - below.y < 3 * below.em


def _side_by_side(pieces: list[Piece], gutter: tuple[float, float], depth: int) -> list[str]:
    """A band as columns, one after the other, where both are prose; else as the rows of a table."""
    middle = sum(gutter) / 2
    left = [piece for piece in pieces if piece.left < middle]
    right = [piece for piece in pieces if piece.left >= middle]
    if _is_prose(left) and _is_prose(right):
        return _blocks(left, depth - 1) + _blocks(right, depth - 1)
    return _table(_rows(pieces))


def _is_prose(pieces: list[Piece]) -> bool:
    return len(pieces) >= 3 and sum(len(piece.text) for piece in pieces) >= _PROSE_CHARS * len(pieces)


def _rows(pieces: list[Piece]) -> list[Row]:
    """Pieces, from top to bottom, gathered into rows by their height on the page."""
    rows: list[Row] = []
    for piece in pieces:
        if rows and abs(rows[-1].y - piece.y) < 0.45 * max(rows[-1].em, piece.em):
            rows[-1].pieces.append(piece)
        else:
            rows.append(Row([piece]))
    for row in rows:
        row.pieces.sort(key=lambda piece: piece.left)
    return rows


def _table(rows: list[Row]) -> list[str]:
    """Rows as a Markdown table where they share columns; lines before the first and after the last full row apart."""
    full = [number for number, row in enumerate(rows) if len(row.pieces) > 1]
    if not full:
        return flow([piece for row in rows for piece in row.pieces])
    begin, end = full[0], full[-1] + 1
    before = [piece for row in rows[:begin] for piece in row.pieces]
    after = [piece for row in rows[end:] for piece in row.pieces]
    return [*flow(before), _grid(rows[begin:end]), *flow(after)]


def _grid(rows: list[Row]) -> str:
    columns = _columns(rows)
    cells = [_cells(row, columns) for row in rows]
    is_table = len(rows) > 1 and 1 < len(columns) <= 30 and all(cells)
    if not is_table:
        return "\n".join(APART.join(piece.text.replace(HYPHEN, "-") for piece in row.pieces) for row in rows)
    lines = ["| " + " | ".join(_escaped(cell) for cell in row) + " |" for row in cells]
    return "\n".join([lines[0], "|" + " --- |" * len(columns), *lines[1:]])


def _columns(rows: list[Row]) -> list[tuple[float, float]]:
    """The stretches of the page's width that the pieces of a table fill between them."""
    columns: list[tuple[float, float]] = []
    for left, right in sorted((piece.left, piece.right) for row in rows for piece in row.pieces):
        if columns and left < columns[-1][1] + 1:
            columns[-1] = (columns[-1][0], max(columns[-1][1], right))
        else:
            columns.append((left, right))
    return columns


def _cells(row: Row, columns: list[tuple[float, float]]) -> list[str]:
    """A row's text by column; empty where two of its pieces fall into one."""
    cells = [""] * len(columns)
    for piece in row.pieces:
        number = next((n for n, (_, right) in enumerate(columns) if piece.left <= right), len(columns) - 1)
        if cells[number]:
            return []
        cells[number] = piece.text.replace(HYPHEN, "-")
    return cells


def _escaped(cell: str) -> str:
    return cell.replace("\\", "\\\\").replace("|", "\\|")
