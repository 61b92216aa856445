"""Where the text of an article is, and what in and around it is not part of it.

Pages that are not one article are not looked at here.
"""

from __future__ import annotations

import re

from sift.render.html import furniture, pruning, running
from sift.render.html.tree import Node

_FLOW = frozenset(["p", "blockquote", "ul", "ol", "pre", "table", "dl"])
_BODY = re.compile(
    r"(?:^|[\s_-])(?:article-?body\w*|article-?text|article-?content\w*|entry-?content|post-?content|post-?body|"
    r"story-?body\w*|"
    r"story-?text|story-?content|article__(?:body|content|text)|content-?body|body-?copy|body-?text|body-?content|"
    r"rich-?text|main-?content|td-post-content|single-content|article-copy|page-content|blog-content|post-text|"
    r"story__body|articulo|artikel|text-content|article-main|field-name-body|node-content|c-entry-content|articletext|"
    r"news-?text|news-?body|news-?content|mw-parser-output|prose)(?:$|[\s_-])"
)


def content(order: list[Node], headline: str) -> Node | None:
    """The element with the article, furniture in it dropped; None: no running text, or a list.

    `order` is the scored page.
    """
    body = order[0]
    if body.good < running.LEAST:
        return None
    furniture.drop_around_articles(order, body.good)
    order = running.rescore(order)
    if furniture.drop_other_articles(order, furniture.key(headline)):
        order = running.rescore(order)
    root = _descend(_start(order, body))
    pruning.prune(root, headline)
    return root


def _start(order: list[Node], body: Node) -> Node:
    said = [node for node in order if "articlebody" in node.attrs.get("itemprop", "").lower()]
    best = max(said, key=lambda node: node.good, default=None)
    if best is not None and best.good >= 0.3 * body.good:
        return best
    return body


def _descend(node: Node) -> Node:
    """Goes down while one kid holds most of the good text."""
    while True:
        kid = max(node.elements(), key=lambda kid: kid.good, default=None)
        if kid is None or not kid.good or kid.tag in ("p", "ul", "ol", "blockquote", "table", "pre", "li"):
            return node
        share = kid.good / node.good
        if share < 0.75 and not (share >= 0.5 and _BODY.search(kid.names())):
            return node
        if share < 0.95 and _has_paragraphs(node, kid):
            return node
        if share < 0.97 and _has_twin(node, kid):
            return node
        node = kid


def _has_twin(node: Node, kid: Node) -> bool:
    """Whether another part of the text is built like this one: the two belong together."""
    name = (kid.tag, kid.attrs.get("class"))
    return any(
        other is not kid and other.good >= 3 * running.LEAST and (other.tag, other.attrs.get("class")) == name
        for other in node.elements()
    )


def _has_paragraphs(node: Node, kid: Node) -> bool:
    """Whether text stands right beside `kid`: then both are one flow of text."""
    beside = sum(other.good for other in node.elements() if other.tag in _FLOW and other is not kid)
    return beside >= 0.05 * node.good
