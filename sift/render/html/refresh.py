"""Where a page's meta refresh of 0 seconds leads.

Whether it is followed, and how often, is the fetcher's business.
"""

from __future__ import annotations

import re
from urllib.parse import urldefrag

from sift.render.html.address import Addresses
from sift.render.html.tree import Tree, parse

_LOOKED_AT = 512 * 1024  # characters: such a page is short
_CONTENT = re.compile(r"^[\s]*(?P<seconds>\d*)(?:\.[\d.]*)?(?P<gap>[\s;,]*)(?P<rest>.*)$", re.S)
_URL = re.compile(r"^url\s*=\s*", re.I)


def refresh_target(html: str, *, url: str) -> str | None:
    """The absolute http(s) URL of the page's meta refresh of 0 seconds; None: none, a later one, or to itself."""
    return target(parse(html[:_LOOKED_AT]), url)


def target(tree: Tree, url: str) -> str | None:
    """The same, of a parsed page."""
    for meta in tree.metas:
        if meta.get("http-equiv", "").strip().lower() == "refresh" and (said := _said(meta.get("content", ""))):
            found = Addresses(url, tree.base).of(said)
            if not found or not found.lower().startswith(("http://", "https://")):
                return None
            return None if urldefrag(found)[0] == urldefrag(url)[0] else found
    return None


def _said(content: str) -> str | None:
    found = _CONTENT.match(content)
    if not found or not (found["seconds"] or content.lstrip().startswith(".")) or int(found["seconds"][:9] or 0) > 0:
        return None
    if not found["gap"] and found["rest"]:
        return None
    reference = _URL.sub("", found["rest"].strip())
    quote = reference[:1]
    if quote in ("'", '"'):
        reference = reference[1:].split(quote)[0]
    return reference.strip() or None
