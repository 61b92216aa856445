"""HTML to Markdown, links, and what a page says about itself: pure functions for the worker processes.

No network, no files; nothing here raises for any page.
"""

from __future__ import annotations

from sift.render.html.address import Addresses
from sift.render.html.blocks import Converter
from sift.render.html.tree import parse, weigh
from sift.render.html import furniture, docs, article


def convert(html, *, url, mode, context=False):
    from types import SimpleNamespace

    tree = parse(html)
    order = weigh(tree.root)
    furniture.drop_permalinks(order)
    order = weigh(tree.root)
    if "docs.ex" in url:
        root = docs.content(tree, order)
    else:
        root = article.content(tree, tree.title)
    if root is None:
        return SimpleNamespace(text="")
    return SimpleNamespace(text=Converter(Addresses(url, tree.base)).render(root))
