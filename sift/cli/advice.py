"""What is said about an error or a hint to somebody at the command line."""

from __future__ import annotations

import re

from sift.cli import terminal
from sift.client import Answered, CallerBusy, ClientError

_ADVICE = {
    "browser": "a real browser may get further; never open a private address in one",
    "retry": "the same may work later",
    "recover": "an archived copy may exist; --recover takes the newest",
    "jq": "--jq picks out the part that is wanted",
    "grep": "--grep keeps the lines that match",
    "pages": "--pages 1-3 takes a part of it",
    "question": "--question keeps the passages that answer it",
    "fresh": "a reused job has failed targets; --fresh fetches the whole list anew",
}


_CLOSED = re.compile(r"^blocked: .*\b(?:address|local name|the name)\b")
"""A block that is for where the URL leads, and not for its port or its form."""


def advice(hint: str, error: str = "") -> str:
    """What a hint means here, beside the error that it came with; the bare hint where it is a new one."""
    if hint == "browser" and _CLOSED.match(error):
        return "hint: browser (not for this one: never open a private or local address in a browser)"
    return f"hint: {hint} ({_ADVICE[hint]})" if hint in _ADVICE else f"hint: {hint}"


def say_error(error: ClientError) -> None:
    """Says the error, every wrong place of it, and what to do next."""
    terminal.say(str(error))
    if not isinstance(error, Answered):
        return
    for at, why in error.places[1:]:
        terminal.say(f"{at}: {why}")
    if isinstance(error, CallerBusy) and error.job_id:
        terminal.say(f"the live job is {error.job_id}; wait for it: sift batch wait {error.job_id}")
        terminal.say(f"or end it: sift batch cancel {error.job_id}")
    if error.hint:
        terminal.say(advice(error.hint, str(error)))
