"""What options and arguments take, as click's types: a time, text that is sent, a directory."""

from __future__ import annotations

import math
import os
from typing import Any

import click
from click.types import StringParamType


class Seconds(click.FloatRange):
    """A time to wait or an age: a finite number, 0 or more."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            seconds = float(value)
        except ValueError:
            seconds = math.nan
        if not (math.isfinite(seconds) and seconds >= 0):
            self.fail(f"{value!r} is no time; it takes seconds: a finite number, 0 or more", param, ctx)
        return seconds


class Sent(StringParamType):
    """Text that goes to the server, which takes UTF-8 alone."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return as_utf8(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Directory(StringParamType):
    """The path of a directory, which need not be there yet; only nothing at all is none."""

    name = "directory"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not str(value):
            self.fail("an empty path; it takes the path of a directory, and . is the one you are in", param, ctx)
        return str(value)


def as_utf8(text: str) -> str:
    """The text of an argument, whatever the locale made of its bytes. Raises `ValueError` where they are no UTF-8."""
    if not any("\ud800" <= char <= "\udfff" for char in text):
        return text
    try:
        return os.fsencode(text).decode()
    except UnicodeError:
        found = repr(text if len(text) <= 60 else text[:57] + "...")
        raise ValueError(f"{found} is not UTF-8; it takes text in UTF-8") from None


SECONDS = Seconds()
SENT = Sent()
DIRECTORY = Directory()
