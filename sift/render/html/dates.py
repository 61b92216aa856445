"""Times of publication as ISO 8601, from what pages write; what cannot be read for sure is none.

Where on a page a date stands is not known here.
"""

from __future__ import annotations

import re
from datetime import datetime

_ISO = re.compile(
    r"^\s*(\d{4})-?(\d{2})-?(\d{2})"
    r"(?:[T ]\s*(\d{1,2}):?(\d{2})(?::?(\d{2})(?:[.,]\d+)?)?\s*(Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?",
    re.I,
)
_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
_NAMED = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY_FIRST = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+{_NAMED},?\s+(\d{{4}})\b", re.I)
_MONTH_FIRST = re.compile(rf"\b{_NAMED}\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}})\b", re.I)
_YEAR_FIRST = re.compile(r"^\s*(\d{4})[/.](\d{1,2})[/.](\d{1,2})\b")


def iso(said: object) -> str | None:
    """`2019-11-18` or `2019-11-18T09:30:00+00:00` for what a page says; None where it cannot be read for sure."""
    if not isinstance(said, str) or len(said) > 100:
        return None
    if found := _ISO.match(said):
        return _with_time(found)
    if found := _YEAR_FIRST.match(said):
        return _day(int(found[1]), int(found[2]), int(found[3]))
    if found := _DAY_FIRST.search(said):
        return _day(int(found[3]), _MONTHS[found[2].lower()], int(found[1]))
    if found := _MONTH_FIRST.search(said):
        return _day(int(found[3]), _MONTHS[found[1].lower()], int(found[2]))
    return None


def _day(year: int, month: int, day: int) -> str | None:
    try:
        return datetime(year, month, day).strftime("%Y-%m-%d") if 1990 <= year <= 2100 else None
    except ValueError:
        return None


def _with_time(found: re.Match[str]) -> str | None:
    day = _day(int(found[1]), int(found[2]), int(found[3]))
    if day is None or found[4] is None:
        return day
    hour, minute, second = int(found[4]), int(found[5]), int(found[6] or 0)
    if hour > 23 or minute > 59 or second > 59:
        return day
    zone = (found[7] or "").upper()
    if zone in ("Z", "UTC", "GMT"):
        zone = "+00:00"
    elif zone and ":" not in zone:
        zone = f"{zone[:3]}:{zone[3:]}"
    return f"{day}T{hour:02}:{minute:02}:{second:02}{zone}"
