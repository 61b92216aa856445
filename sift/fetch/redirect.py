"""Where an answer sends us: the statuses that are followed, and references resolved without repairing them.

Whether the next hop may be dialled is the guard's; following it is the fetcher's.
"""

from __future__ import annotations

import re

from sift.errors import Unreachable
from sift.fetch.head import Head
from sift.guard import CheckedUrl
from sift.target import Page

FOLLOWED = (301, 302, 303, 307, 308)
REFRESH_WITHIN = 256 * 1024
"""Bytes at a page's start in which a meta refresh is looked for."""
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:", re.ASCII)
_REFRESH = re.compile(rb"http-equiv\s*=\s*[\"']?\s*refresh")
_HTML_TYPES = ("text/html", "application/xhtml+xml", "")


def location(head: Head) -> str:
    """The Location of a 3xx, as it came. Raises Unreachable where the status is not one that is followed."""
    if head.status not in FOLLOWED:
        raise Unreachable(f"the site answered {head.status}, which is not followed")
    values = [value for value in head.values("location") if value]
    if not values:
        raise Unreachable(f"the site answered {head.status} without a Location")
    if len(set(values)) > 1:
        raise Unreachable(f"the site answered {head.status} with more than one Location")
    return values[0]


def resolve_reference(base: CheckedUrl, reference: str) -> str:
    """The absolute URL that `reference` means on the page `base`, for the guard to judge.

    Joined as text: the standard library's `urljoin` deletes tabs and makes a path of `http:///127.0.0.1/`.
    """
    if _ABSOLUTE.match(reference):
        return reference
    if reference.startswith("//"):
        return f"{base.scheme}:{reference}"
    origin = f"{base.scheme}://{base.authority}"
    path = base.target.partition("?")[0]
    if reference.startswith("/"):
        return origin + reference
    if reference.startswith("?"):
        return origin + path + reference
    if reference.startswith("#") or not reference:
        return base.url + reference
    return origin + path[: path.rindex("/") + 1] + reference


def may_refresh(page: Page) -> bool:
    """Whether the page is HTML that may hold a meta refresh, so that asking is worth a parse."""
    kind = page.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in _HTML_TYPES:
        return False
    # Measured: a search that ignores case takes five times as long, and every other thread waits meanwhile.
    return _REFRESH.search(page.body[:REFRESH_WITHIN].lower()) is not None
