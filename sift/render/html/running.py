"""Running text: how much of it an element holds, outside of links.

What follows from it is decided elsewhere.
"""

from __future__ import annotations

from sift.render.html.tree import Node, walk, words

_INLINE = words(
    "a abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark math nobr q "
    "rp rt ruby s samp small span strike strong sub sup time tt u var wbr"
)
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
