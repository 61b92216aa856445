"""Cutting content to the cap of a result, at a line or a word.

What the content is, and what is hinted then, is not known here.
"""

from __future__ import annotations

import msgspec

ESCAPE_ROOM_BYTES = 24 << 10
"""What escaping may add to a result's content in JSON, beyond the cap."""
CUT_AT_LINE = 0.8
"""A cut goes back to a line's end where that keeps this share of what fits; else to a word's."""


def fitting(text: str, cap_bytes: int) -> str:
    """The longest start of `text` that fits a result's cap, cut at a line's or a word's end.

    Counted in UTF-8; and as JSON it may be longer by `ESCAPE_ROOM_BYTES` at most, whatever has to be escaped in it.
    """
    kept = _within(text, cap_bytes)
    while (over := len(msgspec.json.encode(kept)) - cap_bytes - ESCAPE_ROOM_BYTES) > 0:
        kept = kept[: min(len(kept) - 1, int(len(kept) * (1 - over / (over + cap_bytes + ESCAPE_ROOM_BYTES))))]
    if len(kept) == len(text):
        return kept
    for mark in ("\n", " "):
        end = kept.rfind(mark)
        if end >= CUT_AT_LINE * len(kept):
            return kept[:end]
    return kept


def _within(text: str, cap_bytes: int) -> str:
    encoded = text.encode()
    return text if len(encoded) <= cap_bytes else encoded[:cap_bytes].decode("utf-8", "ignore")
