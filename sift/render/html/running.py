"""Running text: how much of it an element holds, outside of links.

What follows from it is decided elsewhere.
"""

from __future__ import annotations

from sift.render.html.tree import Node, walk, words

_INLINE = words(
    "a abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark math nobr q "
    "rp rt ruby s samp small span strike strong sub sup time tt u var wbr"
)
_PARTED = frozenset(["div", "section", "article", "main", "body", "td", "center", "form", "span", "font", "p"])
LEAST = 40  # characters of running text in one piece that speak for an article


def score(root: Node) -> list[Node]:
    """Sets `size`, `linked`, `own` and `good` from `root` down; returns the elements on the page, in order."""
    order = list(walk(root))
    _sum(order)
    return order


def rescore(order: list[Node]) -> list[Node]:
    """The same again, after some of `order` were dropped: what is inside them is dropped with them."""
    left = []
    for node in order:
        if node.is_dropped:
            for kid in node.inner:
                kid.is_dropped = True
        else:
            left.append(node)
    _sum(left)
    return left


def _sum(order: list[Node]) -> None:
    for node in reversed(order):
        own = size = node.chars
        linked = own_linked = 0
        good = 0.0
        is_inline = node.tag in _INLINE
        for kid in node.inner:
            if kid.is_dropped:
                continue
            size += kid.size
            linked += kid.linked
            if kid.is_inline:
                own += kid.size
                own_linked += kid.linked
            else:
                good += kid.good
                is_inline = False
        if node.tag == "a":
            good, linked = 0.0, size
        elif not is_inline and own >= LEAST and own > 2 * own_linked:
            good += own - 2 * own_linked
        node.size, node.linked, node.own, node.own_linked = size, linked, own, own_linked
        node.good, node.is_inline = good, is_inline


def part(root: Node) -> list[Node]:
    """Puts each run of text beside blocks, or between two line breaks, into a paragraph of its own; these."""
    made: list[Node] = []
    for node in list(walk(root)):
        if not node.is_inline and node.own and node.tag in _PARTED:
            _part(node, made)
    return made


def _part(node: Node, made: list[Node]) -> None:
    runs: list[Node | list[Node | str]] = [[]]
    for kid in node.kids:
        last = runs[-1]
        if isinstance(kid, Node) and kid.tag != "br" and not kid.is_inline:
            runs.append(kid)
        elif isinstance(last, Node):
            runs.append([kid])
        elif isinstance(kid, Node) and kid.tag == "br" and _ends_in_break(last):
            runs.append([])
        else:
            last.append(kid)
    if len(runs) > 1:
        node.kids, node.inner, node.chars = [], [], 0
        for run in runs:
            _append(node, run, made)


def _ends_in_break(run: list[Node | str]) -> bool:
    for kid in reversed(run):
        if isinstance(kid, Node):
            return kid.tag == "br"
        if kid.strip():
            return False
    return False


def _append(node: Node, run: Node | list[Node | str], made: list[Node]) -> None:
    if isinstance(run, Node):
        node.add(run)
        return
    paragraph = Node("p", {}, node)
    for kid in run:
        if isinstance(kid, str):
            paragraph.add_text(kid)
            continue
        paragraph.kids.append(kid)
        if kid.tag != "br":
            paragraph.inner.append(kid)
            kid.parent = paragraph
    if paragraph.chars or paragraph.inner:
        node.add(paragraph)
        made.append(paragraph)
