"""The cookies of one fetch: what a host sets on one hop, it gets back on the next. They end with the fetch.

For the host that set them alone, whatever Domain says.
"""

from __future__ import annotations

import re
from email.utils import parsedate_to_datetime

from sift.guard import CheckedUrl

MOST_COOKIES, MOST_BYTES = 50, 8 * 1024
_PAIR = re.compile(r"[\x21-\x3a\x3c\x3e-\x7e\x80-\xff][^\x00-\x1f\x7f;=]*=[^\x00-\x1f\x7f;]*")


class Jar:
    """Cookies by host, name and path. `state` tells two moments apart."""

    def __init__(self) -> None:
        self._cookies: dict[tuple[str, str, str], tuple[str, bool]] = {}

    @property
    def state(self) -> frozenset[tuple[tuple[str, str, str], tuple[str, bool]]]:
        return frozenset(self._cookies.items())

    def take(self, at: CheckedUrl, set_cookies: list[str], now: float) -> None:
        """Keeps what the answer for `at` sets, drops what it ends."""
        for text in set_cookies:
            pair, *attributes = text.split(";")
            if _PAIR.fullmatch(pair.strip()) and len(self._cookies) < MOST_COOKIES:
                self._take(at, pair.strip(), _attributes(attributes), now)

    def header(self, at: CheckedUrl) -> str | None:
        """The Cookie field for a request to `at`; `None` where there is nothing to send."""
        path = at.target.partition("?")[0]
        pairs = [
            f"{name}={value}"
            for (host, name, under), (value, secure) in self._cookies.items()
            if host == at.host and _is_under(path, under) and (at.scheme == "https" or not secure)
        ]
        # sent as the bytes that came, which a field's text holds as latin-1
        text = "; ".join(pairs).encode("utf-8").decode("latin-1")
        return text if 0 < len(text) <= MOST_BYTES else None

    def _take(self, at: CheckedUrl, pair: str, attributes: dict[str, str], now: float) -> None:
        name, _, value = pair.partition("=")
        path = attributes.get("path", "")
        if not path.startswith("/"):
            path = at.target.partition("?")[0].rpartition("/")[0] or "/"
        key = (at.host, name.strip(), path)
        self._cookies.pop(key, None)
        if not _is_over(attributes, now):
            self._cookies[key] = (value.strip(), "secure" in attributes)


def _attributes(parts: list[str]) -> dict[str, str]:
    pairs = (part.partition("=") for part in parts)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def _is_over(attributes: dict[str, str], now: float) -> bool:
    """Whether the cookie has ended already: Max-Age first, then Expires (RFC 6265 5.3)."""
    if re.fullmatch(r"-?[0-9]{1,18}", attributes.get("max-age", ""), re.ASCII):
        return int(attributes["max-age"]) <= 0
    try:
        return parsedate_to_datetime(attributes.get("expires", "")).timestamp() <= now
    except (ValueError, OverflowError):
        return False


def _is_under(path: str, under: str) -> bool:
    return path == under or path.startswith(under if under.endswith("/") else under + "/")
