"""Words as they are compared: stems of words, parts of identifiers, pairs of signs where a script has no spaces.

Knows nothing of passages or of scores.
"""

from __future__ import annotations

import re

# Scripts without spaces between words: Han, kana, Hangul is spaced but inflected, Thai, Lao, Khmer, Myanmar.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}\U00020000-\U0003ffff]+")
WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
# What a question names exactly: --no-cache, fs.readFile, Content-Type, max_age, std::vector, C++, @media, .htaccess
_NAME = re.compile(r"[-.@$#/]{0,3}\w+(?:(?:[-._:/]|::|->|\(\))+\w+)+(?:\(\))?|-{1,2}\w+|[@$#.]\w+|\w+(?:\+\+|#|\(\))")
_TRIMMED = "?!,;:\"'`’“”()[]{}<>"
_EVERYWHERE = (
    "a about after all also am an and any are as at be been before being both but by can could did do does doing "
    "done for from get gets had has have having he her here hers him his how i if in into is it its just like "
    "made make makes many may me mean means might more most much must my need no nor not of on one only or other "
    "our out over please she should so some such than that the their them then there these they this those "
    "through to too under up us use used uses using very was way we were what when where which while who whom "
    "whose why will with would you your tell explain describe happen happens happened work works page article "
    "document according say says der die das ein eine und oder ist sind wie wer wo wann warum welche für mit von "
    "zu im den dem des le la les un une et ou est sont comment quoi qui que où quand pourquoi quel quelle dans "
    "pour avec du de el los las unos una y o es son cómo qué quién dónde cuándo por para con del en "
)
STOP_WORDS = frozenset(_EVERYWHERE.split())


def question_terms(question: str) -> list[str]:
    """The terms of a question, each once, in order; words that every text has are left out where others remain."""
    found = list(dict.fromkeys(term for word in WORD.findall(question) for term in terms_of(word)))
    telling = [term for term in found if term not in STOP_WORDS]
    return telling or found


def names(question: str) -> list[str]:
    """The identifiers of a question as they are spelled, in lower case: what is more than a word."""
    found = (match.strip(_TRIMMED).rstrip(".").lower() for match in _NAME.findall(question))
    return list(dict.fromkeys(name for name in found if len(name) > 1))


def terms_of(word: str) -> tuple[str, ...]:
    """The terms that one word of a text stands for: its stem, those of its parts, or pairs of its signs."""
    if not word.isascii() and _UNSPACED_RUN.search(word):
        return _pairs(word)
    whole = stem(word.lower())
    if word.islower() or len(word) < 4 or not word.isascii():
        return (whole,)
    parts = [stem(part.lower()) for part in _CAMEL.findall(word)]
    return (whole, *(part for part in parts if part != whole)) if len(parts) > 1 else (whole,)


def _pairs(word: str) -> tuple[str, ...]:
    found: list[str] = []
    at = 0
    for run in _UNSPACED_RUN.finditer(word):
        found += [stem(part.lower()) for part in WORD.findall(word[at : run.start()])]
        signs = run[0]
        found += [signs[n : n + 2] for n in range(len(signs) - 1)] or [signs]
        at = run.end()
    found += [stem(part.lower()) for part in WORD.findall(word[at:])]
    return tuple(found)


def stem(word: str) -> str:
    """A word without the commonest English endings: as coarse as needed for a question and a text to meet."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    for ending, rest in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("s", "")):
        if word.endswith(ending) and not word.endswith(("ss", "us", "is")):
            word = word[: -len(ending)] + rest
            break
    for ending in ("ization", "isation", "ations", "ation", "ingly", "ing", "edly", "ed", "ment", "ly", "er", "or"):
        left = word[: -len(ending)]
        if word.endswith(ending) and len(left) >= 3 and re.search(r"[aeiouy]", left):
            return _undoubled(left)
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


def _undoubled(left: str) -> str:
    """`stopp` → `stop`, `cach` stays; a last e goes, as it does from the word itself."""
    if len(left) > 3 and left[-1] == left[-2] and left[-1] not in "lsz":
        return left[:-1]
    return left[:-1] if left.endswith("e") else left
