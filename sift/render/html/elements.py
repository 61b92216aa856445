"""Elements by how they are written, and what a handler answers.

The handlers themselves are in `blocks`.
"""

from __future__ import annotations

from collections.abc import Callable

from sift.render.html.tree import words

Leave = Callable[[], None]
BLOCKS = words(
    "address article aside body center details dialog dir div fieldset figcaption figure footer form header hgroup "
    "legend main menu nav optgroup option p search section tbody td tfoot th thead tr caption noframes"
)
SPARED = frozenset(["rp", "col", "colgroup", "button", "clipboard-copy"])
EMPHASIS = {
    "b": "**",
    "strong": "**",
    "i": "*",
    "em": "*",
    "var": "*",
    "dfn": "*",
    "del": "~~",
    "s": "~~",
    "strike": "~~",
}
CODE = frozenset(["code", "tt", "kbd", "samp"])
BIG = words("p ul ol table pre blockquote dl h1 h2 h3 h4 h5 h6 section article hr")
HEADING_LONGEST = 400  # characters: what is longer is a page inside a heading that was never closed
SIGNATURE = ("sig ", "sig-object", " descname")
EXPONENT = frozenset("0123456789+-−n")


class Skip:
    """What a handler answers when it has dealt with everything inside."""


SKIP = Skip()
Handled = Leave | Skip | None


class List:
    """An open list: its next number (0: bullets; less: no list but a frame), and whether blank lines part its items."""

    __slots__ = ("is_loose", "number")

    def __init__(self, number: int, *, is_loose: bool) -> None:
        self.number = number
        self.is_loose = is_loose
