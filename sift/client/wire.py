"""One HTTP/1.1 request and its answer over a socket, whole, within a time. Nothing here knows what Sift says.

No connection is kept, no redirect followed, no proxy of the environment used. By hand, because `http.client`
brings the `email` package with it: 17 of the 60 ms that the command would take to start (measured).
"""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from sift.client.errors import NoPlace, NoServer, NotSift

MAX_HEAD_BYTES = 64 << 10
CONNECT_S = 10.0
_URL = re.compile(r"(https?)://(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::([0-9]{1,5}))?(/[!-~]*)?", re.ASCII | re.I)
_STATUS = re.compile(rb"HTTP/1\.[01] ([1-9][0-9]{2})(?: |$)")


class Address:
    """Where a server is. `path` is the prefix that a proxy may have put before Sift's own paths, else empty."""

    def __init__(self, url: str) -> None:
        match = _URL.fullmatch(url)
        port = int(match[4]) if match and match[4] else 0
        if not match or port > 65535 or "?" in url or "#" in url:
            raise NoPlace(f"{url!r} is no address of a server; one looks like http://127.0.0.1:8642")
        self.tls = match[1].lower() == "https"
        self.host = (match[2] or match[3]).lower()
        self.port = port or (443 if self.tls else 80)
        self.path = (match[5] or "").rstrip("/")

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.tls else 80) else f"{host}:{self.port}"

    @property
    def is_this_host(self) -> bool:
        """Whether what is sent there stays on this machine."""
        return self.host in ("localhost", "::1") or re.fullmatch(r"127(\.[0-9]{1,3}){3}", self.host) is not None

    def __str__(self) -> str:
        return f"{'https' if self.tls else 'http'}://{self.authority}{self.path}"


class Answer:
    """A whole answer. `headers` has lower-case names and the last value of each."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body


def ask(
    address: Address, method: str, path: str, headers: Mapping[str, str], body: bytes | None, timeout_s: float
) -> Answer:
    """The answer to one request. Raises `NoServer` where none comes whole within `timeout_s`, `NotSift` for no HTTP."""
    head = [f"{method} {address.path}{path} HTTP/1.1", f"Host: {address.authority}", "Connection: close"]
    head += [f"{name}: {value}" for name, value in headers.items()]
    if body is not None:
        head.append(f"Content-Length: {len(body)}")
    request = "\r\n".join([*head, "", ""]).encode("latin-1") + (body or b"")
    try:
        with _connect(address) as sock:
            return _exchange(sock, request, time.monotonic() + timeout_s)
    except TimeoutError:
        raise NoServer(f"{address} did not answer within {timeout_s:g} s") from None
    except OSError as error:
        raise NoServer(f"{address} cannot be reached ({_why(error)}); is sift serve running there?") from None
    except UnicodeError:
        raise NoPlace(f"{address} is no address of a server; its host name is not valid") from None
    except (_BrokenOff, _NotHttp) as error:
        kind = NoServer if isinstance(error, _BrokenOff) else NotSift
        raise kind(f"{address}: {error}") from None


class _BrokenOff(Exception):
    """The other side closed before the answer was whole."""


class _NotHttp(Exception):
    """The bytes are no HTTP/1.1 answer."""


def _why(error: OSError) -> str:
    """The system's short word for it, without numbers of ours."""
    if getattr(error, "verify_message", None):
        return f"its certificate is not accepted: {error.verify_message}"  # type: ignore[attr-defined]
    return (error.strerror or type(error).__name__).lower()


def _connect(address: Address) -> socket.socket:
    host: Any = address.host.encode()  # as a str it would load the idna codec, a millisecond for nothing
    sock = socket.create_connection((host, address.port), CONNECT_S)
    if not address.tls:
        return sock
    import ssl  # 5 ms to import, and most talk to their own machine

    return ssl.create_default_context().wrap_socket(sock, server_hostname=address.host)


def _exchange(sock: socket.socket, request: bytes, ends: float) -> Answer:
    sock.settimeout(max(0.001, ends - time.monotonic()))
    # A server may refuse a body before it has read it all; what it said is still to be read.
    with suppress(BrokenPipeError, ConnectionResetError):
        sock.sendall(request)
    reader = _Reader(sock, ends)
    status, headers = reader.head()
    while status < 200:
        status, headers = reader.head()
    if status in (204, 304):
        return Answer(status, headers, b"")
    return Answer(status, headers, reader.body(headers))


class _Reader:
    """Reads an answer off a socket; used by one thread, once."""

    def __init__(self, sock: socket.socket, ends: float) -> None:
        self._sock = sock
        self._ends = ends
        self._buffer = bytearray()

    def head(self) -> tuple[int, dict[str, str]]:
        match = _STATUS.match(self._line())
        if not match:
            raise _NotHttp("what answers there does not speak HTTP")
        headers: dict[str, str] = {}
        size = 0
        while line := self._line():
            size += len(line)
            if size > MAX_HEAD_BYTES:
                raise _NotHttp("the answer's headers are over 64 KiB")
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
        return int(match[1]), headers

    def body(self, headers: Mapping[str, str]) -> bytes:
        if headers.get("transfer-encoding", "").lower() == "chunked":
            return b"".join(self._chunks())
        length = headers.get("content-length")
        if length is None:
            while self._more():
                pass
            return bytes(self._buffer)
        if not re.fullmatch(r"[0-9]{1,15}", length, re.ASCII):
            raise _NotHttp("the answer's length is no number")
        return self._exactly(int(length))

    def _chunks(self) -> list[bytes]:
        chunks: list[bytes] = []
        while True:
            size = self._line().partition(b";")[0].strip()
            if not re.fullmatch(rb"[0-9a-fA-F]{1,12}", size):
                raise _NotHttp("the answer's chunks are broken")
            chunk = self._exactly(int(size, 16))
            if not chunk:
                return chunks
            chunks.append(chunk)
            self._line()

    def _line(self) -> bytes:
        while (end := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > MAX_HEAD_BYTES:
                raise _NotHttp("what answers there does not speak HTTP")
            if not self._more():
                raise _BrokenOff("the answer broke off")
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line.removesuffix(b"\r")

    def _exactly(self, count: int) -> bytes:
        while len(self._buffer) < count:
            if not self._more():
                raise _BrokenOff("the answer broke off")
        part = bytes(self._buffer[:count])
        del self._buffer[:count]
        return part

    def _more(self) -> bool:
        """Whether more bytes came; False at the end of the stream."""
        left = self._ends - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._sock.settimeout(left)
        part = self._sock.recv(1 << 18)
        self._buffer += part
        return bool(part)
