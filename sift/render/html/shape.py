"""Questions about single elements that decide how they are written: where they stand, and what they hold.

Nothing here writes.
"""

from __future__ import annotations

from sift.render.html.tree import Node

_SECTIONING = frozenset(["h1", "h2", "h3", "h4", "h5", "h6", "section", "article"])


def is_frame(node: Node) -> bool:
    """Whether a list only places things on the page: its items hold headings."""
    if node.tag not in ("ul", "ol", "menu"):
        return False
    return any(kid.tag in _SECTIONING for item in node.elements() for kid in item.elements())


def number(said: str | None, default: int) -> int:
    text = (said or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else default


def spaced(node: Node) -> str:
    pieces: list[str] = []
    stack: list[Node | str] = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            pieces.append(item)
        elif item.tag == "br":
            pieces.append(" ")
        elif not item.is_dropped:
            stack.extend(reversed(item.kids))
    return "".join(pieces)


def is_listing(node: Node) -> bool:
    """Whether a `code` element is a block: it alone fills its block, and has several lines."""
    parent = node.parent
    if node.tag != "code" or parent is None or parent.tag not in ("p", "div", "td", "dd", "li", "figure", "body"):
        return False
    if any(kid is not node and not (isinstance(kid, str) and not kid.strip()) for kid in parent.kids):
        return False
    return _line_ends(node) >= 2


def _line_ends(node: Node) -> int:
    count, stack = 0, [node]
    while stack and count < 2:
        for kid in stack.pop().kids:
            if not isinstance(kid, str):
                count += kid.tag in ("br", "div")
                stack.append(kid)
    return count


def is_fragment(node: Node) -> bool:
    """Whether a `div` is a listing, line by line."""
    lines = node.inner
    return len(lines) > 0 and " fragment " in node.names() and all(" line " in line.names() for line in lines[:50])


def is_formula(attrs: dict[str, str]) -> bool:
    names = attrs.get("class", "").split()
    return "tex" in names or "mwe-math-fallback-image-inline" in names or "latex" in names


def is_in(node: Node, tag: str) -> bool:
    above = node.parent
    for _ in range(6):
        if above is None:
            return False
        if above.tag == tag:
            return True
        above = above.parent
    return False


def holds(node: Node, tag: str) -> bool:
    return any(kid.tag == tag for kid in node.elements())


def ends_in_word(buffer: list[str]) -> bool:
    last = buffer[-1] if buffer else ""
    return bool(last) and (last[-1].isalnum() or last[-1] in ")*")
