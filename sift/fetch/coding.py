"""Content codings taken off a body, piece by piece, within bounds: gzip, deflate, br, zstd, and nested ones.

Framing and character sets are not known here.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

import brotli

from sift.errors import TooLong, Unreachable, Unsupported

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ACCEPTED = "gzip, deflate, br, zstd"
PIECE = 64 * 1024
MOST_NESTED = 4
# RFC 9659: a zstd content coding needs no window above 8 MiB; a larger one would only cost memory.
_WINDOW_LOG = 23
_ALIASES = {"x-gzip": "gzip", "x-zstd": "zstd", "brotli": "br"}
# Words that stand in Content-Encoding by mistake, on bodies that are not encoded at all.
_NONE = ("identity", "none", "binary", "8bit", "7bit", "utf-8", "utf8", "aws-chunked")


class Decoder(Protocol):
    """`step` gives at most about a piece; while `pending`, it has more without being fed. `left` follows the end."""

    pending: bool
    finished: bool
    left: bytes

    def step(self, data: bytes) -> bytes: ...


class _Zlib:
    def __init__(self, wbits: int) -> None:
        self._inner = zlib.decompressobj(wbits)
        self.pending = self.finished = False
        self.left = b""

    def step(self, data: bytes) -> bytes:
        output = self._inner.decompress(self._inner.unconsumed_tail + data, PIECE)
        self.finished = self._inner.eof
        self.pending = not self.finished and (len(output) == PIECE or bool(self._inner.unconsumed_tail))
        self.left = self._inner.unused_data
        return output


class _Brotli:
    def __init__(self) -> None:
        self._inner = brotli.Decompressor()
        self.pending = self.finished = False
        self.left = b""

    def step(self, data: bytes) -> bytes:
        output: bytes = self._inner.process(data, output_buffer_limit=PIECE)
        self.finished = self._inner.is_finished()
        # measured: it accepts more data although output waits beyond the limit; so ask until nothing comes
        self.pending = not self.finished and (bool(output) or not self._inner.can_accept_more_data())
        return output


class _Zstd:
    def __init__(self) -> None:
        options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _WINDOW_LOG}
        self._inner = zstd.ZstdDecompressor(options=options)
        self.pending = self.finished = False
        self.left = b""

    def step(self, data: bytes) -> bytes:
        output = self._inner.decompress(data, PIECE)
        self.finished = self._inner.eof
        self.pending = not self.finished and not self._inner.needs_input
        self.left = self._inner.unused_data if self.finished else b""
        return output


def _gzip(_: bytes) -> Decoder:
    return _Zlib(16 + zlib.MAX_WBITS)


def _deflate(start: bytes) -> Decoder:
    """RFC 9110 means zlib's format, some servers send it raw; the first byte tells (8 is zlib's only method)."""
    return _Zlib(zlib.MAX_WBITS if start[0] & 0x0F == 8 else -zlib.MAX_WBITS)


def _br(_: bytes) -> Decoder:
    return _Brotli()


def _zstd(_: bytes) -> Decoder:
    return _Zstd()


_MAKERS: dict[str, Callable[[bytes], Decoder]] = {"gzip": _gzip, "deflate": _deflate, "br": _br, "zstd": _zstd}
# How a further member or frame begins; what else follows the end is padding.
_NEXT_MEMBER = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd"}


def known_codings(listed: Iterable[str]) -> list[str]:
    """The codings in the order they were put on. Raises Unsupported, naming the first unknown one."""
    codings = [_ALIASES.get(coding, coding) for coding in listed if coding not in _NONE]
    for coding in codings:
        if coding not in _MAKERS:
            raise Unsupported(f"content coding {_printable(coding)} (only {ACCEPTED})")
    if len(codings) > MOST_NESTED:
        raise Unsupported(f"{len(codings)} content codings around one another")
    return codings


def decoded(pieces: Iterator[bytes], codings: list[str], most: int, check: Callable[[], None]) -> Iterator[bytes]:
    """The body without its codings. Each coding's output is bounded by `most` bytes, the inner ones' too.

    `check` is called between pieces and may raise. Raises Unreachable where a coding is damaged or breaks off.
    """
    pieces = _bounded(pieces, most, check)
    for coding in reversed(codings):
        pieces = _bounded(_without(coding, pieces), most, check)
    return pieces


def _bounded(pieces: Iterator[bytes], most: int, check: Callable[[], None]) -> Iterator[bytes]:
    left = most
    for piece in pieces:
        check()
        left -= len(piece)
        if left < 0:
            raise TooLong(f"the body is over {most} bytes")
        yield piece


def _without(coding: str, pieces: Iterator[bytes]) -> Iterator[bytes]:
    try:
        yield from _members(coding, pieces)
    except (zlib.error, brotli.error, zstd.ZstdError, EOFError, MemoryError):
        raise Unreachable(f"the {coding} body is damaged") from None


def _members(coding: str, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Decodes one member after another; an empty body is an empty page, padding after the end is passed over."""
    decoder: Decoder | None = None
    ended = False
    for piece in pieces:
        while piece:
            if decoder is None:
                if ended and not _begins_member(coding, piece):
                    break
                decoder = _MAKERS[coding](piece)
            yield decoder.step(piece)
            while decoder.pending:
                yield decoder.step(b"")
            piece = b""
            if decoder.finished:
                piece, decoder, ended = decoder.left, None, True
    if decoder is not None:
        raise Unreachable(f"the {coding} body broke off")


def _begins_member(coding: str, piece: bytes) -> bool:
    start = _NEXT_MEMBER.get(coding)
    return start is not None and piece[: len(start)] == start[: len(piece)]


def _printable(text: str) -> str:
    return "".join(c for c in text if c.isascii() and c.isprintable())[:40]
