"""The links of a page, with their texts.

Where they lead is not looked at.
"""

from __future__ import annotations

from sift.render.html.address import Addresses
from sift.render.html.tree import Node, text_of, walk

_LONGEST_TEXT = 500  # characters


def links(root: Node, addresses: Addresses) -> list[tuple[str, str]]:
    """Address and text of each link, in the page's order, each address once with its first text that is not empty.

    Links to places on the page itself are left out.
    """
    found: dict[str, str] = {}
    for node in walk(root):
        reference = node.attrs.get("href")
        if node.tag not in ("a", "area") or reference is None or addresses.is_here(reference):
            continue
        address = addresses.of(reference)
        if address and not found.get(address):
            found[address] = _text(node)
    return list(found.items())


def _text(node: Node) -> str:
    text = text_of(node, _LONGEST_TEXT)
    if text:
        return text[:_LONGEST_TEXT]
    images = (inner.attrs.get("alt", "") for inner in walk(node) if inner.tag == "img")
    said = (
        next((alt for alt in images if alt.strip()), "")
        or node.attrs.get("aria-label")
        or node.attrs.get("title")
        or node.attrs.get("alt", "")
    )
    return " ".join(said.split())[:_LONGEST_TEXT]


def listed(found: list[tuple[str, str]]) -> str:
    """One link a line: address, tab, text."""
    return "\n".join(f"{address}\t{text}".rstrip() for address, text in found)
