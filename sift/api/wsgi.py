"""How waitress serves the app: its limits, and its own refusals in the shape of all other errors.

Routes and errors of the app itself are not known here.
"""

from __future__ import annotations

import os
import resource
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from waitress.channel import HTTPChannel
from waitress.server import create_server
from waitress.task import ErrorTask
from waitress.wasyncore import close_all

from sift.api.outgoing import uncopied
from sift.config import ServerConfig
from sift.errors import StartError

CONNECTION_LIMIT = 4096
"""Idle connections cost no thread; the default of 100 lets 98 of them stop the next request (measured)."""
OTHER_DESCRIPTORS = 256
"""Kept from connections for fetches, the store and the workers: who is let in must be served."""
MOST_BODY_BYTES = 1 << 20
"""Above every endpoint's own cap, which answers in its own words; a body over this is not even read."""
MOST_HEADER_BYTES = 64 << 10
MOST_DISCARDED_BYTES = 64 << 20
"""What a client may still send after it was refused, before it is cut off."""
LEFT_TO_SENDER_BYTES = 64 << 10
"""Above it the sender may have to wait for the loop, which must not wait for him then."""
OUTBUF_OVERFLOW_BYTES = 8 << 20  # measured: an answer that stays out of a temporary file goes out 1.8x as fast

Refused = Callable[[str, int, str, int], None]
"""Told of each request that was refused before the app saw it: request id, status, reason, bytes of the answer."""

_FOR_WRITING = 1  # `SHUT_WR`; the module that has its name can dial, which is no business of this room
_REASONS = {400: "malformed", 413: "body_too_large", 431: "malformed", 501: "malformed"}
_TEXTS = {
    413: "the body is over 256 KiB for POST /v1/batch, or over 64 KiB for any other request; send less at once",
    431: f"the request's head is over {MOST_HEADER_BYTES >> 10} KiB; send less in it",
}


class _JsonErrorTask(ErrorTask):
    """An answer to what never reaches the app: a broken head, a body far too large."""

    def execute(self) -> None:
        """Writes the error and closes: where the next request would begin is anybody's guess."""
        code = self.request.error.code
        request_id, reason = secrets.token_hex(8), _REASONS.get(code, "internal")
        error = {
            "success": False,
            "error": _TEXTS.get(code, "not a request that can be read; check its head"),
            "reason": reason,
        }
        body = msgspec.json.encode(error)
        self.channel.server.refused(request_id, code, reason, len(body))
        self.version = "1.1"  # RFC 9110 2.5: the server's own version, whatever the head said
        self.status = f"{code} {self.request.error.reason}"
        self.response_headers += [("Content-Type", "application/json"), ("X-Request-Id", request_id)]
        self.set_close_on_finish()
        self.content_length = len(body)
        self.channel.refused = True
        self.channel.write_soon(self.build_response_header() + body)  # in one piece, so that it arrives in one
        self.wrote_header = True


class _Channel(HTTPChannel):
    """A connection. One whose request was refused is closed for writing first, and what still comes is thrown away:

    a close with bytes unread is a reset, and takes the answer from a client that is still sending its body.

    While the app's thread sends a small answer, the loop leaves the connection to it: else the socket, writable as it
    is, would wake the loop again and again until that thread has had the interpreter once more (measured with 64
    callers: 7 times the rounds, each past every connection, and 100 answers a second instead of 1,900).
    """

    error_task_class = _JsonErrorTask
    refused = False
    _to_discard: int | None = None
    _is_sending = False

    def write_soon(self, data: Any) -> int:
        """Sends what the socket takes at once, and leaves the rest to the loop. In the app's thread."""
        self._is_sending = True
        try:
            return int(super().write_soon(data))
        finally:
            self._is_sending = False
            if self.total_outbufs_len:
                self.server.pull_trigger()  # the loop may have gone to sleep without watching for it

    def writable(self) -> bool:
        """Whether the loop should watch for when the client takes more."""
        if self._is_sending and self.total_outbufs_len < LEFT_TO_SENDER_BYTES:
            return False
        return bool(super().writable())

    def handle_close(self) -> None:
        """Closes; the first time after a refusal for writing alone."""
        if not self.refused or self._to_discard is not None or not self.connected:
            super().handle_close()
            return
        self._to_discard = MOST_DISCARDED_BYTES
        self.will_close = False
        try:
            self.socket.shutdown(_FOR_WRITING)
        except OSError:
            super().handle_close()

    def readable(self) -> bool:
        """Whether the loop should watch for what the client sends."""
        return True if self._to_discard is not None and not self.will_close else bool(super().readable())

    def handle_read(self) -> None:
        """Takes what has come."""
        if self._to_discard is None:
            super().handle_read()
            return
        self._to_discard -= len(self.recv(64 << 10))  # closes at the client's end
        if self._to_discard < 0:
            self.handle_close()


class HttpServer:
    """Listens from `bind` on, answers from `start` on. Threads: `sift-http`, the loop; `waitress-N`, the app's."""

    def __init__(self, server: Any) -> None:
        self._listeners = _listeners(server)
        self._turned_s = time.monotonic()
        for listener in self._listeners:
            listener.channel_class = _Channel
            listener.readable = self._noting(listener.readable)
        self._loop = threading.Thread(target=server.run, name="sift-http", daemon=True)
        self._handling = 0
        self._quiet = threading.Condition()  # guards the count of requests in the app's hands

    @classmethod
    def bind(cls, config: ServerConfig, sockets: Sequence[Any] = ()) -> HttpServer:
        """Listens on the config's address, or on `sockets` where they were passed. Raises `StartError`.

        Until `start`, connections wait in the backlog.
        """
        for each in sockets:
            each.setblocking(False)
        where: dict[str, Any] = {"sockets": list(sockets)} if sockets else {"listen": _listen(config)}
        try:
            server = create_server(
                _no_app,
                **where,
                threads=config.threads,
                ident=None,
                connection_limit=_connection_limit(),
                asyncore_use_poll=True,
                backlog=1024,
                max_request_body_size=MOST_BODY_BYTES,
                max_request_header_size=MOST_HEADER_BYTES,
                outbuf_overflow=OUTBUF_OVERFLOW_BYTES,
                clear_untrusted_proxy_headers=True,
                log_socket_errors=False,
            )
        except (OSError, ValueError) as error:
            why = os.strerror(error.errno).lower() if isinstance(error, OSError) and error.errno else "no such host"
            raise StartError(f"cannot listen on {_listen(config)} ({why}); [server] host and port say where") from None
        return cls(server)

    def addresses(self) -> list[tuple[str, int]]:
        """The addresses and ports it listens on."""
        return [(each.effective_host, int(each.effective_port)) for each in self._listeners]

    def start(self, app: Callable[..., Any], refused: Refused) -> None:
        """Answers with `app` from now on; `refused` is told of what never reaches it."""
        for listener in self._listeners:
            listener.application = self._counted(app)
            listener.refused = refused
        self._loop.start()

    def is_alive(self) -> bool:
        """Whether the loop lives."""
        return self._loop.is_alive()

    def stuck_s(self) -> float:
        """Seconds since the loop last came round; it does so every second at least."""
        return time.monotonic() - self._turned_s

    def drain(self, grace_s: float) -> None:
        """Waits until no request is in hand, at most `grace_s`."""
        with self._quiet:
            self._quiet.wait_for(lambda: not self._handling, grace_s)

    def stop(self) -> None:
        """Ends the app's threads, then closes all connections: a thread that has answered still wakes the loop."""
        self._listeners[0].task_dispatcher.shutdown(timeout=2)
        if self._loop.is_alive():
            self._server_trigger().pull_trigger(self._close_all)
            self._loop.join()
        self._close_all()

    def _noting(self, readable: Callable[[], bool]) -> Callable[[], bool]:
        """The loop asks every listener once a round."""

        def noted() -> bool:
            self._turned_s = time.monotonic()
            return readable()

        return noted

    def _counted(self, app: Callable[..., Any]) -> Callable[..., Any]:
        def counted(environ: Any, start_response: Any) -> Any:
            with self._quiet:
                self._handling += 1
            try:
                return uncopied(app(environ, start_response))
            finally:
                with self._quiet:
                    self._handling -= 1
                    self._quiet.notify_all()

        return counted

    def _server_trigger(self) -> Any:
        return self._listeners[0].trigger

    def _close_all(self) -> None:
        """Takes the loop everything it watches, which ends it."""
        close_all(self._listeners[0]._map, ignore_all=True)


def _connection_limit() -> int:
    """Fewer connections than descriptors, or `accept` would fail, and be tried again without a pause."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return CONNECTION_LIMIT
    return max(8, min(CONNECTION_LIMIT, soft - OTHER_DESCRIPTORS, soft // 2))


def _listen(config: ServerConfig) -> str:
    host = f"[{config.host}]" if ":" in config.host else config.host
    return f"{host}:{config.port}"


def _listeners(server: Any) -> list[Any]:
    """The listening sockets as waitress's objects: one, or several where it was passed several."""
    found = [each for each in getattr(server, "map", {}).values() if hasattr(each, "channel_class")]
    return found or [server]


def _no_app(environ: Any, start_response: Any) -> list[bytes]:
    start_response("503 Service Unavailable", [])
    return []
