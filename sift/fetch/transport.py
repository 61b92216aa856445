"""`requests` over a wire of ours: one request, one answer's head, and its body by its framing.

Resolving, judging, dialling, TLS and the deadline are the wire's; content codings and redirects live elsewhere.

    The way in is `HTTPConnection._new_conn`, the one place where urllib3 makes a socket: it gets the wire, dialled
    already. The adapter is called directly, since a session follows redirects, reads the bodies of 3xx answers and
    asks the environment for proxies and passwords. A pool serves one request and is thrown away: a connection that
    is used again would not pass the guard again.
"""

from __future__ import annotations

import http.client
import io
import re
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

import requests
from requests.adapters import HTTPAdapter
from requests.structures import CaseInsensitiveDict
from urllib3 import HTTPConnectionPool
from urllib3.connection import HTTPConnection
from urllib3.exceptions import HTTPError

from sift.errors import Unreachable
from sift.fetch.framing import framed
from sift.fetch.head import MOST_HEAD, Head, as_text
from sift.fetch.wire import Lost, Wire
from sift.guard import CheckedUrl

_BLOCK = 16 * 1024
_END_OF_HEAD = re.compile(rb"\n\r?\n")
_FIELD = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+[ \t]*:|[ \t]|\r?\n")
_START = b"HTTP/"
_NOT_HTTP_1 = "the answer is not HTTP/1"
_TOO_MUCH_HEAD = "headers of more than 64 KiB or 100 lines"
_UNSENDABLE = re.compile(r"[^\t\x20-\x7e\x80-\xff]")

# All that comes out of the layers below for a peer that does not speak HTTP.
_NOT_HTTP = (requests.RequestException, HTTPError, http.client.HTTPException, OSError, ValueError)


class _Bytes(io.RawIOBase):
    """What the wire receives, as a file: heads one at a time and no longer than they may be, then the body.

    A line of a head that is no field is left out: the library would lose all the fields after it.
    """

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._head = b""
        self._rest = b""
        self.file = io.BufferedReader(self, _BLOCK)
        self.in_head = True
        self.broke_off = False
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self.in_head and not self._head and not self._ended:
            self._head = self._next_head()
        if self._head:
            data, self._head = self._head[: len(buffer)], self._head[len(buffer) :]
        elif self._rest:
            data, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        else:
            data = b"" if self._ended else self._wire.receive(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _next_head(self) -> bytes:
        received, searched = bytearray(self._rest), 0
        while (end := _END_OF_HEAD.search(received, searched)) is None:
            searched = max(0, len(received) - 3)
            if self._wire.taken >= MOST_HEAD:
                raise Unreachable(_TOO_MUCH_HEAD)
            data = self._wire.receive(_BLOCK)
            if not data:
                self._ended, self.broke_off, self._rest = True, bool(received), b""
                return bytes(received)
            received += data
            if received[:5] != _START[: len(received)]:
                raise Unreachable(_NOT_HTTP_1)  # a banner of SSH or SMTP, say; its peer may wait for ever
        self._rest = bytes(received[end.end() :])
        first, *lines = bytes(received[: end.end()]).splitlines(keepends=True)
        return first + b"".join(line for line in lines if _FIELD.match(line))


class _Socket:
    """As much of a socket as `http.client` uses. Closing is the wire's owner's business."""

    def __init__(self, wire: Wire, incoming: _Bytes) -> None:
        self._wire = wire
        self._incoming = incoming

    def sendall(self, data: bytes) -> None:
        self._wire.send(data)

    def makefile(self, *_args: Any, **_options: Any) -> io.BufferedReader[Any]:
        return self._incoming.file

    def settimeout(self, _timeout_s: float | None) -> None:
        """The deadline is the wire's."""

    def close(self) -> None:
        """Called as soon as the head says `Connection: close`, when the body is still to come."""


class _Response(http.client.HTTPResponse):
    """Passes over every interim answer; the library knows 100 alone and takes a 103 for the answer (RFC 8297)."""

    def _read_status(self) -> tuple[str, int, str]:
        while True:
            version, status, reason = super()._read_status()  # type: ignore[misc]
            if not 102 <= status < 200:
                return version, status, reason
            http.client.parse_headers(self.fp)


class _Connection(HTTPConnection):
    """A connection whose socket is there already, for a request whose target is spelled already."""

    response_class = _Response
    wire_socket: _Socket
    target: str

    def _new_conn(self) -> Any:
        return self.wire_socket

    def putrequest(self, method: str, url: str, *args: Any, **options: Any) -> None:
        """Sends the target that was judged: the layers above respell it (`/a?` to `/a`, `%e9` to `%E9`)."""
        super().putrequest(method, self.target, *args, **options)


class _Pool(HTTPConnectionPool):
    """A pool for one request over one wire; TLS, where it is asked for, is the wire's."""

    def __init__(self, wire_socket: _Socket, checked: CheckedUrl) -> None:
        super().__init__(checked.host, checked.port, maxsize=1)
        self._wire_socket = wire_socket
        self._target = checked.target

    def _new_conn(self) -> Any:
        connection = _Connection(self.host, self.port)
        connection.wire_socket, connection.target = self._wire_socket, self._target
        return connection


class _Adapter(HTTPAdapter):
    """Hands `requests` the pool of the request that is being sent."""

    def __init__(self, pool: _Pool) -> None:
        super().__init__(pool_connections=1, pool_maxsize=1, max_retries=0)
        self._pool = pool

    def get_connection_with_tls_context(self, *_args: Any, **_options: Any) -> _Pool:
        return self._pool

    def cert_verify(self, *_args: Any, **_options: Any) -> None:
        """The wire has verified the certificate."""

    def proxy_manager_for(self, *_args: Any, **_options: Any) -> NoReturn:
        raise AssertionError("no proxy is ever used")


class Answer:
    """An answer whose head has been read. Its body is read as its pieces are taken."""

    def __init__(self, head: Head, raw: Any, incoming: _Bytes, wire: Wire) -> None:
        self.head = head
        self._raw = raw  # it closes what it has read from once it is forgotten
        self._incoming = incoming
        self._wire = wire

    def pieces(self, most: int) -> Iterator[bytes]:
        """The body, still in its content codings; raises as `framed` does."""
        try:
            yield from framed(self.head, self._incoming.file, most, lambda: self._wire.taken)
        except Lost:
            raise Unreachable("the body broke off: the connection was reset") from None


def send(wire: Wire, method: str, checked: CheckedUrl, fields: Mapping[str, str], body: bytes | None = None) -> Answer:
    """Sends the request and reads the head of the final answer. Raises Unreachable, TimedOut, Cancelled.

    ValueError for a field that cannot be sent.
    """
    incoming = _Bytes(wire)
    adapter = _Adapter(_Pool(_Socket(wire, incoming), checked))
    request = _prepared(method, checked, fields, body)
    try:
        raw = adapter.send(request, stream=True, timeout=None).raw
    except Lost:
        raise Unreachable("the connection was reset before an answer came") from None
    except _NOT_HTTP as error:
        raise Unreachable(_fault(error, wire, incoming)) from None
    if incoming.broke_off:
        raise Unreachable("the headers broke off")
    incoming.in_head = False
    if raw.status > 599 or raw.version < 10 or _is_garbled(raw):
        raise Unreachable(_NOT_HTTP_1)
    head = Head(raw.status, tuple((name.lower(), as_text(value)) for name, value in raw.headers.iteritems()))
    return Answer(head, raw, incoming, wire)


def _fault(error: Exception, wire: Wire, incoming: _Bytes) -> str:
    if not wire.taken:
        return "the connection was closed before an answer came"
    if incoming.broke_off:
        return "the headers broke off"
    if isinstance(error, requests.exceptions.InvalidHeader):
        return "a Content-Length that is not a length"
    if any(isinstance(cause, http.client.LineTooLong) or "got more than" in str(cause) for cause in _causes(error)):
        return _TOO_MUCH_HEAD
    return _NOT_HTTP_1


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _is_garbled(raw: Any) -> bool:
    """Whether a line that is no field has cost the library all the fields after it, the body's framing among them."""
    return bool(raw._original_response.msg.defects)


def _prepared(
    method: str, checked: CheckedUrl, fields: Mapping[str, str], body: bytes | None
) -> requests.PreparedRequest:
    """The request to the letter: its URL is clean already, and preparing it would spell it anew."""
    if any(_UNSENDABLE.search(text) for field in fields.items() for text in field):
        raise ValueError("a header field that cannot be sent")
    request = requests.PreparedRequest()
    request.method = method
    request.url = checked.url
    request.headers = CaseInsensitiveDict({"Host": checked.authority, **fields, "Connection": "close"})
    request.body = body
    if body is not None:
        request.headers["Content-Length"] = str(len(body))
    return request
