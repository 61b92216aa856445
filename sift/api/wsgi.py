"""How waitress serves the app: its limits, and its own refusals in the shape of all other errors.

Routes and errors of the app itself are not known here.
"""

from __future__ import annotations

import secrets
from typing import Any

import msgspec
from waitress.channel import HTTPChannel
from waitress.server import create_server
from waitress.task import ErrorTask

CONNECTION_LIMIT = 4096
"""Idle connections cost no thread; the default of 100 lets 98 of them stop the next request (measured)."""
MOST_BODY_BYTES = 1 << 20
"""Above every endpoint's own cap, which answers in its own words; a body over this is not even read."""
MOST_HEADER_BYTES = 64 << 10
OUTBUF_OVERFLOW_BYTES = 8 << 20  # measured: an answer that stays out of a temporary file goes out 1.8x as fast

_REASONS = {400: "malformed", 413: "body_too_large", 431: "malformed", 501: "malformed"}
_TEXTS = {
    413: "the body is over 1 MiB; send less at once",
    431: f"the request's head is over {MOST_HEADER_BYTES >> 10} KiB; send less in it",
}


class _JsonErrorTask(ErrorTask):
    """An answer to what never reaches the app: a broken head, a body far too large."""

    def execute(self) -> None:
        """Writes the error and closes: where the next request would begin is anybody's guess."""
        code = self.request.error.code
        error = {
            "success": False,
            "error": _TEXTS.get(code, "not a request that can be read; check its head"),
            "reason": _REASONS.get(code, "internal"),
        }
        body = msgspec.json.encode(error)
        self.status = f"{code} {self.request.error.reason}"
        self.response_headers += [("Content-Type", "application/json"), ("X-Request-Id", secrets.token_hex(8))]
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)


class _Channel(HTTPChannel):
    error_task_class = _JsonErrorTask


def bind(*, host: str, port: int, threads: int, sockets: list[Any] | None = None) -> Any:
    """A waitress server that listens, on `host` and `port` or on the `sockets` passed, and has no app yet.

    Its `application` is set, and `run` called, once the rest stands; until then connections wait in the backlog.
    Raises OSError where the address cannot be had.
    """
    where: dict[str, Any] = {"sockets": sockets} if sockets else {"host": host, "port": port}
    server = create_server(
        _not_yet,
        **where,
        threads=threads,
        ident=None,
        connection_limit=CONNECTION_LIMIT,
        asyncore_use_poll=True,
        backlog=1024,
        max_request_body_size=MOST_BODY_BYTES,
        max_request_header_size=MOST_HEADER_BYTES,
        outbuf_overflow=OUTBUF_OVERFLOW_BYTES,
        clear_untrusted_proxy_headers=True,
        log_socket_errors=False,
    )
    for listener in listeners(server):
        listener.channel_class = _Channel
    return server


def listeners(server: Any) -> list[Any]:
    """The sockets a server listens on, as waitress's objects: one, or several where it was passed several."""
    dispatchers = getattr(server, "map", None) or {0: server}
    return [each for each in dispatchers.values() if hasattr(each, "channel_class")]


def addresses(server: Any) -> list[tuple[str, int]]:
    """The addresses and ports a server listens on."""
    return [(each.effective_host, int(each.effective_port)) for each in listeners(server)]


def _not_yet(environ: Any, start_response: Any) -> list[bytes]:
    start_response("503 Service Unavailable", [])
    return []
