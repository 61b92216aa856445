"""A text and a question to the passages that answer it: the extractive digest.

Pure work for a worker process: strings in, values out. No model is asked here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sift.digest import passages as cutting
from sift.digest.passages import Passage
from sift.digest.rank import scores

EXTRACTIVE = "extractive"
NOTHING_FOUND = "No passage shares a telling word with the question; this is the page's opening and outline."
_CUTOFF = 0.12  # passages below this share of the best one's score are left out
_PASSAGES_MAX = 12
_LEAST = 200  # characters: no passage is cut shorter than this to fit
_TRAIL = " › "
_RULE = "\n\n---\n\n"


@dataclass(frozen=True, slots=True)
class Found:
    """A passage of the digest: `offset` is where it begins in the whole text, in characters."""

    text: str
    score: float
    offset: int
    trail: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Digest:
    """What a page says to a question. `content` is Markdown for readers, `passages` the same, best first, for programs.

    `answer` is a model's, `None` for an extractive digest; `note` says what is out of the ordinary. `spare` are
    further candidates, for a model to choose from: they are not part of the answer.
    """

    content: str
    passages: tuple[Found, ...]
    method: str = EXTRACTIVE
    answer: str | None = None
    note: str | None = None
    spare: tuple[Found, ...] = ()


def extract(text: str, question: str, *, max_chars: int, spare: int = 0) -> Digest:
    """The passages of `text` that answer `question`, best first, in at most `max_chars` characters.

    Where the question shares no telling word with the text: its opening and outline, and a note that says so.
    `spare` is how many more passages to add for a model, in the same order.
    """
    if not text.strip():
        return Digest("", (), note="The page has no text.")
    cut = cutting.cut(text, whole_max=max(_LEAST, max_chars * 3 // 4))
    ranked = sorted(zip(scores(text, cut, question), cut, strict=True), key=lambda pair: (-pair[0], pair[1].start))
    best = ranked[0][0] if ranked else 0.0
    if best <= 0:
        others = tuple(_found(text, passage, 0.0) for passage in cut[:spare])
        return replace(_opening(text, max_chars), spare=others)
    close = sum(1 for score, _ in ranked[:_PASSAGES_MAX] if score > _CUTOFF * best)
    found = [_found(text, passage, score) for score, passage in ranked[: close + spare]]
    kept = fitted(found[:close], max_chars)
    return Digest(shown(kept), kept, spare=tuple(found[len(kept) :]))


def _found(text: str, passage: Passage, score: float) -> Found:
    inside = text[passage.start : passage.end]
    offset = passage.start + len(inside) - len(inside.lstrip("\n"))
    return Found(passage.before + inside.strip("\n") + passage.after, score, offset, passage.trail)


def fitted(found: Sequence[Found], max_chars: int) -> tuple[Found, ...]:
    """The passages that fit into `max_chars` as they are shown; the last may be cut at a line or word."""
    kept: list[Found] = []
    room = max_chars
    for passage in found:
        if len(_trail(passage)) > room // 3:
            passage = replace(passage, trail=())
        size = len(_shown(passage)) + (len(_RULE) if kept else 0)
        if size <= room:
            kept.append(passage)
            room -= size
        elif not kept or (room > 4 * _LEAST and len(kept) < 3):
            kept.append(_shortened(passage, room - (size - len(passage.text))))
            break
    return tuple(kept)


def _shortened(passage: Found, room: int) -> Found:
    """The beginning of a passage, cut at a line, else at a word; an open fence is closed."""
    fence = next(
        (line.strip()[:3] for line in passage.text.split("\n") if line.lstrip().startswith(("```", "~~~"))), ""
    )
    text = passage.text[: max(0, room - 2 - len(fence) - 1)]
    at = max(text.rfind("\n"), text.rfind(" ") if "\n" not in text[len(text) // 2 :] else -1)
    text = text[:at] if at > len(text) // 2 else text
    is_open = fence and sum(line.lstrip().startswith(fence) for line in text.split("\n")) % 2 == 1
    return Found(text + (f"\n{fence}" if is_open else "") + " …", passage.score, passage.offset, passage.trail)


def shown(found: Sequence[Found]) -> str:
    """Passages as Markdown: the trail of headings above each, a rule between them."""
    return _RULE.join(_shown(passage) for passage in found)


def _shown(passage: Found) -> str:
    trail = _trail(passage)
    return f"*{trail}*\n\n{passage.text}" if trail else passage.text


def _trail(passage: Found) -> str:
    """The headings above a passage, without the one that it begins with itself."""
    first = passage.text.lstrip().split("\n", 1)[0]
    own = first.lstrip().startswith("#")
    titles = passage.trail[:-1] if own else passage.trail
    return _TRAIL.join(title.replace("*", "")[:120] for title in titles[-4:])


def _opening(text: str, max_chars: int) -> Digest:
    """The beginning of the text and its headings; the note stands in the content where there is room for it."""
    said = f"*{NOTHING_FOUND}*\n\n" if max_chars >= 3 * len(NOTHING_FOUND) else ""
    listed = _joined(_outline(text), (max_chars - len(said)) // 2) if said else ""
    outline = f"\n\n**Outline**\n\n{listed}" if listed else ""
    room = max_chars - len(said) - len(outline)
    opening = Found(text.strip(), 0.0, len(text) - len(text.lstrip()))
    if len(opening.text) > room:
        opening = _shortened(opening, room)
    return Digest(said + opening.text + outline, (opening,), note=NOTHING_FOUND)


def _outline(text: str) -> Iterator[str]:
    return ("  " * (level - 1) + "- " + title for level, title in cutting.outline(text))


def _joined(lines: Iterator[str], room: int) -> str:
    kept, size = [], 0
    for line in lines:
        size += len(line) + 1
        if size > room:
            break
        kept.append(line)
    return "\n".join(kept)
