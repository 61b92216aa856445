"""Request bodies: bytes to checked `Target`s, every wrong place named.

What a URL may be is the guard's to say, not decided here.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from sift.errors import BodyTooLarge, Invalid, InvalidQuery, Malformed, Place
from sift.render import query
from sift.target import MODES, Target

FETCH_BODY_BYTES = 64 << 10
BATCH_BODY_BYTES = 256 << 10


@dataclass(frozen=True, slots=True)
class Submit:
    """A batch as it was asked for."""

    targets: tuple[Target, ...]
    fresh: bool


def decoded(body: bytes) -> dict[str, Any]:
    """The JSON object that a body holds. Raises `Malformed`."""
    try:
        value = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        found = re.search(r"byte (\d+)", str(error))
        where = f" (at byte {found[1]})" if found else ""
        what = "nested too deep" if isinstance(error, RecursionError) else f"not valid JSON in UTF-8{where}"
        raise Malformed([Place("", f"the body is {what if body else 'empty; send a JSON object'}")]) from None
    if not isinstance(value, dict):
        raise Malformed([Place("", f"the body is {_kind(value)}; send a JSON object")])
    return value


def check_length(nbytes: int, most: int) -> None:
    """Raises `BodyTooLarge` for a body over the endpoint's cap."""
    if nbytes > most:
        raise BodyTooLarge(f"the body is over {most >> 10} KiB; send less at once")


def read_fetch(body: bytes, *, most_age_s: float) -> Target:
    """The target of `POST /v1/fetch`; no copy may be older than `most_age_s`. Raises `Malformed`."""
    places: list[Place] = []
    target = _target(decoded(body), "", places, most_age_s)
    if target is None or places:
        raise _refusal(places)
    return target


def check_query(target: Target, check: Callable[[list[str]], list[str]]) -> None:
    """Has the jq program of one fetch compiled by `check`. Raises `InvalidQuery`."""
    try:
        check_programs([("", target)], check)
    except Malformed as error:
        raise InvalidQuery(error.places) from None


def _refusal(places: list[Place]) -> Malformed:
    """What one fetch is told: a pattern or a range that is none has an outcome of its own."""
    return InvalidQuery(places) if all(place.is_query for place in places) else Malformed(places)


def read_submit(body: bytes, *, most_age_s: float) -> Submit:
    """The targets of `POST /v1/batch`. Raises `Malformed`; how many there may be is not asked here."""
    value = decoded(body)
    places = _unknown(value, "", ("fresh", "targets"))
    fresh = value.get("fresh", False)
    if type(fresh) is not bool:
        places.append(Place("fresh", f"{_kind(fresh)} given; it takes true or false"))
    entries = value.get("targets")
    targets: list[Target | None] = []
    if "targets" not in value:
        places.append(Place("targets", 'missing; it takes a list of targets, each at least {"url": …}'))
    elif not isinstance(entries, list):
        places.append(Place("targets", f"{_kind(entries)} given; it takes a list of targets"))
    elif not entries:
        places.append(Place("targets", "an empty list; give at least one target"))
    else:
        targets = [_entry(entry, f"targets[{idx}]", places, most_age_s) for idx, entry in enumerate(entries)]
    if places:
        raise Malformed(places)
    return Submit(tuple(target for target in targets if target is not None), fresh)


def check_programs(targets: Iterable[tuple[str, Target]], check: Callable[[list[str]], list[str]]) -> None:
    """Has the jq programs of targets, given with their places, compiled by `check`. Raises `Malformed`."""
    asked = [(at, target.jq) for at, target in targets if target.jq is not None]
    if not asked:
        return
    wrong = check([program for _, program in asked])
    places = [Place(_at(at, "jq"), _bare(problem)) for (at, _), problem in zip(asked, wrong, strict=True) if problem]
    if places:
        raise Malformed(places)


def _entry(entry: Any, at: str, places: list[Place], most_age_s: float) -> Target | None:
    if not isinstance(entry, dict):
        places.append(Place(at, f'{_kind(entry)} given; it takes a target such as {{"url": "https://…"}}'))
        return None
    return _target(entry, at, places, most_age_s)


def _target(fields: dict[str, Any], at: str, places: list[Place], most_age_s: float) -> Target | None:
    """The target that `fields` describe; what is wrong with them is added to `places`."""
    wrong = _unknown(fields, at, tuple(_CHECKS))
    if "url" not in fields:
        wrong.append(Place(_at(at, "url"), "missing; every target takes a url"))
    found: dict[str, Any] = {}
    for name, value in fields.items():
        if name in _CHECKS:
            try:
                found[name] = _CHECKS[name](value)
            except ValueError as error:
                wrong.append(Place(_at(at, name), str(error), is_query=isinstance(error, _BadQueryError)))
    wrong += _together(found, at)
    if found.get("max_age", 0) > most_age_s:
        wrong.append(Place(_at(at, "max_age"), f"{found['max_age']:g} given, at most {most_age_s:g} ([cache] ttl)"))
    places += wrong
    if wrong:
        return None
    found["max_age_s"] = found.pop("max_age", None)
    return Target(**found)


def _together(found: dict[str, Any], at: str) -> list[Place]:
    """What is wrong with fields that are each right alone."""
    places = []
    if "jq" in found and "grep" in found:
        places.append(Place(_at(at, "grep"), "given together with jq; use one of them"))
    if "question" in found and found.get("mode") in ("raw", "links"):
        places.append(Place(_at(at, "question"), f"given with mode {found['mode']}; it takes mode clean or full"))
    return places


def _unknown(fields: dict[str, Any], at: str, known: tuple[str, ...]) -> list[Place]:
    places = []
    for name in fields:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1, 0.5)
            say = f"did you mean {near[0]}?" if near else f"known: {', '.join(sorted(known))}"
            places.append(Place(_at(at, _shown(name, 64)), f"unknown field; {say}"))
    return places


def _bare(problem: str) -> str:
    """A field's problem without the field's name in front: the place says it already."""
    name, colon, rest = problem.partition(": ")
    return rest if colon and name in _CHECKS else problem


def _at(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name


def _shown(value: str, most: int = 40) -> str:
    return value if len(value) <= most else value[: most - 1] + "…"


def _kind(value: Any) -> str:
    """What sort of JSON value this is, as a reader would say."""
    if value is None:
        return "null"
    for kind, word in ((bool, "true or false"), (str, "a string"), (int | float, "a number"), (list, "a list")):
        if isinstance(value, kind):
            return word
    return "an object"


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{_kind(value)} given; it takes a string")
    return value


def _wanted(most_chars: int) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        text = _text(value)
        if not text.strip():
            raise ValueError("an empty string; leave the field out instead")
        if len(text) > most_chars:
            raise ValueError(f"{len(text)} characters given, at most {most_chars}")
        return text

    return check


class _BadQueryError(ValueError):
    """A text that is no pattern, or no range."""


def _refined(most_chars: int, check: Callable[[str], object]) -> Callable[[Any], str]:
    """A text that also has to stand a check which raises `Invalid`."""
    base = _wanted(most_chars)

    def checked(value: Any) -> str:
        text = base(value)
        try:
            check(text)
        except Invalid as error:
            raise _BadQueryError(_bare(str(error).removeprefix("invalid: "))) from None
        return text

    return checked


def _mode(value: Any) -> str:
    text = _text(value)
    if text not in MODES:
        raise ValueError(f'"{_shown(text)}" is not one of {", ".join(MODES)}')
    return text


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise ValueError(f"{_kind(value)} given; it takes true or false")
    return value


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{_kind(value)} given; it takes a number of seconds")
    if not 0 <= value <= 1e12:
        raise ValueError("out of range; it takes seconds, 0 or more")
    return value


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "url": _text,
    "mode": _mode,
    "question": _wanted(query.QUESTION_MAX_CHARS),
    "pages": _refined(query.PAGES_MAX_CHARS, query.parse_pages),
    "grep": _refined(query.GREP_MAX_CHARS, query.check_grep),
    "jq": _wanted(query.JQ_MAX_CHARS),
    "context": _flag,
    "recover": _flag,
    "max_age": _seconds,
}
