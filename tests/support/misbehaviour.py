"""How servers misbehave: scripts for `Hostile`, each with what a fetch from it must end in.

Measured by `tests/fetch/test_hostile.py`. The deadline of those fetches is `DEADLINE_S`,
or `LATE_S` where it is what ends them.
"""

import os
import ssl
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

import brotli
from backports import zstd

from tests.support.hostile import TLS, Gone, Peer, Script, always, reply

LATE_S, DEADLINE_S = 0.25, 1.0
MIB = 1 << 20
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


@dataclass(frozen=True)
class Case:
    """`fault` is the outcome and a part of the text; `None` is a page, whose body is `body`."""

    name: str
    script: Script
    fault: tuple[str, str] | None
    body: bytes = b""
    certificate: str | None = None
    config: dict[str, int] = field(default_factory=lambda: {"max_bytes": 256 * 1024})

    @property
    def deadline_s(self) -> float:
        return LATE_S if self.fault == LATE else DEADLINE_S


def says(data: bytes) -> Script:
    return always(data)


def says_then(data: bytes, act: Callable[[Peer], None]) -> Script:
    def script(peer: Peer) -> None:
        peer.request()
        peer.send(data)
        act(peer)

    return script


def drips(data: bytes, start: bytes = b"") -> Script:
    return says_then(start, lambda peer: peer.drip(data * 1000))


def floods(data: bytes, start: bytes = b"") -> Script:
    return says_then(start, lambda peer: peer.flood(data))


def encoded(coding: str, body: bytes) -> bytes:
    return reply(body, fields={"Content-Type": "text/html", "Content-Encoding": coding})


def chunked(body: bytes, tail: bytes = b"0\r\n\r\n", coding: str = "identity", fields: bytes = b"") -> bytes:
    """The body in one chunk."""
    head = HEAD + fields + f"Content-Encoding: {coding}\r\n".encode() + b"Transfer-Encoding: chunked\r\n\r\n"
    return head + f"{len(body):x}\r\n".encode() + body + b"\r\n" + tail


def zeros_gzip(mib: int, wbits: int = 31) -> bytes:
    packer = zlib.compressobj(1, zlib.DEFLATED, wbits)
    return b"".join(packer.compress(bytes(MIB)) for _ in range(mib)) + packer.flush()


def zeros_br(mib: int) -> bytes:
    packer = brotli.Compressor(quality=1)
    return b"".join(packer.process(bytes(MIB)) for _ in range(mib)) + bytes(packer.finish())


def zeros_zstd(mib: int) -> bytes:
    packer = zstd.ZstdCompressor()
    return b"".join(packer.compress(bytes(MIB)) for _ in range(mib)) + packer.flush()


def gzipped(body: bytes, times: int = 1) -> bytes:
    for _ in range(times):
        packer = zlib.compressobj(6, zlib.DEFLATED, 31)
        body = packer.compress(body) + packer.flush()
    return body


def tls_drip(peer: Peer) -> None:
    """A proper TLS answer, its records cut into single bytes."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / "site.pem")
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    session = context.wrap_bio(incoming, outgoing, server_side=True)
    done = False
    while not done:
        try:
            session.do_handshake()
            done = True
        except ssl.SSLWantReadError:
            peer.send(outgoing.read())
            incoming.write(received(peer))
    session.write(HEAD + b"Content-Length: 1000\r\n\r\n" + b"x" * 1000)
    peer.drip(outgoing.read())


def received(peer: Peer) -> bytes:
    data = peer.sock.recv(64 * 1024)
    if not data:
        raise Gone
    return data


def handshake_drip(peer: Peer) -> None:
    """Half a ServerHello's record, byte by byte."""
    received(peer)
    peer.drip(b"\x16\x03\x03\x10\x00" + bytes(4096))


def broke(coding: str) -> tuple[str, str]:
    return "unreachable", f"the {coding} body broke off"


def damaged(coding: str) -> tuple[str, str]:
    return "unreachable", f"the {coding} body is damaged"


def unknown(coding: str) -> tuple[str, str]:
    return "unsupported", f"content coding {coding} (only gzip, deflate, br, zstd)"


NOISE = os.urandom(3000)
INTERIM = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 X\r\nLink: <a>\r\n\r\n"
TRANSFER = ("unreachable", "a transfer coding other than chunked")
LATE = ("timeout", "no complete answer within 0.25 s")
BROKE = ("unreachable", "broke off")
NOT_HTTP = ("unreachable", "the answer is not HTTP/1")
HEADERS = ("unreachable", "headers of more than 64 KiB")
SIZE = ("unreachable", "a chunk size that is not a size")
LENGTH = ("unreachable", "a Content-Length that is not a length")
BIG = ("too_long", "")
BOMB = {"max_bytes": 20 * MIB}

DRIPS = [
    Case("status line", drips(b"K", b"HTTP/1.1 200 O"), LATE),
    Case("headers", drips(b"X-A: b\r\n", HEAD), LATE),
    Case("one endless header", drips(b"x", HEAD + b"X-A: "), LATE),
    Case("body by length", drips(b"x", HEAD + b"Content-Length: 100000\r\n\r\n"), LATE),
    Case("body until the end", drips(b"x", HEAD + b"\r\n"), LATE),
    Case("chunk size", drips(b"0", CHUNKED), LATE),
    Case("chunk extension", drips(b"x", CHUNKED + b"5;"), LATE),
    Case("chunk data", drips(b"x", CHUNKED + b"fffff\r\n"), LATE),
    Case("chunks of a byte", drips(b"1\r\nx\r\n", CHUNKED), LATE),
    Case("trailers", drips(b"X-A: b\r\n", CHUNKED + b"0\r\n"), LATE),
    Case("100 Continue", drips(b"HTTP/1.1 100 Continue\r\n\r\n"), LATE),
    Case("gzip", says_then(b"", lambda peer: peer.drip(encoded("gzip", gzipped(NOISE)))), LATE),
    Case("TLS records", tls_drip, LATE, certificate="raw"),
    Case("TLS handshake", handshake_drip, LATE, certificate="raw"),
]
FLOODS = [
    Case("headers", floods(b"X-A: b\r\n", HEAD), HEADERS),
    Case("one endless header", floods(b"x", HEAD + b"X-A: "), HEADERS),
    Case("one endless status line", floods(b"x", b"HTTP/1.1 200 "), HEADERS),
    Case("Set-Cookie", floods(b"Set-Cookie: a=b\r\n", HEAD), HEADERS),
    Case("100 Continue", floods(b"HTTP/1.1 100 Continue\r\n\r\n"), HEADERS),
    Case("103 Early Hints", floods(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"), HEADERS),
    Case("body until the end", floods(b"x", HEAD + b"\r\n"), BIG),
    Case("chunks of a byte", floods(b"1\r\nx\r\n", CHUNKED), BIG),
    Case("chunks of 64 KiB", floods(b"10000\r\n" + b"x" * 65536 + b"\r\n", CHUNKED), BIG),
    Case("one endless chunk", floods(b"x", CHUNKED + b"fffffffffff\r\n"), BIG),
    Case("chunk size", floods(b"0", CHUNKED), SIZE),
    Case("chunk extension", floods(b"x", CHUNKED + b"5;"), SIZE),
    Case("chunk extensions within the limit", floods(b"1;" + b"x" * 4000 + b"\r\nx\r\n", CHUNKED), BIG),
    Case("trailers", floods(b"X-A: b\r\n", CHUNKED + b"0\r\n"), ("unreachable", "trailers of more than 64 KiB")),
    Case("3xx body", floods(b"x", b"HTTP/1.1 302 X\r\n\r\n"), ("unreachable", "without a Location")),
    Case("404 body", floods(b"x", b"HTTP/1.1 404 X\r\n\r\n"), ("upstream_4xx", "404")),
]
BOMBS = [
    Case("gzip", says(encoded("gzip", zeros_gzip(256))), BIG, config=BOMB),
    Case("gzip in many members", says(encoded("gzip", zeros_gzip(8) * 64)), BIG, config=BOMB),
    Case("deflate", says(encoded("deflate", zeros_gzip(64, 15))), BIG, config=BOMB),
    Case("raw deflate", says(encoded("deflate", zeros_gzip(64, -15))), BIG, config=BOMB),
    Case("br", says(encoded("br", zeros_br(256))), BIG, config=BOMB),
    Case("zstd", says(encoded("zstd", zeros_zstd(1024))), BIG, config=BOMB),
    Case("gzip in gzip", says(encoded("gzip, gzip", gzipped(zeros_gzip(256)))), BIG, config=BOMB),
    Case("gzip four times", says(encoded("gzip, gzip, gzip, gzip", gzipped(zeros_gzip(256), 3))), BIG, config=BOMB),
    Case("br in zstd", says(encoded("br, zstd", zstd.compress(zeros_br(256)))), BIG, config=BOMB),
    Case("chunked gzip", says(chunked(zeros_gzip(256), coding="gzip")), BIG, config=BOMB),
    Case("a million gzips of nothing", says(encoded("gzip, gzip", gzipped(gzipped(b"") * 1_000_000))), BIG),
    Case("zstd with a window of 2 GiB", says(encoded("zstd", bytes.fromhex("28b52ffd00a8") + b"\1\0\0")),
         ("unreachable", "the zstd body is damaged")),
    Case("a 3xx with a gzip bomb", says(reply(zeros_gzip(64), status=302, fields={"Content-Encoding": "gzip"})),
         ("unreachable", "without a Location")),
]  # fmt: skip
LIES = [
    Case("length too long", says(reply(b"short", length=10)), ("unreachable", "broke off: 5 of 10 bytes came")),
    Case("length too short", says(reply(b"short and more", length=5)), None, b"short"),
    Case("length of terabytes", says(reply(b"x", length=10**13)), ("too_long", "announces 10000000000000 bytes")),
    Case("negative length", says(reply(b"x", length=-1)), LENGTH),
    Case("length of words", says(HEAD + b"Content-Length: ten\r\n\r\n"), LENGTH),
    Case("fullwidth length", says(HEAD + "Content-Length: １\r\n\r\nx".encode()), LENGTH),
    Case("two lengths", says(HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx"), LENGTH),
    Case("two equal lengths", says(HEAD + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\nxx"), None, b"xx"),
    Case("length and chunks", says(chunked(b"page", fields=b"Content-Length: 2\r\n")), None, b"page"),
    Case("negative chunk size", says(CHUNKED + b"-5\r\nhello\r\n"), SIZE),
    Case("0x chunk size", says(CHUNKED + b"0x5\r\nhello\r\n0\r\n\r\n"), SIZE),
    Case("chunk size with an underscore", says(CHUNKED + b"0_5\r\nhello\r\n0\r\n\r\n"), SIZE),
    Case("chunk size with a sign", says(CHUNKED + b"+5\r\nhello\r\n0\r\n\r\n"), SIZE),
    Case("empty chunk size", says(CHUNKED + b"\r\nhello\r\n0\r\n\r\n"), SIZE),
    Case("chunk size of 64 bits", says(CHUNKED + b"ffffffffffffffff\r\nhello"), SIZE),
    Case("chunk longer than its size", says(CHUNKED + b"3\r\nhello\r\n0\r\n\r\n"), BROKE),
    Case("chunk shorter than its size", says(CHUNKED + b"9\r\nhello"), BROKE),
    Case("no last chunk", says(CHUNKED + b"5\r\nhello\r\n"), BROKE),
    Case("no end of the trailers", says(chunked(b"page", b"0\r\n")), BROKE),
    Case("trailers", says(chunked(b"page", b"0\r\nX-A: b\r\nContent-Encoding: gzip\r\n\r\n")), None, b"page"),
    Case("chunk extension", says(CHUNKED + b'4 ;a="b;c"\r\npage\r\n0\r\n\r\n'), None, b"page"),
    Case("gzip cut", says(encoded("gzip", gzipped(NOISE)[:-500])), broke("gzip")),
    Case("gzip without trailer", says(encoded("gzip", gzipped(b"page")[:-8])), broke("gzip")),
    Case("gzip with half a trailer", says(encoded("gzip", gzipped(b"page")[:-4])), broke("gzip")),
    Case("gzip with a wrong sum", says(encoded("gzip", gzipped(b"page")[:-8] + bytes(8))), damaged("gzip")),
    Case("gzip cut in chunks", says(chunked(gzipped(b"page")[:-3], coding="gzip")), broke("gzip")),
    Case("br cut", says(encoded("br", brotli.compress(NOISE)[:-9])), broke("br")),
    Case("zstd cut", says(encoded("zstd", zstd.compress(NOISE)[:-9])), broke("zstd")),
    Case("deflate cut", says(encoded("deflate", zlib.compress(b"page")[:-2])), broke("deflate")),
    Case("inner gzip cut", says(encoded("gzip, br", brotli.compress(gzipped(b"page")[:-2]))), broke("gzip")),
    Case("gzip that is none", says(encoded("gzip", b"plain text")), damaged("gzip")),
    Case("br that is none", says(encoded("br", b"plain text, long enough")), ("unreachable", "the br body")),
    Case("zstd that is none", says(encoded("zstd", b"plain text")), damaged("zstd")),
    Case("unknown coding", says(encoded("compress", b"x")), unknown("compress")),
    Case("unknown coding in gzip", says(encoded("snappy, gzip", gzipped(b"x"))), unknown("snappy")),
    Case("nine codings", says(encoded("gzip, " * 9, gzipped(b"x", 9))), ("unsupported", "9 content codings")),
    Case("transfer coding", says(HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"), TRANSFER),
    Case("HTTP/0.9", says(b"<html>hello</html>"), NOT_HTTP),
    Case("HTTP/0.9 with lines", says(b"<html>\n<p>hello\n</html>\n"), NOT_HTTP),
    Case("HTTP/2 preface", says(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), NOT_HTTP),
    Case("version 2.0", says(b"HTTP/2.0 200 OK\r\n\r\n"), NOT_HTTP),
    Case("status of two digits", says(b"HTTP/1.1 20 OK\r\n\r\n"), NOT_HTTP),
    Case("status 999", says(b"HTTP/1.1 999 X\r\n\r\n"), NOT_HTTP),
    Case("SSH", says(b"SSH-2.0-OpenSSH_9.2\r\n"), NOT_HTTP),
    Case("SMTP", says(b"220 mail.example.org ESMTP\r\n"), NOT_HTTP),
    Case("garbage", says(bytes(range(256)) * 8), NOT_HTTP),
    Case("garbage without lines", says(b"\x00\xff" * 100_000), NOT_HTTP),
    Case("SSH that goes on waiting", says_then(b"SSH-2.0-OpenSSH_9.2\r\n", Peer.hang), NOT_HTTP),
    Case("garbage that goes on waiting", says_then(b"\x00", Peer.hang), NOT_HTTP),
    Case("TLS on a plain port", says(b"\x15\x03\x01\x00\x02\x02\x46"), NOT_HTTP),
    Case("nothing at all", says(b""), ("unreachable", "closed before an answer came")),
    Case("half a head", says(HEAD), ("unreachable", "the headers broke off")),
    Case("half a status line", says(b"HTTP/1.1 2"), ("unreachable", "the headers broke off")),
    Case("101", says(b"HTTP/1.1 101 Switching Protocols\r\n\r\n"), ("unreachable", "answered 101")),
    Case("206 unasked", says(reply(b"part", status=206)), ("unreachable", "a part that was not asked for")),
    Case("204 with a body", says(reply(b"body", status=204)), None, b""),
    Case("205 with a body", says(reply(b"body", status=205)), None, b""),
    Case("empty 200", says(reply(b"")), None, b""),
    Case("empty gzip", says(encoded("gzip", b"")), None, b""),
    Case("100, 103, then a page", says(INTERIM + reply(b"page")), None, b"page"),
    Case("bare LF", says(reply(b"page").replace(b"\r\n", b"\n")), None, b"page"),
    Case("a header without a colon", says(HEAD + b"nonsense\r\nContent-Length: 4\r\n\r\npage"), None, b"page"),
    Case("a header with a bad name", says(HEAD + b"Bad Name: x\r\nContent-Length: 4\r\n\r\npage"), None, b"page"),
    Case("90 headers", says(HEAD + b"X-A: b\r\n" * 90 + b"Content-Length: 4\r\n\r\npage"), None, b"page"),
    Case("200 headers", says(HEAD + b"X-A: b\r\n" * 200 + b"\r\npage"), ("unreachable", "headers of more than")),
    Case("garbage after gzip", says(encoded("gzip", gzipped(b"page") + b"\0\0\0\0")), None, b"page"),
    Case("two gzip members", says(encoded("gzip", gzipped(b"pa") + gzipped(b"ge"))), None, b"page"),
    Case("two zstd frames", says(encoded("zstd", zstd.compress(b"pa") + zstd.compress(b"ge"))), None, b"page"),
    Case("gzip in br", says(encoded("gzip, br", brotli.compress(gzipped(b"page")))), None, b"page"),
    Case("x-gzip", says(encoded("X-GZip", gzipped(b"page"))), None, b"page"),
    Case("a coding that is none", says(encoded("UTF-8", b"page")), None, b"page"),
]  # fmt: skip
ENDS = [
    Case("reset at once", lambda peer: peer.reset(), ("unreachable", "reset")),
    Case("reset after the request", says_then(b"", Peer.reset), ("unreachable", "reset before an answer came")),
    Case("reset in the headers", says_then(HEAD, Peer.reset), ("unreachable", "reset")),
    Case("reset in a body by length", says_then(reply(b"x", length=9), Peer.reset), BROKE),
    Case("reset in a body until the end", says_then(HEAD + b"\r\nhalf a page", Peer.reset), BROKE),
    Case("reset in a chunk", says_then(CHUNKED + b"9\r\nx", Peer.reset), BROKE),
    # "bad TLS", or where the reset overtakes the handshake "the connection was reset"
    Case("reset in the handshake", lambda peer: peer.reset(), ("unreachable", ""), certificate="raw"),
    Case(
        "plain text for a handshake", lambda peer: peer.send(reply(b"x")), ("unreachable", "bad TLS"), certificate="raw"
    ),
    Case("hangs before the request", Peer.hang, LATE),
    Case("hangs before the answer", says_then(b"", Peer.hang), LATE),
    Case("hangs in the status line", says_then(b"HTTP/1.1 2", Peer.hang), LATE),
    Case("hangs in the headers", says_then(HEAD, Peer.hang), LATE),
    Case("hangs in a body by length", says_then(reply(b"x", length=9), Peer.hang), LATE),
    Case("hangs in a body until the end", says_then(HEAD + b"\r\nx", Peer.hang), LATE),
    Case("hangs in a chunk", says_then(CHUNKED + b"9\r\nx", Peer.hang), LATE),
    Case("hangs before the last chunk", says_then(CHUNKED + b"1\r\nx\r\n", Peer.hang), LATE),
    Case("hangs in the handshake", Peer.hang, LATE, certificate="raw"),
    Case("hangs after the handshake", Peer.hang, LATE, certificate="site.pem"),
    Case("hangs in a TLS body", says_then(reply(b"x", length=9), Peer.hang), LATE, certificate="site.pem"),
    Case("cut TLS body", says(reply(b"x", length=9)), BROKE, certificate="site.pem"),
]
KINDS = {"drips": DRIPS, "floods": FLOODS, "bombs": BOMBS, "lies": LIES, "ends": ENDS}
