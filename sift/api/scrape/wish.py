"""What a scrape asks for, of what Firecrawl's clients send: the few fields that Sift serves; all others are let be.

Nothing is fetched here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from sift.api import body
from sift.errors import Malformed, Place
from sift.render import query

MARKDOWN, HTML, RAW_HTML, LINKS, QUESTION = "markdown", "html", "rawHtml", "links", "question"
FORMATS = (MARKDOWN, HTML, RAW_HTML, LINKS, QUESTION)
TIMEOUT_MS = 30_000.0
"""Firecrawl's own default."""
MOST_TIMEOUT_MS = 60_000.0
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Wish:
    """A scrape as it was asked for. `most_pages` is of a PDF, from its first on; `None` means all.

    `wait_s` is how long it waits for a slot in all. `unknown` are formats that Sift does not serve.
    """

    url: str
    formats: frozenset[str]
    question: str | None
    mode: str
    max_age_s: float | None
    wait_s: float
    most_pages: int | None
    unknown: tuple[str, ...]


def read_scrape(data: bytes) -> Wish:
    """The wish in a request's body. `null` and what is not known are as if left out. Raises `Malformed`."""
    fields = {name: value for name, value in body.decoded(data).items() if value is not None}
    places: list[Place] = []
    formats, question, unknown = _formats(_take(fields, "formats", _list, [MARKDOWN], places), places)
    timeout_ms = _take(fields, "timeout", _number, TIMEOUT_MS, places)
    max_age_ms = _take(fields, "maxAge", _number, None, places)
    main_only = _take(fields, "onlyMainContent", _flag, True, places)
    url = _take(fields, "url", _text, "", places)
    if "url" not in fields:
        places.append(Place("url", "missing; give the page's address"))
    most_pages = _most_pages(_take(fields, "parsers", _list, [], places), places)
    if places:
        raise Malformed(places)
    return Wish(
        url=url.strip(),
        formats=formats,
        question=question,
        mode="clean" if main_only else "full",
        max_age_s=None if max_age_ms is None else max(0.0, max_age_ms / 1000),
        wait_s=min(max(0.0, timeout_ms), MOST_TIMEOUT_MS) / 1000,
        most_pages=most_pages,
        unknown=unknown,
    )


def _formats(asked: list[Any], places: list[Place]) -> tuple[frozenset[str], str | None, tuple[str, ...]]:
    """The formats that Sift serves (Markdown where none is), the question, and the names of the others."""
    question = None
    names: dict[str, None] = {}
    for number, entry in enumerate(asked):
        options = entry if isinstance(entry, dict) else {"type": entry}
        name = options.get("type")
        if not isinstance(name, str):
            places.append(Place(f"formats[{number}]", 'it takes a name such as "markdown", or an object with a type'))
            continue
        names[name] = None
        if name == QUESTION:
            question = _question(options.get("question"), f"formats[{number}].question", places)
    known = frozenset(FORMATS) & names.keys() or frozenset({MARKDOWN})
    return known, question, tuple(name for name in names if name not in FORMATS)


def _question(asked: Any, at: str, places: list[Place]) -> str | None:
    if isinstance(asked, str) and asked.strip() and len(asked) <= query.QUESTION_MAX_CHARS:
        return asked
    places.append(Place(at, f"it takes a question of 1 to {query.QUESTION_MAX_CHARS} characters"))
    return None


def _most_pages(parsers: list[Any], places: list[Place]) -> int | None:
    """How many pages of a PDF at most; of several parsers the last says it."""
    most = None
    for number, parser in enumerate(parsers):
        if isinstance(parser, dict) and parser.get("type") == "pdf" and parser.get("maxPages") is not None:
            asked = parser["maxPages"]
            if type(asked) is int and asked > 0:
                most = asked
            else:
                places.append(Place(f"parsers[{number}].maxPages", "it takes a number of pages, 1 or more"))
    return most


def _take(
    fields: Mapping[str, Any], name: str, check: Callable[[Any], Value], default: Value, places: list[Place]
) -> Value:
    """The field, checked; its default where it is missing or wrong, which is added to `places` then."""
    if name not in fields:
        return default
    try:
        return check(fields[name])
    except ValueError as error:
        places.append(Place(name, str(error)))
        return default


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("it takes a string")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("it takes true or false")
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("it takes a number of milliseconds")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError("it takes a list")
    return value
