"""Waiting for a gate or for the jobs: a busy answer is tried again as the server says, for so long and no longer."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import click

from sift.cli import terminal
from sift.cli.values import SECONDS
from sift.client import Answered, Busy, JobsBusy

Result = TypeVar("Result")

busy_timeout = click.option(
    "--busy-timeout",
    type=SECONDS,
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for a free slot.",
)


def patiently(
    call: Callable[[], Result],
    timeout_s: float,
    *,
    sleep: Callable[[float], object] = time.sleep,
    monotonic: Callable[[], float] = time.monotonic,
) -> Result:
    """What `call` gives in the end. Its `Busy` or `JobsBusy` is raised once `timeout_s` is over, after a last try."""
    ends = monotonic() + timeout_s
    while True:
        try:
            return call()
        except (Busy, JobsBusy) as error:
            left_s = ends - monotonic()
            if left_s <= 0:
                raise
            pause_s = min(_pause(error), left_s)
            terminal.say(f"{error}; trying again in {pause_s:.2g} s")
            sleep(pause_s)


def _pause(error: Answered) -> float:
    """Seconds until the next try: what the server said, and never so few that it becomes a storm."""
    return max(0.1, 1.0 if error.retry_after_s is None else error.retry_after_s)
