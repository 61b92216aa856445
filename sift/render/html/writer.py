"""Markdown as it is written: blocks with their prefixes, and the inline text of the block at hand.

What an element means is not known here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

DEEPEST = 10  # nested lists and quotes that are indented; deeper ones stay at that depth
_LONGEST_JOINED = 2000  # characters: marks that touch become one up to here, so that many of them stay cheap
_SPACE = re.compile(r"[ \t\n\r\f\xa0\u2000-\u200a\u202f\u205f\u3000]+")
_SPECIAL = re.compile(r"[\\`*_\[\]<>&~]")
_ESCAPED = re.compile(
    r"\\(?=[!-/:-@\[-`{-~])|[`*]|(?<![^\W_])_|_(?![^\W_])|\](?=\()|~(?=~)|<(?=[A-Za-z/!?])|&(?=#?\w{1,31};)"
)
_LINE_START = re.compile(r"^(?:(#{1,6}|[-+])(?= |$)|(>)|(\d{1,9})([.)])(?= |$)|((?:-{3,}|={3,}|={1,}) *$))")


def escape(text: str) -> str:
    """The text with a backslash wherever Markdown would read a mark; as few as possible."""
    if not _SPECIAL.search(text):
        return text
    return _ESCAPED.sub(lambda match: "&amp;" if match[0] == "&" else "\\" + match[0], text)


@dataclass(slots=True)
class Mark:
    """An open inline element: where its text begins in the buffer, and what closes it."""

    kind: str  # the characters around, or "link"
    start: int
    address: str = ""
    is_used: bool = False  # a link around several blocks marks the first alone


@dataclass(slots=True)
class Frame:
    """A list item or a quote: `first` stands before its first line, `rest` before all others."""

    first: str
    rest: str
    is_used: bool = False


@dataclass(slots=True)
class Writer:
    """Collects blocks. Lines go out through `put`, inline text through `text` and `raw` until `flush`."""

    lines: list[str] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    buffer: list[str] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    ends_open: bool = True  # the buffer is empty or ends in white space
    code_end: int = -1  # length of the buffer just after a code span
    is_one_line: bool = False  # blocks become line breaks (a heading, a table cell)
    is_tight: bool = False  # the next block follows without a blank line
    deeper: int = 0  # frames beyond the deepest

    # Inline

    def text(self, text: str) -> None:
        """Adds running text: white space collapses, Markdown's characters are escaped."""
        plain = _SPACE.sub(" ", text)
        if not plain:
            return
        if self.ends_open:
            plain = plain.lstrip(" ")
            if not plain:
                return
        self.buffer.append(escape(plain))
        self.ends_open = plain.endswith(" ")

    def raw(self, text: str) -> None:
        """Adds Markdown as it is."""
        if text:
            self.buffer.append(text)
            self.ends_open = False

    def code(self, text: str) -> None:
        """Adds a code span; spaces at its ends go outside."""
        inner = _SPACE.sub(" ", text)
        core = inner.strip(" ")
        if not core:
            self.text(inner)
            return
        if inner.startswith(" ") and not self.ends_open:
            self.raw(" ")
        if self.code_end == len(self.buffer) and self.buffer and "`" not in core and _is_simple_code(self.buffer[-1]):
            self.buffer[-1] = f"{self.buffer[-1][:-1]}{core}`"
        else:
            self.raw(span(core))
        self.code_end = len(self.buffer)
        if inner.endswith(" "):
            self.text(" ")

    def line_break(self) -> None:
        """Ends the line within the block."""
        self.buffer.append("\n")
        self.ends_open = True

    def open(self, kind: str, address: str = "") -> Mark:
        """Begins an inline mark; close it with what this returns."""
        mark = Mark(kind, len(self.buffer), address)
        self.marks.append(mark)
        return mark

    def close(self, mark: Mark) -> None:
        """Ends an inline mark, with white space at its ends moved outside."""
        if mark in self.marks:
            while self.marks.pop() is not mark:
                pass
        self._wrap(mark)

    def _wrap(self, mark: Mark) -> None:
        inner = "".join(self.buffer[mark.start :])
        core = inner.strip(" \n")
        if not core:
            return
        del self.buffer[mark.start :]
        lead = inner[: len(inner) - len(inner.lstrip(" \n"))]
        tail = inner[len(inner.rstrip(" \n")) :]
        if lead:
            self.buffer.append(lead)
        self.buffer.append(self._marked(mark, core, is_joined=not lead))
        if tail:
            self.buffer.append(tail)
        self.ends_open = bool(tail)

    def _marked(self, mark: Mark, core: str, *, is_joined: bool) -> str:
        if mark.kind == "link":
            if mark.is_used or not mark.address:
                return core
            mark.is_used = True
            return f"[{_balanced(core)}]({target(mark.address)})"
        before = self.buffer[-1] if self.buffer else ""
        kind = mark.kind
        if (
            is_joined
            and len(before) < _LONGEST_JOINED
            and before.startswith(kind)
            and before.endswith(kind)
            and len(before) > 2 * len(kind)
        ):
            self.buffer.pop()
            return f"{before[: -len(kind)]}{core}{kind}"
        if "\n" in core:
            return "\n".join(f"{kind}{line.strip()}{kind}" if line.strip() else "" for line in core.split("\n"))
        return f"{kind}{core}{kind}"

    def taken(self) -> str:
        """The inline text so far, taken out of the buffer; open marks go on in the next block."""
        for mark in reversed(self.marks):
            self._wrap(mark)
        for mark in self.marks:
            mark.start = 0
        text = "".join(self.buffer)
        self.buffer.clear()
        self.ends_open, self.code_end = True, -1
        return text.strip(" \n")

    # Blocks

    def flush(self) -> None:
        """Ends the paragraph at hand, if there is one."""
        if self.is_one_line:
            if not self.buffer or self.buffer[-1] != "\n":
                self.line_break()
            return
        if not self.buffer:
            return
        text = self.taken()
        if text:
            for paragraph in re.split(r"\n[ \n]*\n", text):
                self.put([_guarded(line.strip(" ")) for line in paragraph.split("\n")], is_paragraph=True)

    def put(self, lines: list[str], *, is_paragraph: bool = False) -> None:
        """Adds one block, a blank line before it where one is due."""
        frames = self.frames
        if self.lines and not self.is_tight:
            self.lines.append("".join(frame.rest for frame in frames if frame.is_used).rstrip())
        self.is_tight = False
        last = len(lines) - 1
        for number, line in enumerate(lines):
            prefix = ""
            for frame in frames:
                prefix += frame.rest if frame.is_used else frame.first
                frame.is_used = True
            end = "  " if is_paragraph and number < last and line else ""
            self.lines.append(f"{prefix}{line}{end}" if line else prefix.rstrip())

    def enter(self, first: str, rest: str) -> None:
        """Begins a list item or a quote."""
        if len(self.frames) >= DEEPEST:
            self.deeper += 1
            self.frames[-1] = Frame(first, rest)
            return
        self.frames.append(Frame(first, rest))

    def leave(self) -> None:
        """Ends a list item or a quote."""
        if self.deeper:
            self.deeper -= 1
        elif self.frames:
            self.frames.pop()

    def result(self) -> str:
        """All of it."""
        self.flush()
        return "\n".join(self.lines).strip("\n")


def span(text: str) -> str:
    """A code span with delimiters longer than any run inside."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def target(address: str) -> str:
    """An address as it may stand in a link's parentheses."""
    if "(" not in address and ")" not in address:
        return address
    return address.replace("(", "%28").replace(")", "%29")


def _is_simple_code(piece: str) -> bool:
    return 2 < len(piece) < _LONGEST_JOINED and piece[0] == piece[-1] == "`" and piece.count("`") == 2


def _balanced(text: str) -> str:
    text = text.replace("\n", " ")
    if "[" not in text and "]" not in text:
        return text
    depth = 0
    for character in text:
        depth += (character == "[") - (character == "]")
        if depth < 0:
            break
    return text if depth == 0 else re.sub(r"(?<!\\)([\[\]])", r"\\\1", text)


def _guarded(line: str) -> str:
    """A paragraph's line that Markdown does not take for a heading, a list or a rule."""
    found = _LINE_START.match(line)
    if not found:
        return line
    if found[3]:
        return f"{found[3]}\\{line[len(found[3]) :]}"
    return f"\\{line}"
