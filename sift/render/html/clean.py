"""`clean`: the content of a page as Markdown, and the ladder of ways to get it where one way gives too little.

Each way is written elsewhere.
"""

from __future__ import annotations

from sift.render.html import article, docs, furniture, kind, running
from sift.render.html.address import Addresses
from sift.render.html.blocks import Converter
from sift.render.html.tree import Node, Tree, restore, walk

_THIN = 0.15  # of the running text of the page without its menus: an article that keeps less was not the article
_LEAST = 0.05  # of all running text, comments and teasers included
_SHORT = 250  # characters: below it, the page is looked at once more with less strict eyes


def markdown(tree: Tree, order: list[Node], addresses: Addresses, *, url: str, headline: str) -> str:
    """The content; where nothing less holds text, everything that is visible.

    `order` is the scored page, permalinks dropped.
    """
    visible, unlinked = tree.root.size, tree.root.size - tree.root.linked
    if not visible:
        return Converter(addresses).render(tree.root)
    if kind.is_article(tree, order, url):
        total = tree.root.good
        root = article.content(order, headline)
        is_thin = root is None or root.good < max(1, _THIN * tree.root.good, min(_SHORT, _LEAST * total))
        text = "" if root is None or is_thin else Converter(addresses).render(root)
        if text:
            return text
        restore(tree.root)
        furniture.drop_permalinks(walk(tree.root))
        order = running.score(tree.root)
    root = docs.content(tree, order)
    text = Converter(addresses).render(root)
    is_enough = root.size >= min(0.1 * visible, 4 * _SHORT) or root.size - root.linked >= 0.3 * unlinked
    if text and is_enough:
        return text
    restore(tree.root)
    furniture.drop_permalinks(walk(tree.root))
    everything = Converter(addresses).render(tree.root)
    return everything if len(everything) > len(text) else text


def full(tree: Tree, addresses: Addresses) -> str:
    """The whole visible page, in its order."""
    return Converter(addresses, keeps_buttons=True).render(tree.root)
