"""Footnotes: which links refer to a note, and which elements are the notes, so that both carry one label.

How they are written is `blocks`' business.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import unquote

from sift.render.html.tree import Node, text_of, walk

_LABEL = re.compile(r"^[\[(]?\s*([0-9]{1,4}|[a-z*†‡§])\s*[\])]?$", re.I)
_REFERENCE = re.compile(r"footnote|noteref|reference|fnref|cite")
_PLACE = re.compile(r"footnote|endnote|reference|reflist|[\s_-]notes?[\s_-]|fn-?list")
_BACK = re.compile(r"back-?ref|back-?link|reversefootnote|fn-?back")
_NOTES = frozenset(["li", "p", "div", "dd", "aside"])
_SIGNS = frozenset(["↩", "↩︎", "↑", "^", "⏎", "↵", "⇧", "↖", "back", "jump up", "return"])


@dataclass(slots=True)
class Notes:
    """By identity of element: the label of each reference and of each note."""

    references: dict[int, str] = field(default_factory=dict)
    notes: dict[int, str] = field(default_factory=dict)


def find(root: Node) -> Notes:
    """The footnotes inside `root` that are both referred to and there."""
    found = Notes()
    order = list(walk(root))
    wanted = [(node, said) for node in order if node.tag == "a" and (said := _said(node))]
    if not wanted:
        return found
    targets = {node.attrs["id"]: node for node in order if "id" in node.attrs and node.tag in _NOTES}
    labels: dict[str, str] = {}
    for node, (place, label) in wanted:
        note = targets.get(place)
        if note is not None and _is_note(note):
            labels.setdefault(place, label)
            found.references[id(node)] = labels[place]
            found.notes[id(note)] = labels[place]
    return found


def _said(link: Node) -> tuple[str, str] | None:
    """The place on the page and the label, where a link looks like a reference to a note."""
    reference = link.attrs.get("href", "").strip()
    if not reference.startswith("#") or link.size > 8:
        return None
    label = _LABEL.match(text_of(link, 20))
    above = link.parent
    around = [link] if above is None else [link, above]
    is_raised = any(node.tag == "sup" for node in [*around, *link.elements()])
    is_named = any(_REFERENCE.search(node.names()) for node in around)
    return (unquote(reference[1:]), label[1]) if label and (is_raised or is_named) else None


def _is_note(node: Node) -> bool:
    above: Node | None = node
    for _ in range(4):
        if above is None:
            return False
        if _PLACE.search(above.names()):
            return True
        above = above.parent
    return False


def is_back(link: Node) -> bool:
    """Whether an element in a note is its label, or a link back to where it is referred to."""
    if " label " in link.names() and link.size <= 8:
        return True
    if not link.attrs.get("href", "").strip().startswith("#"):
        return False
    return bool(_BACK.search(link.names())) or text_of(link, 20).lower() in _SIGNS
