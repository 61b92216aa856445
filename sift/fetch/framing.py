"""A body by its framing, strictly: by its length, in chunks, or to the end of the connection. Nothing is repaired.

Heads, content codings and sockets are not known here.

Why not the library's own reading: it takes `+5`, `0x5` and `5_0` for chunk sizes, does not look whether a chunk ends
where it says, takes a body whose trailers break off for a whole one, and a length that is no length for none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from io import BufferedReader
from typing import TYPE_CHECKING, Any

from sift.errors import TooLong, Unreachable
from sift.fetch.head import MOST_HEAD, Head

if TYPE_CHECKING:
    File = BufferedReader[Any]
MOST_CHUNK_LINE = 4 * 1024
PIECE = 64 * 1024
FRAMING_SLACK = 128 * 1024
"""Bytes that chunk sizes and trailers may add to a body on the wire."""

_LENGTH = re.compile(r"[0-9]{1,18}", re.ASCII)
_CHUNK_LINE = re.compile(rb"([0-9a-fA-F]{1,15})[ \t]*(?:;.*)?", re.DOTALL)


def framed(head: Head, file: File, most: int, taken: Callable[[], int]) -> Iterator[bytes]:
    """The body's pieces, still in their content codings; `taken` tells the bytes received so far.

    Raises Unreachable where it breaks off or the framing makes no sense, TooLong over `most` bytes.
    """
    transfer = [coding for coding in head.listed("transfer-encoding") if coding != "identity"]
    if transfer == ["chunked"]:
        return _chunked(file, most + FRAMING_SLACK, taken)
    if transfer:
        raise Unreachable("a transfer coding other than chunked")
    length = _content_length(head)
    if length is None:
        return _until_end(file)
    if length > most:
        raise TooLong(f"the site announces {length} bytes; at most {most} are read")
    return _counted(file, length, f"of {length} bytes")


def _content_length(head: Head) -> int | None:
    """The one length that all Content-Length fields agree on; `None` where there are none."""
    lengths = set(head.listed("content-length"))
    if not lengths:
        return None
    length = lengths.pop()
    if lengths or not _LENGTH.fullmatch(length):
        raise Unreachable("a Content-Length that is not a length")
    return int(length)


def _until_end(file: File) -> Iterator[bytes]:
    while data := file.read1(PIECE):
        yield data


def _counted(file: File, length: int, of_what: str) -> Iterator[bytes]:
    left = length
    while left:
        data = file.read1(min(left, PIECE))
        if not data:
            raise Unreachable(f"the body broke off: {length - left} {of_what} came")
        left -= len(data)
        yield data


def _chunked(file: File, most_taken: int, taken: Callable[[], int]) -> Iterator[bytes]:
    began = taken()
    while size := _chunk_size(file):
        yield from _counted(file, size, "bytes of a chunk")
        if file.readline(MOST_CHUNK_LINE) not in (b"\r\n", b"\n"):
            raise Unreachable("the body broke off: a chunk has no end")
        if taken() - began > most_taken:
            raise TooLong("the chunks take more bytes than a body may")
    _skip_trailers(file)


def _chunk_size(file: File) -> int:
    line = file.readline(MOST_CHUNK_LINE)
    if not line:
        raise Unreachable("the body broke off between two chunks")
    match = _CHUNK_LINE.fullmatch(line.rstrip(b"\r\n")) if line.endswith(b"\n") else None
    if match is None:
        raise Unreachable("a chunk size that is not a size")
    return int(match[1], 16)


def _skip_trailers(file: File) -> None:
    """Reads to the end of the trailers, which say nothing that is used: only then has the whole body come."""
    left = MOST_HEAD
    while (line := file.readline(max(0, left))) not in (b"\r\n", b"\n"):
        left -= len(line)
        if left <= 0:
            raise Unreachable("trailers of more than 64 KiB")
        if not line.endswith(b"\n"):
            raise Unreachable("the body broke off in its trailers")
