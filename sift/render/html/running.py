"""Running text: how much of it an element holds, outside of links.

What follows from it is decided elsewhere.
"""

from __future__ import annotations

from sift.render.html.tree import Node, weigh

_INLINE = frozenset(
    ["a", "abbr", "acronym", "b", "bdi", "bdo", "big", "br", "cite", "code", "data", "del", "dfn", "em", "font", "i", "img", "ins", "kbd", "label", "mark", "math", "nobr", "q", "rp", "rt", "ruby", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr"]
)
LEAST = 40  # characters of running text in one piece that speak for an article


def score(root: Node) -> list[Node]:
    """Sets `good`: the characters of running text outside of links, from `root` down; returns the elements in order."""
    order = weigh(root)
    for node in reversed(order):
        own = own_linked = 0
        good = 0.0
        is_inline = node.tag in _INLINE
        for kid in node.kids:
            if isinstance(kid, str):
                own += len(kid.strip())
            elif kid.is_dropped:
                continue
            elif kid.is_inline:
                own += kid.size
                own_linked += kid.linked
            else:
                good += kid.good
                is_inline = False
        node.is_inline = is_inline
        node.own, node.own_linked = own, own_linked
        if node.tag == "a":
            good = 0.0
        elif not is_inline and own >= LEAST:
            good += max(0, own - 2 * own_linked)
        node.good = good
    return order
