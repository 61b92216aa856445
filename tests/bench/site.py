"""The site that the benchmarks read: a process of its own that costs little, so that it disturbs nothing measured.

    python -m tests.bench.site [--shared DIR] [--tls]

`/page/N` the N-th page, `/small` one of 2 kB, `/html/BYTES` and `/text/BYTES` made ones; a query changes nothing.
Listens on 127.0.0.1 to 127.0.0.9 on one port, which it prints; ends when its standard input does.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.bench import pages

HOSTS = tuple(f"127.0.0.{number}" for number in range(1, 10))
CERTIFICATE = Path(__file__).parents[1] / "support" / "tls" / "site.pem"


class _Visit(asyncio.Protocol):
    """One connection; keeps it open as long as the client does, unless it is asked to close."""

    found: tuple[bytes, ...] = ()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._heard = b""

    def data_received(self, data: bytes) -> None:
        self._heard += data
        while (end := self._heard.find(b"\r\n\r\n")) >= 0:
            head, self._heard = self._heard[:end], self._heard[end + 4 :]
            path = head.split(b" ", 2)[1].partition(b"?")[0].decode("latin-1")
            self._transport.write(self._answer(path))
            if b"connection: close" in head.lower():
                self._transport.close()

    def _answer(self, path: str) -> bytes:
        _, kind, *rest = [*path.split("/"), ""]
        number = int(rest[0]) if rest and rest[0].isdigit() else 0
        if kind == "page" and number < len(self.found):
            return _reply("text/html; charset=utf-8", self.found[number])
        if kind in ("small", "html", "text"):
            return _made(kind, number or 2_000)
        return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


def _reply(content_type: str, body: bytes) -> bytes:
    return f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


@cache
def _made(kind: str, nbytes: int) -> bytes:
    if kind == "text":
        return _reply("text/plain; charset=utf-8", pages.text(nbytes))
    return _reply("text/html; charset=utf-8", pages.page(nbytes))


def _context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context


async def _serve(shared: Path | None, is_tls: bool) -> None:
    _Visit.found = tuple(pages.some(shared)[0])
    loop = asyncio.get_running_loop()
    port = 0
    for host in HOSTS:
        listener = socket.create_server((host, port), backlog=512)
        port = listener.getsockname()[1]
        await loop.create_server(_Visit, sock=listener, ssl=_context() if is_tls else None)
    print(port, flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


@contextlib.contextmanager
def site(shared: Path | None = None, *, is_tls: bool = False) -> Iterator[int]:
    """The site, running: its port."""
    command = [sys.executable, "-m", "tests.bench.site", *(["--tls"] if is_tls else [])]
    command += ["--shared", str(shared)] if shared else []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline())
        process.communicate()  # closes its input, which ends it


def main() -> None:
    """Serves until its input ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path)
    parser.add_argument("--tls", action="store_true")
    asked = parser.parse_args()
    asyncio.run(_serve(asked.shared, asked.tls))


if __name__ == "__main__":
    main()
