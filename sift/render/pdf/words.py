"""The letters of a PDF's text: ligatures, hyphens at line ends, characters that are none.

Knows nothing of pages or positions.
"""

from __future__ import annotations

import re

HYPHEN = "\x02"  # stands for a hyphen at the end of a line
_LIGATURES = {
    0xFB00: "ff",
    0xFB01: "fi",
    0xFB02: "fl",
    0xFB03: "ffi",
    0xFB04: "ffl",
    0xFB05: "st",
    0xFB06: "st",
}
# Soft hyphens, zero-width marks and noncharacters say nothing; no-break and other odd spaces are spaces.
_CLEANED = str.maketrans(
    {
        **_LIGATURES,
        **dict.fromkeys([0x00AD, 0x200B, 0x2060, 0xFEFF, 0xFFFE, 0xFFFF], None),
        **dict.fromkeys([0x00A0, 0x2002, 0x2003, 0x2009, 0x202F], " "),
        **dict.fromkeys((c for c in range(32) if c not in (2, 9, 10, 13)), None),
    }
)
_HYPHENATED = re.compile(r"\w+(?:-\w+)+")
_BROKEN = re.compile(r"(\w+)\x02[ \n]*(\w+)")
_LEFT_OVER = re.compile(r"\x02[ \n]*(?=\n|$)|\x02")


def cleaned(text: str) -> str:
    """Text without ligatures, control characters and what is no character; the hyphen mark stays."""
    return text.translate(_CLEANED)


def hyphenated(text: str) -> set[str]:
    """The words that stand in `text` with a hyphen inside, in lower case."""
    return {word.lower() for word in _HYPHENATED.findall(text)} if "-" in text else set()


def joined(text: str, known: set[str]) -> str:
    """Words that a line end broke, whole again: with their hyphen where `known` has them so, else without."""
    if HYPHEN not in text:
        return text
    mended = _BROKEN.sub(lambda match: _mended(match[1], match[2], known), text)
    return _LEFT_OVER.sub("-", mended)


def _mended(left: str, right: str, known: set[str]) -> str:
    spelled = f"{left}-{right}"
    # A capital or a digit after the break was not put there by hyphenation: Jean-Paul, 2019-2020.
    if not right[0].islower() and right[0].isascii():
        return spelled
    return spelled if spelled.lower() in known else left + right
