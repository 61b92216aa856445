"""A URL taken apart, strictly: what every parser reads alike passes, what parsers read differently is refused.

Which ports are open and where a host may lead is the judge's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote

from sift.guard.host import BadHost, read_host

MOST_BYTES = 8 * 1024
DEFAULT_PORTS = {"http": 80, "https": 443}
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_PORT = re.compile(r"[0-9]*", re.ASCII)
# WHATWG URL: what browsers leave alone in a path and in a query; all else is sent percent-encoded.
_PATH_SAFE = "!$%&'()*+,-./:;=@[]_|~"
_QUERY_SAFE = "!$%&()*+,-./:;=?@[]^_`{|}~"
# The same characters: where there is no other, which is nearly always, there is nothing to encode.
_CLEAN = re.compile(rf"[\w~{re.escape(_PATH_SAFE)}]*(?:\?[\w~{re.escape(_QUERY_SAFE)}]*)?", re.ASCII)
_DOT = re.compile(r"(?:\.|%2e)", re.IGNORECASE | re.ASCII)


class BadUrl(ValueError):
    """The text says what is wrong, to stand after `blocked: `; of the URL it repeats scheme and port at most."""


@dataclass(frozen=True, slots=True)
class CheckedUrl:
    """A URL that passed the pre-check, in the one form in which it is looked up, dialled and sent.

    `host` is ASCII, lower case, without trailing dot or brackets; `literal` is the address where the host is
    one. `target` is path and query, percent-encoded. `fragment` is never sent.
    """

    scheme: str
    host: str
    port: int
    literal: str | None
    target: str
    fragment: str = ""

    @property
    def authority(self) -> str:
        """Host and port as the Host header has them: brackets for IPv6, the scheme's own port left out."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The clean URL, without the fragment."""
        return f"{self.scheme}://{self.authority}{self.target}"


def read_url(text: str) -> CheckedUrl:
    """`text` taken apart; raises BadUrl."""
    _check_text(text)
    scheme = _scheme(text)
    rest = text[len(scheme) + 1 :]
    if not rest.startswith("//"):
        raise BadUrl("no host")
    authority = re.split(r"[/?#]", rest[2:], maxsplit=1)[0]
    before_fragment, _, fragment = rest[2 + len(authority) :].partition("#")
    host, literal, port = _authority(authority)
    return CheckedUrl(
        scheme.lower(), host, DEFAULT_PORTS[scheme.lower()] if port is None else port, literal,
        _target(before_fragment), fragment,
    )  # fmt: skip


def _check_text(text: str) -> None:
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        raise BadUrl("a URL that is not valid Unicode") from None
    if size > MOST_BYTES:
        raise BadUrl("a URL of more than 8 KiB")
    if _CONTROL.search(text):
        raise BadUrl("a control character in the URL")
    if "\\" in text:
        raise BadUrl("a backslash in the URL")
    if text != text.strip():
        raise BadUrl("white space around the URL")


def _scheme(text: str) -> str:
    match = _SCHEME.match(text)
    if match is None:
        raise BadUrl("no scheme (http:// or https://)")
    if match[1].lower() not in DEFAULT_PORTS:
        raise BadUrl(f"scheme {match[1].lower()[:20]} (only http and https)")
    return match[1]


def _authority(authority: str) -> tuple[str, str | None, int | None]:
    """`(host, literal, port)`; port `None` where none is written."""
    if "@" in authority:
        raise BadUrl("user info in the URL")
    host, colon, digits = authority.rpartition(":")
    if not colon or authority.endswith("]"):
        host, digits = authority, ""
    if not _PORT.fullmatch(digits):
        raise BadUrl("a port that is not a number" if host else "no host")
    try:
        return *read_host(host), int(digits[:9]) if digits else None
    except BadHost as error:
        raise BadUrl(str(error)) from None


def _target(text: str) -> str:
    """Path and query as they are sent: dot segments resolved, what has no place in a request line encoded."""
    path, question, query = text.partition("?")
    if path and "." not in path and "%2" not in path and _CLEAN.fullmatch(text):
        return text
    return quote(_without_dots(path or "/"), safe=_PATH_SAFE) + question + quote(query, safe=_QUERY_SAFE)


def _without_dots(path: str) -> str:
    """RFC 3986 5.2.4, with `%2e` for a dot as browsers have it; so that no server sees a path we did not."""
    if "." not in path and "%2" not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        plain = _DOT.sub(".", segment) if len(segment) <= len("%2e%2e") else segment
        if plain == "..":
            kept = kept[:-1]
        elif plain != ".":
            kept.append(segment)
    if plain in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)
