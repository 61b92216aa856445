"""What `sift batch submit` was given, as the request's body: a file in one of its forms, URLs, or both.

Looks at the form alone, and names the line where it is wrong; what a target may say is the server's to judge.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import click

from sift.cli.values import as_utf8

MAX_BYTES = 4 << 20
"""Far above what a server takes (256 KiB), far below what would hurt here."""
MOST_WRONG = 100
"""Wrong places that are said one by one: more than a job takes targets by default."""
_HTTP = re.compile(r"https?://\S+", re.IGNORECASE)


def body_of(arguments: Sequence[str], *, fresh: bool) -> dict[str, Any]:
    """The body of the submit. Raises `click.UsageError` that names the file and the line."""
    urls = [_given_url(argument) for argument in arguments if _HTTP.match(argument)]
    files = [argument for argument in arguments if not _HTTP.match(argument)]
    if len(files) > 1:
        raise click.UsageError(f"{files[1]}: one FILE at most; a URL begins with http:// or https://")
    if not arguments:
        raise click.UsageError("nothing to submit; name a FILE, - for stdin, or URLs")
    body = parse(*_read(files[0])) if files else {"targets": []}
    body["targets"] = [*body["targets"], *({"url": url} for url in urls)]
    if not body["targets"]:
        raise click.UsageError(f"{files[0]}: no targets in it")
    return {**body, "fresh": True} if fresh else body


def _given_url(argument: str) -> str:
    try:
        return as_utf8(argument)
    except ValueError as error:
        raise click.UsageError(f"URL: {error}") from None


def _read(name: str) -> tuple[str, str]:
    """A name for messages, and the text."""
    shown = "stdin" if name == "-" else name
    try:
        if name == "-":
            data = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with open(name, "rb") as file:
                data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError, AttributeError) as error:
        why = (getattr(error, "strerror", None) or "cannot be read").lower()
        raise click.UsageError(f"{shown}: {why}; a URL begins with http:// or https://") from None
    if len(data) > MAX_BYTES:
        raise click.UsageError(f"{shown}: over 4 MiB; split the list")
    try:
        return shown, data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        at = data.count(b"\n", 0, error.start) + 1
        raise click.UsageError(f"{shown}: line {at}: not UTF-8; save it as UTF-8") from None


def parse(name: str, text: str) -> dict[str, Any]:
    """The body in `text`: an object with `targets`, a list, objects one a line, or URLs one a line."""
    start = text.lstrip()
    if start.startswith("["):
        return {"targets": _entries(name, text, _whole(name, text))}
    if start.startswith("{") and not _is_ndjson(start):
        document = _whole(name, text)
        if "url" in document:
            return {"targets": [_target(f"{name}: line 1", document)]}
        if "targets" not in document:
            raise click.UsageError(f'{name}: line 1: an object takes "targets" (a list), or "url" for one target')
        if not isinstance(document["targets"], list):
            raise click.UsageError(f'{name}: line {_line_of_key(text)}: "targets" is not a list')
        return {**document, "targets": _entries(name, text, document["targets"])}
    lines = ((number, line.strip()) for number, line in enumerate(text.split("\n"), 1))
    made = (partial(_line, name, number, line) for number, line in lines if line and not line.startswith("#"))
    return {"targets": _all_of(made)}


class WrongPlaces(click.UsageError):
    """Several wrong places of one list; `messages` has one for each, and `message` is the first."""

    def __init__(self, messages: Sequence[str]) -> None:
        super().__init__(messages[0])
        self.messages = messages


def _all_of(made: Iterable[Callable[[], dict[str, Any]]]) -> list[dict[str, Any]]:
    """What each gives. Raises `WrongPlaces` that says of every one what is wrong, and after `MOST_WRONG` gives up."""
    targets, wrong = [], []
    for make in made:
        try:
            targets.append(make())
        except click.UsageError as error:
            wrong.append(error.message)
        if len(wrong) == MOST_WRONG:
            wrong.append("there may be more; is this a list of targets?")
            break
    if wrong:
        raise WrongPlaces(wrong)
    return targets


def _is_ndjson(start: str) -> bool:
    """Whether the first line is a whole target by itself."""
    try:
        first = json.loads(start.split("\n", 1)[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(first, dict) and "url" in first


def _whole(name: str, text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise click.UsageError(
            f"{name}: line {error.lineno}, column {error.colno}: not JSON ({error.msg.lower()})"
        ) from None
    except (ValueError, RecursionError):
        raise click.UsageError(f"{name}: not JSON (a number or a depth that JSON does not take)") from None


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def _line(name: str, number: int, line: str) -> dict[str, Any]:
    if not line.startswith(("{", '"')):
        return _target(f"{name}: line {number}", line)
    try:
        value = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise click.UsageError(f"{name}: line {number}: not JSON; a line is an object or a URL") from None
    return _target(f"{name}: line {number}", value)


def _target(where: str, value: Any) -> dict[str, Any]:
    if isinstance(value, str) and _HTTP.fullmatch(value):
        return {"url": value}
    if isinstance(value, str):
        shown = value if len(value) <= 60 else value[:57] + "..."
        raise click.UsageError(f'{where}: "{shown}" is no URL; one begins with http:// or https://')
    if not isinstance(value, dict):
        raise click.UsageError(f"{where}: a target is a URL, or an object with one")
    if not isinstance(value.get("url"), str):
        raise click.UsageError(f'{where}: a target without "url"')
    return value


def _entries(name: str, text: str, values: list[Any]) -> list[dict[str, Any]]:
    lines = _Lines(text)
    return _all_of(partial(_entry, name, lines, index, value) for index, value in enumerate(values))


def _entry(name: str, lines: _Lines, index: int, value: Any) -> dict[str, Any]:
    try:
        return _target(f"targets[{index}]", value)
    except click.UsageError as error:
        raise click.UsageError(f"{name}: line {lines.of_entry(index)}: {error.message}") from None


class _Lines:
    """Where the entries of the list begin in its text. Asked in their order, so that the text is read once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at: int | None = None
        self._index = 0
        self._line = 1

    def of_entry(self, index: int) -> int:
        """The line of an entry; 1 where the text hides it (an escaped key, the key in a value)."""
        decoder = json.JSONDecoder()
        try:
            if self._at is None:
                key = 0 if self._text.lstrip().startswith("[") else self._text.index('"targets"')
                self._go_to(self._text.index("[", key) + 1)
            while self._index < index:
                self._go_to(decoder.raw_decode(self._text, self._at or 0)[1])
                self._index += 1
            return self._line
        except (ValueError, IndexError):
            return 1

    def _go_to(self, end: int) -> None:
        """To the next entry, after the end of another."""
        start = _skip(self._text, end)
        self._line += self._text.count("\n", self._at or 0, start)
        self._at = start


def _skip(text: str, at: int) -> int:
    while text[at] in " \t\r\n,":
        at += 1
    return at


def _line_of_key(text: str) -> int:
    return text.count("\n", 0, max(0, text.find('"targets"'))) + 1
