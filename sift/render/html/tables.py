"""Tables: data as Markdown tables, listings as code, layout as the blocks it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sift.render.html import code
from sift.render.html.tree import Node, text_of, walk, words

if TYPE_CHECKING:
    from sift.render.html.blocks import Converter

WIDEST = 200  # columns; what a page says beyond is still there, in the last ones
_LISTING = (
    " highlighttable ",
    " rouge-table ",
    " syntaxhighlighter ",
    " js-file-line-container ",
    " hljs-ln ",
    " highlight ",
    " crayon-table ",
    " lntable ",
)
_HEAVY = words("h1 h2 h3 h4 h5 h6 form table article section iframe blockquote")
_HEAVY_SIZE = 600  # characters in one cell that has blocks of its own: more likely a page's frame than data


def rows(table: Node) -> list[Node]:
    """The rows of this table, not of those inside it."""
    found: list[Node] = []
    for part in table.elements():
        if part.tag == "tr":
            found.append(part)
        elif part.tag in ("thead", "tbody", "tfoot"):
            found.extend(row for row in part.elements() if row.tag == "tr")
    return found


def cells(row: Node) -> list[Node]:
    """The cells of a row."""
    return [cell for cell in row.elements() if cell.tag in ("td", "th")]


def listing(table: Node) -> str:
    """The code of a table that is a listing (line numbers beside code); empty for any other table."""
    names = table.names()
    is_named = bool(names) and any(name in names for name in _LISTING)
    lines = rows(table)
    if not lines or not (is_named or _has_gutter(lines)):
        return ""
    chosen = [cell for row in lines for cell in cells(row) if cell.tag == "td" and not _is_gutter(cell)]
    if is_named and not any(_is_gutter(cell) for row in lines for cell in cells(row)) and len(chosen) != len(lines):
        return ""
    texts = [code.text(cell) for cell in chosen]
    return "\n".join(texts).strip("\n")


def _has_gutter(lines: list[Node]) -> bool:
    first = cells(lines[0])
    if len(first) != 2 or not _is_gutter(first[0]):
        return False
    return any(node.tag in ("pre", "code") for node in walk(first[1]))


def _is_gutter(cell: Node) -> bool:
    if code.is_beside_code(cell):
        return True
    text = text_of(cell, 20_000)
    return (
        bool(text)
        and all(word.rstrip(".:").isdigit() for word in text.split())
        and (cell.tag == "td" and any(node.tag == "pre" or "line" in node.names() for node in walk(cell)))
    )


def is_layout(table: Node) -> bool:
    """Whether a table only places things on the page."""
    if table.attrs.get("role", "").lower() in ("presentation", "none"):
        return True
    lines = [found for row in rows(table) if (found := cells(row))]
    every = [cell for row in lines if len(row) > 1 or len(lines) == 1 for cell in row]
    if not every or max(map(len, lines)) <= 1:
        return True
    if any(cell.tag == "th" for cell in every):
        return any(_holds_table_of_text(cell) for cell in every if cell.tag == "td") and len(lines) <= 3
    heavy = sum(_is_heavy(cell) for cell in every)
    return heavy * 4 > len(every) or (heavy > 0 and len(lines) <= 2)


def _holds_table_of_text(cell: Node) -> bool:
    return cell.size > _HEAVY_SIZE and any(node.tag in _HEAVY for node in walk(cell))


def _is_heavy(cell: Node) -> bool:
    blocks = 0
    for node in walk(cell):
        if node.tag in _HEAVY or (node.tag == "pre" and "\n" in code.text(node)):
            return True
        blocks += node.tag in ("p", "li", "div")
    return (cell.size > _HEAVY_SIZE and blocks > 1) or (cell.size > 200 and blocks > 8)


def write(converter: Converter, table: Node) -> None:
    """Writes a data table; a row that holds a listing stands as blocks between two parts of it."""
    _caption(converter, table)
    lines = rows(table)
    header, body = _parted(lines)
    spans: dict[int, int] = {}
    head = _row(converter, header, spans) if header is not None else []
    part: list[list[str]] = []
    for row in body:
        is_heading = _is_heading(row)
        if is_heading or any(_is_listing(cell) for cell in cells(row)):
            if part:
                _put(converter, head, part)
                part = []
            _unfold(converter, row, [] if is_heading else head)
        elif found := _row(converter, row, spans):
            part.append(found)
    if part or not body:
        _put(converter, head, part)


def _caption(converter: Converter, table: Node) -> None:
    for part in table.elements():
        if part.tag == "caption":
            mark = converter.writer.open("**")
            converter.run(part, inside_only=True)
            converter.writer.close(mark)
            converter.writer.flush()


def _parted(lines: list[Node]) -> tuple[Node | None, list[Node]]:
    """The heading row, where the table has one, and the other rows."""
    for number, row in enumerate(lines[:3]):
        found = cells(row)
        if not found:
            continue
        is_head = all(cell.tag == "th" for cell in found) or (row.parent is not None and row.parent.tag == "thead")
        if is_head and (len(found) > 1 or len(lines) == 1):
            return row, lines[:number] + lines[number + 1 :]
        if not is_head:
            break
    return None, lines


def _row(converter: Converter, row: Node, spans: dict[int, int]) -> list[str]:
    """The texts of a row in their columns; what a span covers is empty."""
    texts: list[str] = []
    for cell in cells(row):
        while spans.get(len(texts), 0) > 0:
            spans[len(texts)] -= 1
            texts.append("")
        if len(texts) >= WIDEST:
            texts[-1] = f"{texts[-1]} {converter.cell(cell)}".strip()
            continue
        width = _span(cell.attrs.get("colspan"), WIDEST - len(texts))
        height = _span(cell.attrs.get("rowspan"), 65_534)
        if height > 1:
            spans.update(dict.fromkeys(range(len(texts), len(texts) + width), height - 1))
        texts.append(converter.cell(cell))
        texts.extend([""] * (width - 1))
    for column in [column for column, left in spans.items() if column >= len(texts) and left > 0]:
        spans[column] -= 1
    return texts if any(texts) else []


def _span(said: str | None, most: int) -> int:
    text = (said or "").strip()
    return min(max(1, int(text)), max(1, most)) if text.isascii() and text.isdigit() and len(text) < 6 else 1


def _is_listing(cell: Node) -> bool:
    return any(node.tag == "pre" and "\n" in code.text(node) for node in walk(cell))


def _is_heading(row: Node) -> bool:
    """Whether a row is one cell with a heading: it parts the table."""
    found = [cell for cell in cells(row) if cell.size]
    return len(found) == 1 and any(len(node.tag) == 2 and node.tag in _HEAVY for node in walk(found[0]))


def _unfold(converter: Converter, row: Node, head: list[str]) -> None:
    for number, cell in enumerate(cells(row)):
        name = head[number] if number < len(head) else ""
        if name and cell.size:
            converter.writer.raw(f"**{name}**: ")
            converter.writer.ends_open = True
        converter.run(cell, inside_only=True)
        converter.writer.flush()


def _put(converter: Converter, head: list[str], part: list[list[str]]) -> None:
    if not head and not part:
        return
    width = max(len(row) for row in [head, *part])
    head = head + [""] * (width - len(head))
    used = [column for column in range(width) if head[column] or any(len(row) > column and row[column] for row in part)]
    rows_left = [head, ["---"] * width, *part]
    lines = [" | ".join(row[column] for column in used if column < len(row)) for row in rows_left]
    converter.writer.put([f"| {line} |" for line in lines])
