"""HTTP/1.1 as a client speaks it: one request, one response, its body by its framing. Nothing is repaired.

Content codings, redirects and what a status means live elsewhere.

Why not a library: those at hand read 3xx bodies unasked, take a short body for a whole one, lose every header
after a malformed line, take a 103 for the answer, log hosts and URLs, and keep connections past the guard.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from sift.errors import TooLong, Unreachable
from sift.fetch.wire import Lost, Wire

MOST_HEAD = 64 * 1024
"""Bytes of status lines and headers in all, those of interim answers included."""
MOST_CHUNK_LINE = 4 * 1024
PIECE = 64 * 1024
FRAMING_SLACK = 128 * 1024
"""Bytes that chunk sizes and trailers may add to a body on the wire."""

_STATUS_LINE = re.compile(rb"HTTP/1\.[01] +([1-5][0-9]{2})(?: .*)?", re.DOTALL)
_FIELD_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_LENGTH = re.compile(r"[0-9]{1,18}", re.ASCII)
_CHUNK_LINE = re.compile(rb"([0-9a-fA-F]{1,15})[ \t]*(?:;.*)?", re.DOTALL)
_SECONDS = re.compile(r"[0-9]{1,9}", re.ASCII)
_UNSENDABLE = re.compile(r"[^\t\x20-\x7e\x80-\xff]")


@dataclass(frozen=True, slots=True)
class Head:
    """Status and header fields, names in lower case, values as they came (UTF-8, else latin-1)."""

    status: int
    fields: tuple[tuple[str, str], ...]

    def values(self, name: str) -> list[str]:
        """Every value of the field, in order."""
        return [value for key, value in self.fields if key == name]

    def last(self, name: str) -> str | None:
        values = self.values(name)
        return values[-1] if values else None

    def listed(self, name: str) -> list[str]:
        """The field as a comma-separated list, in lower case, empty elements dropped."""
        parts = ",".join(self.values(name)).split(",")
        return [part.strip().lower() for part in parts if part.strip()]


def retry_after_s(head: Head, now: float) -> float | None:
    """What Retry-After says, in seconds from `now`; `None` where it says nothing that can be read."""
    text = head.last("retry-after") or ""
    if _SECONDS.fullmatch(text):
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, OverflowError):
        return None


def request_bytes(method: str, target: str, host: str, fields: Mapping[str, str], body: bytes = b"") -> bytes:
    """The request, which asks for the connection to be closed afterwards. Raises ValueError on a bad field."""
    lines = [f"{method} {target} HTTP/1.1", f"Host: {host}"]
    lines += [f"{name}: {value}" for name, value in fields.items()]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    lines.append("Connection: close")
    if any(_UNSENDABLE.search(line) for line in lines):
        raise ValueError("a header field that cannot be sent")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


class Inbox:
    """What has been received and not yet read."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self._held = bytearray()
        self._at_end = False

    def line(self, most: int) -> bytes | None:
        """The next line without its end, CRLF or LF; `None` where none of up to `most` bytes comes. Raises Lost."""
        searched = 0
        while (end := self._held.find(b"\n", searched)) < 0:
            searched = len(self._held)
            if searched > most or not self._fill(PIECE // 4):
                return None
        line = bytes(self._held[:end]).removesuffix(b"\r")
        del self._held[: end + 1]
        return line if end <= most else None

    def some(self, most: int) -> bytes:
        """Up to `most` bytes; `b""` at the peer's end. Raises Lost."""
        if not self._held:
            return b"" if self._at_end else self.wire.receive(min(most, PIECE))
        data = bytes(self._held[:most])
        del self._held[:most]
        return data

    @property
    def ended(self) -> bool:
        """Whether the peer has sent its last byte."""
        return self._at_end

    def _fill(self, most: int) -> bool:
        data = b"" if self._at_end else self.wire.receive(most)
        self._held += data
        self._at_end = not data
        return bool(data)


def read_head(inbox: Inbox) -> Head:
    """The final answer's head; interim ones (100, 103) are passed over. Raises Unreachable."""
    left = MOST_HEAD
    try:
        while True:
            head, used = _one_head(inbox, left)
            left -= used
            if head.status >= 200 or head.status == 101:
                return head
    except Lost:
        raise Unreachable("the connection was reset before an answer came") from None


def _one_head(inbox: Inbox, most: int) -> tuple[Head, int]:
    """A head and how many bytes it took."""
    line = _head_line(inbox, most)
    match = _STATUS_LINE.fullmatch(line)
    if match is None:
        raise Unreachable("the answer is not HTTP/1")
    used = len(line) + 2
    fields: list[tuple[bytes, bytes]] = []
    while line := _head_line(inbox, most - used):
        used += len(line) + 2
        _add_field(fields, line)
    decoded = tuple((name.decode("ascii").lower(), _text(value)) for name, value in fields)
    return Head(int(match[1]), decoded), used + 2


def _head_line(inbox: Inbox, most: int) -> bytes:
    line = inbox.line(max(0, most))
    if line is not None:
        return line
    if not inbox.ended:
        raise Unreachable("headers of more than 64 KiB")
    if inbox.wire.taken == 0:
        raise Unreachable("the connection was closed before an answer came")
    raise Unreachable("the headers broke off")


def _add_field(fields: list[tuple[bytes, bytes]], line: bytes) -> None:
    """Adds the line's field; a folded line goes on with the one before, a line without a name is passed over."""
    if line[:1] in b" \t" and fields:
        name, value = fields[-1]
        fields[-1] = (name, value + b" " + line.strip())
        return
    name, colon, value = line.partition(b":")
    if colon and _FIELD_NAME.fullmatch(name.rstrip()):
        fields.append((name.rstrip(), value.strip(b" \t")))


def _text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


def read_body(head: Head, inbox: Inbox, most: int) -> Iterator[bytes]:
    """The body by its framing, piece by piece, still in its content codings.

    Raises Unreachable where it breaks off or the framing makes no sense, TooLong over `most` bytes.
    """
    try:
        yield from _framed(head, inbox, most)
    except Lost:
        raise Unreachable("the body broke off: the connection was reset") from None


def _framed(head: Head, inbox: Inbox, most: int) -> Iterator[bytes]:
    transfer = [coding for coding in head.listed("transfer-encoding") if coding != "identity"]
    if transfer == ["chunked"]:
        return _chunked(inbox, most + FRAMING_SLACK)
    if transfer:
        raise Unreachable("a transfer coding other than chunked")
    length = _content_length(head)
    if length is None:
        return _until_end(inbox)
    if length > most:
        raise TooLong(f"the site announces {length} bytes; at most {most} are read")
    return _counted(inbox, length)


def _content_length(head: Head) -> int | None:
    """The one length that all Content-Length fields agree on; `None` where there are none."""
    lengths = set(head.listed("content-length"))
    if not lengths:
        return None
    length = lengths.pop()
    if lengths or not _LENGTH.fullmatch(length):
        raise Unreachable("a Content-Length that is not a length")
    return int(length)


def _until_end(inbox: Inbox) -> Iterator[bytes]:
    while data := inbox.some(PIECE):
        yield data


def _counted(inbox: Inbox, length: int) -> Iterator[bytes]:
    left = length
    while left:
        data = inbox.some(min(left, PIECE))
        if not data:
            raise Unreachable(f"the body broke off: {length - left} of {length} bytes came")
        left -= len(data)
        yield data


def _chunked(inbox: Inbox, most_taken: int) -> Iterator[bytes]:
    began = inbox.wire.taken
    while size := _chunk_size(inbox):
        yield from _chunk(inbox, size)
        if inbox.line(MOST_CHUNK_LINE) != b"":
            raise Unreachable("the body broke off: a chunk has no end")
        if inbox.wire.taken - began > most_taken:
            raise TooLong("the chunks take more bytes than a body may")
    _skip_trailers(inbox)


def _chunk_size(inbox: Inbox) -> int:
    line = inbox.line(MOST_CHUNK_LINE)
    if line is None and inbox.ended:
        raise Unreachable("the body broke off between two chunks")
    match = _CHUNK_LINE.fullmatch(line or b"")
    if match is None:
        raise Unreachable("a chunk size that is not a size")
    return int(match[1], 16)


def _chunk(inbox: Inbox, size: int) -> Iterator[bytes]:
    left = size
    while left:
        data = inbox.some(min(left, PIECE))
        if not data:
            raise Unreachable("the body broke off inside a chunk")
        left -= len(data)
        yield data


def _skip_trailers(inbox: Inbox) -> None:
    """Reads to the end of the trailers, which say nothing that is used: only then has the whole body come."""
    left = MOST_HEAD
    while line := inbox.line(max(0, left)):
        left -= len(line) + 2
    if line is None and inbox.ended:
        raise Unreachable("the body broke off in its trailers")
    if line is None:
        raise Unreachable("trailers of more than 64 KiB")
