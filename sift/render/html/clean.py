"""`clean`: the content of a page as Markdown, and the ladder of ways to get it where one way gives too little.

Each way is written elsewhere.
"""

from __future__ import annotations

from sift.render.html import article, docs, furniture, kind, running
from sift.render.html.address import Addresses
from sift.render.html.blocks import Converter
from sift.render.html.tree import Node, Tree, restore

_THIN = 0.15  # of the running text of the page without its menus: an article that keeps less was not the article
_SHORT = 250  # characters: below it, the page is looked at once more with less strict eyes


def markdown(tree: Tree, addresses: Addresses, *, url: str, headline: str) -> str:
    """The content; everything that is visible where nothing less holds text."""
    order = running.score(tree.root)
    furniture.drop_permalinks(order)
    visible = tree.root.size
    if not visible:
        return Converter(addresses).render(tree.root)
    total = tree.root.good
    if kind.is_article(tree, order, url):
        root = article.content(tree, headline)
        if root is not None and root.good >= max(_THIN * total, min(_SHORT, 0.5 * total), 1):
            if text := Converter(addresses).render(root):
                return text
        restore(tree.root)
        order = running.score(tree.root)
        furniture.drop_permalinks(order)
    root = docs.content(tree, order)
    text = Converter(addresses).render(root)
    if text and (root.size >= 0.1 * visible or root.size >= 4 * _SHORT):
        return text
    restore(tree.root)
    everything = Converter(addresses).render(_tidied(tree.root))
    return everything if len(everything) > len(text) else text


def full(tree: Tree, addresses: Addresses) -> str:
    """The whole visible page, in its order."""
    return Converter(addresses, keeps_buttons=True).render(_tidied(tree.root))


def _tidied(root: Node) -> Node:
    furniture.drop_permalinks(running.score(root))
    return root
