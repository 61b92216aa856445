"""A small scriptable web site on loopback, with the books a test wants to see."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, Mapping[str, str], bytes]


def html(title: str, text: str) -> Answer:
    """A page with a title and a body that is long enough to be a page."""
    body = f"<!doctype html><title>{title}</title><main><h1>{title}</h1><p>{text}</p></main>"
    return 200, {"Content-Type": "text/html; charset=utf-8"}, body.encode()


class Site:
    """Serves `pages`, by path: an answer, or a function that makes one of the request's headers.

    `seen` are the requests' paths in order of arrival, `most_at_once` the peak of requests in hand.
    Threads: one that accepts, one a connection; all end with `close`.
    """

    def __init__(self, pages: Mapping[str, Answer | Callable[[Mapping[str, str]], Answer]] | None = None) -> None:
        self.pages = dict(pages or {})
        self.seen: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.at_once = 0
        self.most_at_once = 0
        self._lock = threading.Lock()  # guards the books
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site._answer(self)

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), name="site", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return self._server.server_port

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        with self._lock:
            self.seen.append(handler.path)
            self.headers.append({name.lower(): value for name, value in handler.headers.items()})
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            page = self.pages.get(handler.path, (404, {}, b"no such page"))
            status, headers, body = page(self.headers[-1]) if callable(page) else page
        finally:
            with self._lock:
                self.at_once -= 1
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        try:
            handler.wfile.write(body)
        except OSError:
            handler.close_connection = True
