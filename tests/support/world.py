"""A made-up Internet on loopback: a site for every way in which a target can end.

Names resolve to a public address, and the dialler leads every connection to one server here; nothing else is dialled.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sift.fetch.wire import dial
from tests.support.hostile import Hostile, Peer, reply

PUBLIC, BROKEN, PRIVATE = "93.184.216.34", "93.184.216.99", "10.11.12.13"
TEXT = "A sentence that a reader came for, long enough to be taken for the text of a page. "
PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\n"
    b"xref\n0 4\n0000000000 65535 f \n0000000009 00000 n \n0000000052 00000 n \n0000000101 00000 n \n"
    b"trailer<</Size 4/Root 1 0 R>>\nstartxref\n164\n%%EOF\n"
)


@dataclass(frozen=True)
class Case:
    """A target that ends in `outcome`: the first label of its host, its answer, and its options."""

    outcome: str
    label: str
    answer: Callable[[str], bytes] = lambda secret: reply()
    options: dict[str, Any] = field(default_factory=dict)


def page(secret: str, paragraphs: int = 4) -> bytes:
    """An HTML page with `secret` in its title, text, headers, code and links."""
    text = "".join(f"<p>{secret} {TEXT * 3}</p>" for _ in range(paragraphs))
    links = f'<a href="https://linked-{secret}.example.com/{secret}?{secret}">{secret}</a><pre>{secret}</pre>'
    body = f"<!doctype html><title>{secret}</title><main><h1>{secret}</h1>{text}{links}</main>"
    fields = {"Content-Type": "text/html", "Set-Cookie": f"a={secret}", "ETag": f'"{secret}"', "X-Powered-By": secret}
    return reply(body.encode(), fields=fields)


def json_page(secret: str) -> bytes:
    """A JSON document with `secret` in it."""
    return reply(f'{{"{secret}": "{secret}"}}'.encode(), fields={"Content-Type": "application/json"})


def pdf_page(secret: str) -> bytes:
    """A PDF of one page."""
    return reply(PDF, fields={"Content-Type": "application/pdf", "X-Powered-By": secret})


def failure(status: int) -> Callable[[str], bytes]:
    """The site's own 4xx or 5xx, with `secret` in its body."""
    return lambda secret: reply(secret.encode(), status=status, fields={"Content-Type": "text/html"})


CASES = (
    Case("ok", "ok", page),
    Case("blocked", "private"),
    Case("timeout", "hang"),
    Case("upstream_4xx", "gone", failure(404)),
    Case("upstream_5xx", "down", failure(503)),
    Case("unsupported", "image", lambda secret: reply(secret.encode(), fields={"Content-Type": f"image/x-{secret}"})),
    Case("too_long", "huge", lambda secret: page(secret, 2000)),
    Case("unreachable", "unknown"),
    Case("unreachable", "liar", lambda secret: f"HTTP/1.1 {secret}\r\n\r\n".encode()),
    Case("invalid", "pdf", pdf_page, {"pages": "7"}),
    Case("internal", "broken"),
    Case("ok", "moved", lambda secret: reply(status=302, fields={"Location": f"http://ok-{secret}.example.org/"})),
    Case("unsupported", "json", json_page, {"jq": ".[0]"}),
    Case("ok", "plain", lambda _: reply(b"Plain and simple.", fields={"Content-Type": "text/plain"})),
)
BY_LABEL = {case.label: case for case in CASES}
CONFIG = {
    "fetch": {"timeout": "1s", "max_bytes": "200KiB"},
    "gate": {"wait": "100ms"},
    "workers": {"count": 2},
    "log": {"level": "debug"},
}


class Net:
    """A resolver and a dialler for names `LABEL-SECRET.example.org`, which all lead to one server on loopback."""

    def __init__(self, address: str, port: int) -> None:
        self._address = address
        self._port = port

    def resolve(self, host: str, port: int) -> list[str]:
        label = host.partition("-")[0]
        if label == "unknown":
            raise OSError(f"no address for {host}")
        return [{"private": PRIVATE, "broken": BROKEN}.get(label, PUBLIC)]

    def dial(self, address: str, port: int, timeout_s: float) -> socket.socket:
        if address == BROKEN:
            raise RuntimeError(f"the dialler broke at {address}:{port}")
        return dial(self._address, self._port, timeout_s)


class World(Net):
    """The server that they lead to: the label picks the case, the secret is in the answer.

    Threads: the server's.
    """

    def __init__(self) -> None:
        self.server = Hostile(self._script)
        super().__init__(self.server.address, self.server.port)

    def url(self, label: str, secret: str) -> str:
        """A URL whose host, path, query and fragment all hold `secret`."""
        return f"http://{label}-{secret}.example.org/path-{secret}?query={secret}#fragment-{secret}"

    def close(self) -> None:
        self.server.close()

    def _script(self, peer: Peer) -> None:
        request = peer.request().decode("latin-1")
        host = request.lower().partition("\r\nhost:")[2].partition("\r\n")[0].strip()
        label, _, secret = host.partition(".")[0].partition("-")
        if label == "hang":
            peer.hang()
        peer.send(BY_LABEL[label].answer(secret) if label in BY_LABEL else reply(status=404))
