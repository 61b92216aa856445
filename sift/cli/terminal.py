"""What goes to stdout and stderr, and how: whole, as UTF-8, and harmless where a terminal would obey it.

Piped data is unaltered. On a terminal every character that could steer it, or hide or reorder text, is shown as
an escape instead: ESC, BEL, the other controls of C0 and C1, bidirectional marks, line separators, tags.
Messages are made harmless always, and are one line each.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

_STEERING = (
    *range(0x20),
    *range(0x7F, 0xA0),  # DEL and C1
    *(0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)),  # bidirectional: marks to isolates
    *(0x2028, 0x2029, *range(0xFFF9, 0xFFFC), *range(0xE0000, 0xE0080)),  # separators, annotations, tags
)


def _escape(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _json_escape(code: int) -> str:
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def _table(escape: Callable[[int], str], kept: str) -> dict[int, str]:
    """For `str.translate`, which starts faster than a pattern: a millisecond of the command's sixty."""
    return {code: escape(code) for code in _STEERING if chr(code) not in kept}


def safe(text: str) -> str:
    """`text` with every steering character made visible; tabs and line ends stay."""
    return text.replace("\r\n", "\n").translate(_table(_escape, "\t\n"))


def line(text: str) -> str:
    """`text` as one harmless line."""
    return text.translate(_table(_escape, ""))


def is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def has_colour(stream: TextIO | None) -> bool:
    """Whether colours may be used: a terminal that has them, and nobody who asked for none (no-color.org)."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"


class ReaderGone(Exception):
    """Whoever read our output has gone, as `| head` does. No `OSError`, since click ends the process on that."""


@contextmanager
def reader_may_go() -> Iterator[None]:
    """For what others write, such as click its help: a reader that has gone is `ReaderGone` here too."""
    try:
        yield
    except BrokenPipeError:
        raise ReaderGone from None


def put(text: str) -> None:
    """Data to stdout: `text` as it is; on a terminal harmless, and ended by a line end."""
    if is_terminal(sys.stdout):
        text = safe(text)
        _write(sys.stdout, text if text.endswith("\n") or not text else text + "\n")
    else:
        _write(sys.stdout, text)


def put_json(value: Any) -> None:
    """Data to stdout as JSON: one line; on a terminal indented and harmless, and still JSON."""
    if is_terminal(sys.stdout):
        text = json.dumps(value, ensure_ascii=False, indent=2)
        _write(sys.stdout, text.translate(_table(_json_escape, "\n")) + "\n")
    else:
        _write(sys.stdout, json_line(value))


def put_lines(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """Data to stdout: one JSON object a line; on a terminal a table of some `columns`, without `None`."""
    if is_terminal(sys.stdout):
        cells = [[line("-" if row[column] is None else str(row[column])) for column in columns] for row in rows]
        widths = [max((len(row[index]) for row in cells), default=0) for index in range(len(columns))]
        for row in cells:
            put("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    else:
        put("".join(map(json_line, rows)))


def json_line(value: Any) -> str:
    """One line of JSON, with its line end."""
    return json.dumps(value, ensure_ascii=False) + "\n"


def say(text: str) -> None:
    """A message to stderr: one harmless line that begins with the command's name."""
    _write(sys.stderr, f"sift: {line(text)}\n")


def draw(text: str) -> None:
    """To stderr as it is: for what is made of harmless parts already."""
    _write(sys.stderr, text)


def _write(stream: TextIO | None, text: str) -> None:
    """All of `text`, at once. Bytes are UTF-8 whatever the locale says, unless a terminal says otherwise."""
    if stream is None:  # started with the descriptor closed
        return
    encoding = (stream.encoding if is_terminal(stream) else None) or "utf-8"
    data = text.encode(encoding, "backslashreplace")
    try:
        stream.flush()
        stream.buffer.write(data)
        stream.buffer.flush()
    except BrokenPipeError:
        raise ReaderGone from None
    except OSError as error:
        raise OSError(error.errno, error.strerror, "stderr" if stream is sys.stderr else "stdout") from None


def hush() -> None:
    """After a reader has gone: what is still buffered goes nowhere, and the interpreter's last flush finds peace."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
