"""Formulas as TeX: from MathML's annotation or alternative text, else from its elements.

Where a formula stands is not known here.
"""

from __future__ import annotations

import re

from sift.render.html.tree import Node, text_of, walk

_DISPLAYSTYLE = re.compile(r"^\{\\displaystyle\s*(.*)\}$", re.S)
_DELIMITED = re.compile(r"^\s*(?:\\\((.+)\\\)|\\\[(.+)\\\])\s*$", re.S)
_DEEPEST = 40  # elements in each other; deeper ones are taken as text
_PAIRS = {
    "mfrac": "\\frac{%s}{%s}",
    "msup": "%s^{%s}",
    "msub": "%s_{%s}",
    "munder": "%s_{%s}",
    "mover": "%s^{%s}",
    "mroot": "\\sqrt[%s]{%s}",
}
_TRIPLES = frozenset(["msubsup", "munderover"])


def tex(math: Node) -> str:
    """The TeX of a `math` element, on one line."""
    said = next((text_of(node) for node in walk(math) if node.tag == "annotation" and _is_tex(node)), "")
    source = " ".join((said or math.attrs.get("alttext", "")).split())
    if not source:
        source = " ".join(_made(math, 0).split())
    return _bare(source)


def _is_tex(annotation: Node) -> bool:
    return "tex" in annotation.attrs.get("encoding", "").lower()


def _bare(source: str) -> str:
    found = _DISPLAYSTYLE.match(source)
    return (found[1] if found else source).strip()


def _made(node: Node, depth: int) -> str:
    kids = [kid for kid in node.elements() if kid.tag not in ("annotation", "annotation-xml", "mphantom")]
    if not kids or depth > _DEEPEST:
        return text_of(node, 1000)
    parts = [_made(kid, depth + 1) for kid in kids]
    if node.tag in _PAIRS and len(parts) == 2:
        first, second = reversed(parts) if node.tag == "mroot" else parts
        return _PAIRS[node.tag] % (first, second)
    if node.tag in _TRIPLES and len(parts) == 3:
        return f"{parts[0]}_{{{parts[1]}}}^{{{parts[2]}}}"
    if node.tag == "msqrt":
        return f"\\sqrt{{{' '.join(parts)}}}"
    if node.tag == "mtr":
        return " & ".join(parts)
    return (" \\\\ " if node.tag == "mtable" else " ").join(parts)


def written(text: str) -> str | None:
    """The formula of a text such as `\\(x\\)` or `\\[x\\]`, which a script would make one of, between dollar signs."""
    found = _DELIMITED.match(text)
    if not found:
        return None
    return dollars(found[1] or found[2], is_display=found[2] is not None)


def dollars(source: str, *, is_display: bool) -> str:
    """TeX between dollar signs."""
    return f"$${_bare(source)}$$" if is_display else f"${_bare(source)}$"


def block(source: str) -> list[str]:
    """A formula on a line of its own."""
    return [dollars(source, is_display=True)]
