"""A job's progress as one line on a terminal's stderr: how far it is, which target runs, how many failed."""

from __future__ import annotations

import os
import sys
import unicodedata

from sift.cli import terminal
from sift.client import Job

WIDTH = 24
_RED, _PLAIN = "\x1b[31m", "\x1b[0m"


class Bar:
    """Draws over its own line each time; draws nothing where stderr is no terminal. `close` wipes the line."""

    def __init__(self) -> None:
        self._shown = terminal.is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb"
        self._colour = terminal.has_colour(sys.stderr)
        self._drawn = False

    def show(self, job: Job) -> None:
        if self._shown:
            terminal.draw("\r\x1b[K" + progress_line(job, _columns() - 1, colour=self._colour))
            self._drawn = True

    def close(self) -> None:
        if self._drawn:
            terminal.draw("\r\x1b[K")
            self._drawn = False


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def progress_line(job: Job, columns: int, *, colour: bool = False) -> str:
    """`[#####-----] 5/10, 1 failed, target 5 runs: https://…`, cut to `columns`, without anything that steers."""
    total, done = job["targets_total"], job["targets_done"]
    failed = job["counts"].get("failed", 0)
    filled = WIDTH * done // total if total else WIDTH
    head = f"[{'#' * filled}{'-' * (WIDTH - filled)}] {done}/{total}"
    failures = f", {failed} failed" if failed else ""
    rest = f", {job['status']}" if job["status"] == "queued" else _running(job)
    text = _cut(head + failures + terminal.line(rest), columns)
    return text.replace(failures, f"{_RED}{failures}{_PLAIN}", 1) if colour and failures else text


def _running(job: Job) -> str:
    for entry in job["targets"]:
        if entry["status"] == "running":
            return f", target {entry['idx']} runs: {entry['url']}"
    return ""


def _cut(text: str, columns: int) -> str:
    """As much of `text` as fits; wide characters take two columns, combining ones none."""
    used = 0
    for index, char in enumerate(text):
        used += 0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        if used > columns:
            return text[:index]
    return text
