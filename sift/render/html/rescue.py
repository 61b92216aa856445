"""The last rungs: frames, and the text that another parser sees where ours saw nothing.

Only asked where everything else gave no text at all.
"""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser

from sift.render.html.address import Addresses
from sift.render.html.tree import Tree
from sift.render.html.writer import escape, target

_UNSEEN = (
    "script,style,template,noscript,head,textarea,select,iframe,svg,[hidden],[aria-hidden=true],"
    "[style*='display:none'],[style*='display: none']"
)


def text(tree: Tree, addresses: Addresses, html: str) -> str:
    """A list of the page's frames; else text without marks; empty where a reader sees none either."""
    if frames := [found for source in tree.frameset[:50] if (found := addresses.of(source))]:
        return "\n".join(f"- [{escape(frame)}]({target(frame)})" for frame in frames)
    if tree.was_complete:
        return ""
    return _seen(html)


def _seen(html: str) -> str:
    page = LexborHTMLParser(html.encode("utf-8", "replace").decode())
    for node in page.css(_UNSEEN):
        node.decompose()
    body = page.body
    if body is None:
        return ""
    lines = (" ".join(line.split()) for line in body.text(separator="\n").split("\n"))
    return "\n\n".join(escape(line) for line in lines if line)
