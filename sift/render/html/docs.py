"""Where the content of a documentation, reference, question or listing page is; everything in it is kept.

Articles are looked for elsewhere, with other eyes.
"""

from __future__ import annotations

from collections.abc import Callable

from sift.render.html import furniture, running
from sift.render.html.tree import Node, Tree, walk

Test = Callable[[Node, str], bool]
_CONTAINERS: tuple[Test, ...] = (
    lambda node, names: " markdown-body " in names,
    lambda node, names: " mw-content-text " in names,
    lambda node, names: " mainbar " in names,
    lambda node, names: " apicontent " in names,
    lambda node, names: " itemlist " in names or " bigbox " in names,
    lambda node, names: node.attrs.get("role") == "main",
    lambda node, names: node.tag == "main",
    lambda node, names: node.tag == "article",
    lambda node, names: " content " in names and " content " in f" {node.attrs.get('id', '').lower()} ",
)
_SHORTEST = 10  # characters
_LEAST_UNLINKED = 0.5
_LEAST = 0.3  # of the page's text: a container that holds less is not the content


def content(tree: Tree, order: list[Node]) -> Node:
    """The element with the content; what is furniture in it is dropped."""
    root = _container(tree.root, order)
    inside = order if root is tree.root else list(walk(root))
    furniture.drop_around_docs(inside, root)
    running.rescore(inside)
    return root


def _container(body: Node, order: list[Node]) -> Node:
    named = [(node, node.names()) for node in order if node.attrs or node.tag in ("main", "article")]
    for test in _CONTAINERS:
        found = [node for node, names in named if test(node, names)]
        if not found:
            continue
        biggest = max(found, key=lambda node: node.size)
        if _is_enough(biggest, body, order) and biggest.size >= 0.8 * _outer_size(found):
            return biggest
    return body


def _is_enough(node: Node, body: Node, order: list[Node]) -> bool:
    """Whether a container holds enough of the page's text, or of what is not linked: beside it are menus."""
    if node.size < _SHORTEST:
        return False
    if node.size >= _LEAST * (body.size - _menus(order)):
        return True
    return node.size - node.linked >= _LEAST_UNLINKED * (body.size - body.linked)


def _menus(order: list[Node]) -> int:
    return sum(node.size for node in order if node.tag in ("nav", "footer"))


def _outer_size(found: list[Node]) -> int:
    """The text of those that are not inside another of them."""
    inside = set(map(id, found))
    return sum(node.size for node in found if not _is_under(node, inside))


def _is_under(node: Node, others: set[int]) -> bool:
    above = node.parent
    while above is not None:
        if id(above) in others:
            return True
        above = above.parent
    return False
