"""Formulas as TeX, from MathML's annotation or alternative text, else as the text they hold."""

from __future__ import annotations

import re

from sift.render.html.tree import Node, text_of, walk

_DISPLAYSTYLE = re.compile(r"^\{\\displaystyle\s*(.*)\}$", re.S)


def tex(math: Node) -> str:
    """The TeX of a `math` element, on one line."""
    said = next((text_of(node) for node in walk(math) if node.tag == "annotation" and _is_tex(node)), "")
    source = " ".join((said or math.attrs.get("alttext", "")).split()) or text_of(math)
    bare = _DISPLAYSTYLE.match(source)
    return (bare[1] if bare else source).strip()


def _is_tex(annotation: Node) -> bool:
    return "tex" in annotation.attrs.get("encoding", "").lower()


def dollars(source: str, *, is_display: bool) -> str:
    """TeX between dollar signs."""
    bare = _DISPLAYSTYLE.match(source)
    source = (bare[1] if bare else source).strip()
    return f"$${source}$$" if is_display else f"${source}$"


def block(source: str) -> list[str]:
    """A formula on a line of its own."""
    return [dollars(source, is_display=True)]
