"""Passages against a question: BM25 over stems, names and headings, scaled by how much of the question is met.

Pure arithmetic over one text; no index is kept.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from sift.digest.passages import Passage
from sift.digest.terms import STOP_WORDS, WORD, names, question_terms, terms_of

# The target of a link is no text: its words would count for what only leads elsewhere.
_TARGET = re.compile(r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)?\)")
_K1 = 1.2
_B = 0.5
_OWN_HEADING = 1.6  # a term in the passage's nearest heading counts as so many in its text
_UPPER_HEADING = 0.4
_NAME_WEIGHT = 2.0
_NAME_MOST = 2  # a name that comes more often in a passage than this is no better explained there
_DEFINED = 3
_NEAR = 0.25  # what two terms of the question side by side add, of their weight
_COMMON = 0.4  # a term in more than this share of the passages tells nothing


@dataclass(slots=True)
class _Counts:
    """How often each wanted term stands in a passage, and which stand side by side."""

    terms: Counter[str] = field(default_factory=Counter)
    pairs: set[tuple[str, str]] = field(default_factory=set)
    headings: dict[str, float] = field(default_factory=dict)
    length: int = 1


class _Spelling:
    """A name as it is spelled: how often a passage has it, and whether it is explained there."""

    def __init__(self, name: str) -> None:
        self.term = _named(name)
        spelled = rf"(?<!\w){re.escape(name)}(?!\w)"
        self._any = re.compile(spelled)
        self._defined = re.compile(rf"^[ \t]*(?:[-*+>][ \t]+)*(?:\*\*|`|#+[ \t])[^\n]{{0,30}}?{spelled}", re.MULTILINE)

    def times(self, lower: str) -> int:
        """How much the name counts in a text in lower case; more where a line begins with it in bold or as code."""
        found = min(len(self._any.findall(lower)), _NAME_MOST)
        return found + (_DEFINED if found and self._defined.search(lower) else 0)


def scores(text: str, passages: Sequence[Passage], question: str) -> list[float]:
    """One score a passage; all zero where no term of the question tells one passage from another."""
    wanted = question_terms(question)
    spelled = names(question)
    if not passages or not (wanted or spelled):
        return [0.0] * len(passages)
    counts = _counted(text, passages, wanted, spelled)
    weights = _weights(counts, [*wanted, *(_named(name) for name in spelled)])
    if not weights:
        return [0.0] * len(passages)
    average = sum(count.length for count in counts) / len(counts)
    return [_score(count, weights, average) for count in counts]


def nearest(words: str, texts: Sequence[str]) -> list[int]:
    """The texts that share words with `words`, those that share the most first, counted from 1."""
    wanted = frozenset(question_terms(words))
    shared = [
        len(wanted.intersection(term for word in WORD.findall(text) for term in terms_of(word))) for text in texts
    ]
    return [number for number in sorted(range(1, len(texts) + 1), key=lambda n: -shared[n - 1]) if shared[number - 1]]


def _named(name: str) -> str:
    """A name as a term that no word can be."""
    return f"={name}"


def _counted(text: str, passages: Sequence[Passage], wanted: Sequence[str], spelled: Sequence[str]) -> list[_Counts]:
    asked = frozenset(wanted)
    known: dict[str, tuple[str, ...]] = {}
    trails: dict[tuple[str, ...], dict[str, float]] = {}
    patterns = [_Spelling(name) for name in spelled]
    found = []
    for passage in passages:
        inside = _TARGET.sub("] ", text[passage.start : passage.end])
        count = _Counts(headings=_of_trail(passage.trail, asked, trails, known))
        _count_words(inside, asked, known, count)
        lower = inside.lower() if patterns else ""
        for spelling in patterns:
            times = spelling.times(lower)
            if times:
                count.terms[spelling.term] = times
        found.append(count)
    return found


def _count_words(inside: str, asked: frozenset[str], known: dict[str, tuple[str, ...]], count: _Counts) -> None:
    words = WORD.findall(inside)
    count.length = len(words) or 1
    before = ""
    for word in words:
        terms = known.get(word)
        if terms is None:
            terms = known[word] = tuple(term for term in terms_of(word) if term in asked)
        for term in terms:
            count.terms[term] += 1
            if before and before != term:
                count.pairs.add((before, term))
            before = term
        if not terms and word.lower() not in STOP_WORDS:
            before = ""


def _of_trail(
    trail: tuple[str, ...],
    asked: frozenset[str],
    trails: dict[tuple[str, ...], dict[str, float]],
    known: dict[str, tuple[str, ...]],
) -> dict[str, float]:
    """What the headings above a passage add to its terms."""
    if trail not in trails:
        added: dict[str, float] = {}
        for depth, title in enumerate(reversed(trail)):
            for word in WORD.findall(title):
                for term in terms_of(word):
                    if term in asked:
                        added[term] = max(added.get(term, 0.0), _UPPER_HEADING if depth else _OWN_HEADING)
        trails[trail] = added
    return trails[trail]


def _weights(counts: Sequence[_Counts], terms: Sequence[str]) -> dict[str, float]:
    """The inverse document frequency of each term that is there at all; empty where all are everywhere."""
    total = len(counts)
    weights = {}
    tells = False
    for term in terms:
        holding = sum(1 for count in counts if term in count.terms or count.headings.get(term, 0) > 1)
        if holding:
            weight = math.log(1 + (total - holding + 0.5) / (holding + 0.5))
            weights[term] = weight * (_NAME_WEIGHT if term.startswith("=") else 1.0)
            tells = tells or holding <= max(3, _COMMON * total)
    return weights if tells else {}


def _score(count: _Counts, weights: dict[str, float], average: float) -> float:
    damping = _K1 * (1 - _B + _B * count.length / average)
    score = met = 0.0
    for term, weight in weights.items():
        times = count.terms[term] + count.headings.get(term, 0.0)
        if times:
            score += weight * times * (_K1 + 1) / (times + damping)
            met += weight
    for first, second in count.pairs:
        score += _NEAR * (weights.get(first, 0.0) + weights.get(second, 0.0))
    return score * (0.35 + 0.65 * met / sum(weights.values()))
