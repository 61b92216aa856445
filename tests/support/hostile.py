"""A scriptable server on loopback: it says to each client exactly what its script says, hostile or not.

It never interprets what it sends. What it counts: connections, the requests' bytes, and the bytes it got rid of.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

TLS = Path(__file__).parent / "tls"
CA_FILE = str(TLS / "ca.pem")
Script = Callable[["Peer"], None]


class Gone(Exception):
    """The client has closed, or the server is closing."""


class Peer:
    """One accepted connection, in the hands of a script. Every method raises Gone where nothing can follow."""

    def __init__(self, server: Hostile, sock: socket.socket) -> None:
        self._server = server
        self.sock = sock

    def request(self) -> bytes:
        """The request, head and body, which is kept in `server.requests`."""
        data = b""
        while b"\r\n\r\n" not in data:
            data += self._received()
        head = data.partition(b"\r\n\r\n")[0].lower()
        length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
        while len(data) - len(head) - 4 < length:
            data += self._received()
        self._server.requests.append(data)
        return data

    def path(self) -> str:
        """The target of the request that is read."""
        return self.request().split(b" ", 2)[1].decode("latin-1")

    def send(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            try:
                sent = self.sock.send(view[: 64 * 1024])
            except OSError:
                raise Gone from None
            self._server.sent += sent
            view = view[sent:]

    def drip(self, data: bytes, every_s: float = 0.02) -> None:
        """A byte at a time."""
        for byte in data:
            self.send(bytes([byte]))
            self.pause(every_s)

    def flood(self, data: bytes) -> None:
        """The same, without end."""
        block = data * max(1, 16 * 1024 // len(data))
        while True:
            self.send(block)
            self.pause(0)

    def hang(self) -> None:
        """Says nothing more, until the client closes."""
        while True:
            self._received()

    def pause(self, seconds: float) -> None:
        if self._server.closing.wait(seconds):
            raise Gone

    def reset(self) -> None:
        """Ends the connection with RST instead of FIN."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()

    def _received(self) -> bytes:
        try:
            data = self.sock.recv(64 * 1024)
        except OSError:
            raise Gone from None
        if not data:
            raise Gone
        return data


class Hostile:
    """Listens on a free port of 127.0.0.1 (or `address`) and runs `script` once a connection.

    Threads: one that accepts, one a connection; all end at `close`. `certificate` names a file under `tls`.
    """

    def __init__(self, script: Script, *, certificate: str | None = None, address: str = "127.0.0.1") -> None:
        self._script = script
        self._context = _server_context(certificate) if certificate else None
        self._listener = socket.create_server((address, 0), family=_family(address))
        self.address = address
        self.port: int = self._listener.getsockname()[1]
        self.requests: list[bytes] = []
        self.sent = 0
        self.connections = 0
        self.closing = threading.Event()
        self._socks: set[socket.socket] = set()
        self._threads = [threading.Thread(target=self._accept, name="hostile-accept")]
        self._threads[0].start()

    def __enter__(self) -> Hostile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def url(self) -> str:
        host = f"[{self.address}]" if ":" in self.address else self.address
        return f"{'https' if self._context else 'http'}://{host}:{self.port}/"

    def close(self) -> None:
        self.closing.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for sock in list(self._socks):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._socks.add(sock)
            thread = threading.Thread(target=self._serve, args=(sock,), name="hostile-serve")
            self._threads.append(thread)
            thread.start()

    def _serve(self, sock: socket.socket) -> None:
        current = sock
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 64 * 1024)
            if self._context is not None:
                current = self._context.wrap_socket(sock, server_side=True, suppress_ragged_eofs=True)
                self._socks.add(current)
            self._script(Peer(self, current))
            with contextlib.suppress(OSError):
                current.shutdown(socket.SHUT_WR)
                while current.recv(64 * 1024):
                    pass
        except (Gone, OSError):
            pass
        finally:
            current.close()
            self._socks.difference_update((sock, current))


def reply(
    body: bytes = b"", *, status: int = 200, fields: Mapping[str, str] | None = None, length: int | None = None
) -> bytes:
    """A whole response; `length` is what it claims, where that is a lie."""
    lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in (fields or {}).items())]
    lines.append(f"Content-Length: {len(body) if length is None else length}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def always(data: bytes) -> Script:
    """Reads the request, says this, ends."""

    def script(peer: Peer) -> None:
        peer.request()
        peer.send(data)

    return script


def pages(by_path: Mapping[str, bytes]) -> Script:
    """A small site: raw responses by request target; 404 for the rest."""

    def script(peer: Peer) -> None:
        peer.send(by_path.get(peer.path(), reply(status=404)))

    return script


def fields_of(request: bytes) -> dict[str, str]:
    """The header fields of a request, names in lower case."""
    lines = request.decode("latin-1").split("\r\n\r\n")[0].split("\r\n")[1:]
    return {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}


def _server_context(certificate: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / certificate)
    return context


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET
