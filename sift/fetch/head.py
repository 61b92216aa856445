"""The head of an answer: its status and its header fields.

How it came is not known here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

MOST_HEAD = 64 * 1024
"""Bytes of status lines and headers in all, those of interim answers included."""
_FOLD = re.compile(r"\s*\r?\n\s*")
_SECONDS = re.compile(r"[0-9]{1,9}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Head:
    """Status and header fields, names in lower case, values as they came (UTF-8, else latin-1)."""

    status: int
    fields: tuple[tuple[str, str], ...]

    def values(self, name: str) -> list[str]:
        """Every value of the field, in order."""
        return [value for key, value in self.fields if key == name]

    def last(self, name: str) -> str | None:
        """The last value of the field; `None` where there is none."""
        values = self.values(name)
        return values[-1] if values else None

    def listed(self, name: str) -> list[str]:
        """The field as a comma-separated list, in lower case, empty elements dropped."""
        parts = ",".join(self.values(name)).split(",")
        return [part.strip().lower() for part in parts if part.strip()]


def as_text(value: str) -> str:
    """A field's value that a library has read as latin-1: it may have been UTF-8; folded lines become one."""
    value = _FOLD.sub(" ", value)
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value


def retry_after_s(head: Head, now: float) -> float | None:
    """What Retry-After says, in seconds from `now`; `None` where it says nothing that can be read."""
    text = head.last("retry-after") or ""
    if _SECONDS.fullmatch(text):
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, OverflowError):
        return None
