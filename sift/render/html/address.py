"""Addresses on a page, made absolute as browsers do; those that lead nowhere for a reader are none.

Nothing here dials or judges whether a target may be fetched.
"""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

_CONTROL = re.compile(r"[\x00-\x20\x7f]+")
_TRIM = "".join(map(chr, range(0x21)))
_TABS = re.compile(r"[\t\n\r]")
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_KEPT = (
    "http:",
    "https:",
    "mailto:",
    "tel:",
    "ftp:",
    "ftps:",
    "magnet:",
    "news:",
    "irc:",
    "ircs:",
    "xmpp:",
    "geo:",
    "sms:",
)
_UNSAFE = re.compile(r"[\s<>\"\\^`{|}]")
_LONGEST = 8192  # characters: as long as a URL may be that Sift itself takes


class Addresses:
    """Resolves what `href` and `src` say on one page."""

    def __init__(self, url: str, base: str) -> None:
        self.page = url
        self._base = _join(url, _TABS.sub("", base.strip(_TRIM))) if base else url
        if not self._base.lower().startswith(("http:", "https:")):
            self._base = url
        self._known: dict[str, str | None] = {}

    def of(self, reference: str | None) -> str | None:
        """The absolute address; None for scripts, data, too long ones, and where nothing is said."""
        if reference is None:
            return None
        if reference not in self._known:
            self._known[reference] = self._resolve(reference)
        return self._known[reference]

    def _resolve(self, reference: str) -> str | None:
        said = _TABS.sub("", reference.strip(_TRIM))
        if not said or len(said) > _LONGEST:
            return None
        scheme = _SCHEME.match(said)
        if scheme and not said.lower().startswith(_KEPT):
            return None
        if said.startswith("#"):
            # Browsers look such links up on the page, not under <base>, where the two are one document.
            return _tidy(_join(self._base, said)) if said != "#" else None
        return _tidy(_join(self._base, said))

    def is_here(self, reference: str | None) -> bool:
        """Whether a reference leads to a place on this page."""
        return bool(reference) and str(reference).strip().startswith("#")


def _join(base: str, reference: str) -> str:
    try:
        return urljoin(base, reference.replace("\\", "/") if not _SCHEME.match(reference) else reference)
    except ValueError:
        return ""


def _tidy(address: str) -> str | None:
    if not address:
        return None
    try:
        parts = urlsplit(address)
    except ValueError:
        return None
    if parts.scheme in ("http", "https") and not parts.netloc:
        return None
    return _UNSAFE.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "replace")), address)
