"""A text cut into passages: pieces that can stand alone, each with the trail of headings above it.

Code blocks and tables stay whole up to a limit. What a passage is worth is not known here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

_USUAL = 600  # characters: paragraphs are gathered up to about so many
_LONGEST = 1_200  # a paragraph over this is cut at a sentence
_LEAD_IN = 400  # the paragraph before a code block or table stays with it if it is no longer than this
_BLOCKS_MAX = 100_000  # what comes after so many is cut by its length alone
_FENCES_SEARCHED = 100  # no closing fence among so many that follow: it is no code block
_LINE = re.compile(r"[^\n]*\n?")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*\n?$")
_FENCE = re.compile(r"^[ \t>]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?(`{3,}|~{3,})([^\n]*)\n?", re.MULTILINE)
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*\s+|[。！？]|\n+")
_TARGET = re.compile(r"\]\([^()\s]{1,2000}(?:\([^()\s]{0,200}\)[^()\s]{0,200})?")
_SPACE = re.compile(r"\s+")

HEADING, CODE, TABLE, TEXT = "heading", "code", "table", "text"


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of the text from `start` to `end`, and the headings above it, outermost first.

    `before` and `after` are what a piece of a longer code block or table needs to be one itself: a fence, a header.
    """

    start: int
    end: int
    trail: tuple[str, ...]
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class _Block:
    kind: str
    start: int
    end: int
    level: int = 0
    title: str = ""
    unseen: int = 0  # characters of link targets: they are not read, and do not count as text

    @property
    def size(self) -> int:
        return self.end - self.start - self.unseen


def cut(text: str, *, whole_max: int) -> list[Passage]:
    """All passages of `text`, in its order; code blocks and tables over `whole_max` characters are taken apart."""
    gathered = _Gathering(text, whole_max)
    end = 0
    for block in islice(_blocks(text), _BLOCKS_MAX):
        gathered.add(block)
        end = block.end
    if end < len(text):
        gathered.add(_Block(TEXT, end, len(text)))
    gathered.flush()
    return gathered.passages


def outline(text: str, *, most: int = 200) -> list[tuple[int, str]]:
    """The headings of `text` as (level, title), at most so many."""
    found: list[tuple[int, str]] = []
    for block in islice(_blocks(text), _BLOCKS_MAX):
        if block.kind == HEADING and block.title:
            found.append((block.level, block.title))
            if len(found) >= most:
                break
    return found


class _Gathering:
    """Blocks on their way to passages: small neighbours under one heading become one."""

    def __init__(self, text: str, whole_max: int) -> None:
        self.passages: list[Passage] = []
        self._text = text
        self._whole_max = whole_max
        self._trail: list[tuple[int, str]] = []
        self._open: list[_Block] = []
        self._held = 0  # what the open blocks count together

    def add(self, block: _Block) -> None:
        if block.kind == HEADING:
            self._enter(block)
        elif block.kind == TEXT:
            self._add_text(block)
        else:
            self._add_whole(block)

    def flush(self) -> None:
        """End the passage that is being gathered."""
        if self._open and not self._text[self._open[0].start : self._open[-1].end].isspace():
            self.passages.append(Passage(self._open[0].start, self._open[-1].end, self._titles()))
        self._open = []
        self._held = 0

    def _hold(self, block: _Block) -> None:
        self._open.append(block)
        self._held += block.size

    def _titles(self) -> tuple[str, ...]:
        return tuple(title for _, title in self._trail)

    def _enter(self, heading: _Block) -> None:
        # a heading without text of its own begins the passage of what follows it
        if any(block.kind != HEADING for block in self._open) or self._held > _USUAL:
            self.flush()
        while self._trail and self._trail[-1][0] >= heading.level:
            self._trail.pop()
        self._trail.append((heading.level, heading.title))
        self._hold(heading)

    def _add_text(self, block: _Block) -> None:
        if self._held + block.size > _LONGEST or self._has_whole():
            self._flush_unless_heading()
        for part in _parts(self._text, block):
            if self._held + part.size > _LONGEST:
                self._flush_unless_heading()
            self._hold(part)
            if self._held >= _USUAL:
                self.flush()

    def _add_whole(self, block: _Block) -> None:
        if block.size > self._whole_max:
            self.flush()
            self.passages.extend(self._taken_apart(block))
            return
        if self._held + block.size > max(_LONGEST, block.size + _LEAD_IN):
            self._keep_lead_in()
        self._hold(block)
        if self._held >= _USUAL:
            self.flush()

    def _has_whole(self) -> bool:
        return self._held > _LEAD_IN and any(block.kind in {CODE, TABLE} for block in self._open)

    def _flush_unless_heading(self) -> None:
        if any(block.kind != HEADING for block in self._open):
            self.flush()

    def _keep_lead_in(self) -> None:
        """End what is gathered, but for its last paragraph where that is short: it introduces what comes."""
        last = self._open[-1] if self._open else None
        if last is None or last.kind != TEXT or last.size > _LEAD_IN or len(self._open) == 1:
            self._flush_unless_heading()
            return
        self._open.pop()
        self._held -= last.size
        self._flush_unless_heading()
        self._hold(last)

    def _taken_apart(self, block: _Block) -> Iterator[Passage]:
        """A code block or table too long to be shown whole, by lines, each piece with fence or header."""
        lines = [
            (match.start(), match.end()) for match in _LINE.finditer(self._text, block.start, block.end) if match[0]
        ]
        head = 1 if block.kind == CODE else min(2, len(lines) - 1)
        before = self._text[block.start : lines[head - 1][1]] if head else ""
        after = "\n" + before.strip()[:3] if block.kind == CODE else ""
        body = lines[head : len(lines) - (block.kind == CODE)]
        if len(before) > _USUAL:
            before = ""
        for start, end in _by_lines(body, min(_USUAL, self._whole_max)):
            yield Passage(start, end, self._titles(), before, after)


def _by_lines(lines: Iterable[tuple[int, int]], most: int) -> Iterator[tuple[int, int]]:
    """Lines gathered to stretches of at most about `most` characters; a longer line is cut."""
    start = end = -1
    for begin, stop in lines:
        if start >= 0 and stop - start > most:
            yield start, end
            start = -1
        while stop - begin > 2 * most:
            yield begin, begin + most
            begin += most
        start, end = (begin if start < 0 else start), stop
    if start >= 0 and end > start:
        yield start, end


def _parts(text: str, block: _Block) -> Iterator[_Block]:
    """A paragraph, or pieces of one that is too long, cut at sentences or lines, else at a space."""
    start = block.start
    if block.size <= _LONGEST and block.end - block.start <= 3 * _LONGEST:
        yield block
        return
    while block.end - start > _LONGEST:
        window = text[start : start + _LONGEST]
        ends = [match.end() for match in _SENTENCE_END.finditer(window) if match.end() >= _USUAL // 2]
        spaces = [] if ends else [match.end() for match in _SPACE.finditer(window) if match.end() >= _USUAL // 2]
        size = next((end for end in ends if end >= _USUAL), (ends or spaces or [_LONGEST])[-1])
        yield _Block(TEXT, start, start + size)
        start += size
    if start < block.end:
        yield _Block(TEXT, start, block.end)


def _blocks(text: str) -> Iterator[_Block]:
    """Headings, code blocks, tables and paragraphs, in order; blank lines are left out."""
    fences = list(_FENCE.finditer(text)) if "```" in text or "~~~" in text else []
    closings = [fence for fence in fences if not fence[2].strip()]
    at = number = 0
    while at < len(text):
        line = _line(text, at)
        if not line.strip():
            at += len(line)
            continue
        while number < len(fences) and fences[number].start() < at:
            number += 1
        is_fence = number < len(fences) and fences[number].start() == at
        block = _code(fences[number], closings) if is_fence else _heading(line, at) or _table(text, line, at)
        block = block or _paragraph(text, at)
        yield block
        at = block.end


def unseen(text: str) -> int:
    """How many characters of Markdown are targets of links."""
    return sum(map(len, _TARGET.findall(text))) if "](" in text else 0


def _line(text: str, at: int) -> str:
    end = text.find("\n", at) + 1
    return text[at:end] if end else text[at:]


def _heading(line: str, at: int) -> _Block | None:
    if len(line) > 1000 or "#" not in line[:4]:
        return None
    match = _HEADING.match(line)
    return _Block(HEADING, at, at + len(line), len(match[1]), _plain(match[2])) if match else None


def _plain(title: str) -> str:
    """A heading's words without links and emphasis."""
    return (
        re.sub(r"!?\[([^\[\]]*)\]\([^()\s]*\)", r"\1", title)
        .replace("`", "")
        .replace("**", "")
        .replace("\\", "")
        .strip()
    )


def _code(opening: re.Match[str], closings: Sequence[re.Match[str]]) -> _Block | None:
    """The code block that a fence opens; `None` where it opens none, or none that ends."""
    sign, size = opening[1][0], len(opening[1])
    if sign == "`" and "`" in opening[2]:
        return None
    first = bisect_right(closings, opening.start(), key=re.Match.start)
    for closing in closings[first : first + _FENCES_SEARCHED]:
        if closing[1][0] == sign and len(closing[1]) >= size:
            return _Block(CODE, opening.start(), closing.end())
    return None


def _table(text: str, line: str, at: int) -> _Block | None:
    end = at
    while line.lstrip().startswith("|"):
        end += len(line)
        line = _line(text, end)
    return _Block(TABLE, at, end, unseen=unseen(text[at:end])) if end > at else None


def _paragraph(text: str, at: int) -> _Block:
    """Lines up to a blank one, or to one that begins something else."""
    end = at
    while end < len(text):
        line = _line(text, end)
        is_other = _heading(line, end) or line.lstrip().startswith(("```", "~~~", "|"))
        if not line.strip() or (is_other and end > at):
            break
        end += len(line)
    return _Block(TEXT, at, end, unseen=unseen(text[at:end]))
