"""What a log line may say, decided in one place; its format; and the silencing of what libraries would say.

Whether something is worth a line is decided elsewhere. No method takes a URL, a question, a pattern or content.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from typing import Any, TextIO

from sift.clock import rfc3339
from sift.config import LogConfig
from sift.target import INTERACTIVE, Caller, Lane

_PLACE = re.compile(r"[A-Za-z_]\w{0,60}( at (<frozen [\w.]{1,60}>|[\w.<>-]{1,60}):\d{1,6})?", re.ASCII)
_BARE = re.compile(r"[!#-<>-\[\]-~]+")
"""Printable ASCII but for space, quotation mark, `=` and backslash."""
_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


def where(error: BaseException) -> str:
    """Type and place of an error, and nothing of its text: `ValueError at pipeline.py:80`."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return type(error).__name__
    last = frames[-1]
    return f"{type(error).__name__} at {last.filename.rpartition('/')[2]}:{last.lineno}"


def _plain(value: Any) -> str:
    """One value of a text line: bare where that is unmistakable, else quoted with everything unprintable escaped."""
    text = "-" if value is None else str(value)
    if _BARE.fullmatch(text):
        return text
    return json.dumps(text)


class _Handler(logging.StreamHandler[TextIO]):
    """Writes to a stream; a stream that is gone or full costs the line, never the request."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 (the base class's name)
        """Nothing: the base class would print the record, and with it what it says."""


class Log:
    """The log of one server, on one stream. Any thread may write; a line is written whole.

    A restricted caller's lines keep caller, milliseconds and bytes; `ok` or `failed` stands for the rest.
    """

    def __init__(self, config: LogConfig, stream: TextIO | None = None) -> None:
        self._json = config.format == "json"
        # A logger of its own, outside logging's registry: two servers in one process do not mix.
        self._logger = logging.Logger("sift", _LEVELS[config.level])
        handler = _Handler(stream or sys.stderr)
        handler.setFormatter(logging.Formatter("%(message)s"))
        self._logger.addHandler(handler)

    def set_level(self, level: str) -> None:
        """`debug`, `info`, `warning` or `error`, from now on."""
        self._logger.setLevel(_LEVELS[level])

    def target(
        self, caller: Caller, lane: Lane, outcome: str, *, status: int | None, elapsed_ms: int, nbytes: int, host: str
    ) -> None:
        """One target ended. `host` is said for an interactive fetch of a standard caller alone."""
        fields: dict[str, Any] = {"caller": caller.name, "lane": lane.name, "job": lane.job_id, "idx": lane.idx}
        fields |= _told(caller, outcome, status) | {"ms": elapsed_ms, "bytes": nbytes}
        is_told = lane.name == INTERACTIVE and not caller.restricted
        self._write(logging.INFO, "target", fields | {"host": host if is_told else None})

    def request(
        self,
        caller: Caller | None,
        *,
        request_id: str,
        method: str,
        endpoint: str,
        code: int,
        reason: str | None,
        elapsed_ms: int,
        nbytes: int,
    ) -> None:
        """One HTTP request answered; `endpoint` is the route, `reason` the error's fixed word."""
        fields: dict[str, Any] = {"id": request_id, "caller": caller.name if caller else None}
        fields |= {"method": method, "endpoint": endpoint}
        fields |= _told(caller, reason or ("ok" if code < 400 else "failed"), code)
        self._write(logging.INFO, "request", fields | {"ms": elapsed_ms, "bytes": nbytes})

    def event(self, name: str, level: str = "info", **fields: Any) -> None:
        """Something the operator should know; `fields` are the program's own words and numbers, nobody's text."""
        self._write(_LEVELS[level], name, fields)

    def fault(
        self,
        place: str,
        error: BaseException,
        *,
        caller: Caller | None = None,
        job: str | None = None,
        idx: int | None = None,
        request_id: str | None = None,
    ) -> None:
        """A fault of Sift's: where it was noticed, its type and its place in the code.

        Nothing in it leads to a restricted caller: job and request are not told then.
        """
        whose: dict[str, Any] = {"id": request_id, "job": job, "idx": idx}
        if caller is not None and caller.restricted:
            whose = dict.fromkeys(whose)
        self._write(logging.ERROR, "fault", {"in": place, "error": where(error)} | whose)

    def worker_fault(self, place: str) -> None:
        """What a worker says of its own fault, where that is a type and a place: a hostile page may speak there."""
        self._write(logging.ERROR, "worker_fault", {"error": place if _PLACE.fullmatch(place) else None})

    def _write(self, level: int, name: str, fields: dict[str, Any]) -> None:
        if not self._logger.isEnabledFor(level):
            return
        record = self._logger.makeRecord("sift", level, "", 0, "", (), None)
        word = logging.getLevelName(level).lower()
        if self._json:
            line = json.dumps({"at": rfc3339(record.created), "level": word, "event": name} | fields)
        else:
            pairs = "".join(f" {key}={_plain(value)}" for key, value in fields.items())
            line = f"{rfc3339(record.created)} {word} {name}{pairs}"
        record.msg = line
        self._logger.handle(record)


def _told(caller: Caller | None, outcome: str, status: int | None) -> dict[str, Any]:
    if caller is not None and caller.restricted:
        return {"outcome": "ok" if outcome == "ok" else "failed", "status": None}
    return {"outcome": outcome, "status": status}


class _Libraries(logging.Handler):
    """Stands at the root of logging: of what libraries say, an error's type and place pass, never its text."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.ERROR)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        library = record.name.partition(".")[0]
        if error is not None:
            self._log.fault(library, error)
        else:
            self._log.event("library", "error", library=library, line=record.lineno)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 (the base class's name)
        """Nothing: the base class would print the record, and with it what it says."""


def silence_libraries(log: Log) -> Callable[[], None]:
    """Lets nothing but `log` speak in this process: loggers, warnings, uncaught exceptions. Returns the way back."""
    root = logging.getLogger()
    hooks = (sys.excepthook, sys.unraisablehook, threading.excepthook, warnings.showwarning)
    saved = (root.handlers[:], root.level)
    root.handlers[:] = [_Libraries(log)]
    root.setLevel(logging.ERROR)
    sys.excepthook = lambda _kind, error, _trace: log.fault("main", error)
    threading.excepthook = lambda args: log.fault(
        args.thread.name if args.thread else "thread", args.exc_value or args.exc_type()
    )
    # An exception in a finalizer: the interpreter would print the object, a socket with its addresses for one.
    sys.unraisablehook = lambda args: log.fault("finalizer", args.exc_value or args.exc_type())
    warnings.showwarning = lambda *_args, **_kwargs: None

    def undo() -> None:
        root.handlers[:], level = saved
        root.setLevel(level)
        sys.excepthook, sys.unraisablehook, threading.excepthook, warnings.showwarning = hooks

    return undo
