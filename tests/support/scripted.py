"""A loopback HTTP server that answers what a test tells it to, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Asked:
    """One request, as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Said:
    """One answer. `body` is sent as JSON, bytes as they are."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


Script = Callable[[Asked], Said]


class Scripted:
    """`answers` are given in turn, the last one again and again; each is a `Said`, or makes one of the request."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: list[Asked] = []
        self.answers: list[Said | Script] = []
        self._lock = threading.Lock()  # guards `asked` and `answers`

    def says(self, *answers: Said | Script) -> None:
        with self._lock:
            self.answers[:] = answers

    def take(self, asked: Asked) -> Said:
        with self._lock:
            self.asked.append(asked)
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return answer if isinstance(answer, Said) else answer(asked)


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    scripted: Scripted

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news here."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        said = self.server.scripted.take(Asked(self.command, self.path, headers, body))
        data = said.body if isinstance(said.body, bytes) else json.dumps(said.body).encode()
        if said.status == 304:
            data = b""
        self.send_response_only(said.status)
        for name, value in said.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_DELETE = _answer  # noqa: N815

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


@contextmanager
def scripted_server() -> Iterator[Scripted]:
    """A running server that is stopped, threads and all, at the end."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.scripted = Scripted(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), name="sift-scripted")
    thread.start()
    try:
        yield server.scripted
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
