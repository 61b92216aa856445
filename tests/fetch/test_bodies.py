"""Bodies cut anywhere, decoders fed in any pieces: a part is never a page."""

import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress

import brotli
import pytest
from backports import zstd
from hypothesis import given, settings
from hypothesis import strategies as st

from sift.errors import TooLong, Unreachable, Unsupported
from sift.fetch.coding import decoded, known_codings
from sift.fetch.head import Head
from sift.fetch.transport import send
from sift.guard.url import read_url
from tests.support.hostile import reply


class Tape:
    """A wire that plays what was recorded, in pieces, then ends."""

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = [piece for piece in pieces if piece]
        self.taken = 0

    def receive(self, most: int) -> bytes:
        if not self._pieces:
            return b""
        piece, rest = self._pieces[0][:most], self._pieces[0][most:]
        self._pieces[:1] = [rest] if rest else []
        self.taken += len(piece)
        return piece

    def send(self, data: bytes) -> None:
        pass

    def check(self) -> None:
        pass


def read(pieces: list[bytes], most: int = 1 << 20) -> tuple[Head, bytes]:
    answer = send(Tape(pieces), "GET", read_url("http://site.example.org/"), {})  # type: ignore[arg-type]
    codings = known_codings(answer.head.listed("content-encoding"))
    return answer.head, b"".join(decoded(answer.pieces(most), codings, most, lambda: None))


def gzip(data: bytes) -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


PACK: dict[str, Callable[[bytes], bytes]] = {
    "identity": bytes,
    "gzip": gzip,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}
PAGE = b"<p>A page of some length, so that every coding has something to do. " * 3


def chunks(body: bytes, size: int) -> bytes:
    parts = [body[i : i + size] for i in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def response(coding: str, framing: str) -> bytes:
    body = PACK[coding](PAGE)
    if framing == "length":
        return reply(body, fields={"Content-Encoding": coding})
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n".encode()
    if framing == "chunked":
        return head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks(body, 30)
    return head + b"\r\n" + body


@pytest.mark.parametrize("framing", ["length", "chunked"])
@pytest.mark.parametrize("coding", PACK)
def test_a_response_cut_at_any_byte_is_unreachable(coding: str, framing: str) -> None:
    whole = response(coding, framing)

    assert read([whole])[1] == PAGE
    for end in range(len(whole)):
        with pytest.raises(Unreachable):
            read([whole[:end]])


@pytest.mark.parametrize("coding", [coding for coding in PACK if coding != "identity"])
def test_a_coding_shows_the_cut_where_the_framing_does_not(coding: str) -> None:
    whole = response(coding, "end")
    head = whole.index(b"\r\n\r\n") + 5

    assert read([whole])[1] == PAGE
    for end in range(head, len(whole)):
        with pytest.raises(Unreachable, match=f"the {coding} body broke off"):
            read([whole[:end]])


@pytest.mark.parametrize("coding", PACK)
@pytest.mark.parametrize("framing", ["length", "chunked", "end"])
def test_a_response_in_single_bytes_is_the_same_page(coding: str, framing: str) -> None:
    whole = response(coding, framing)

    assert read([bytes([byte]) for byte in whole])[1] == PAGE


@pytest.mark.parametrize("packed", [zlib.compress(PAGE), raw_deflate(PAGE)], ids=["zlib", "raw"])
def test_deflate_is_read_in_both_its_meanings(packed: bytes) -> None:
    assert read([reply(packed, fields={"Content-Encoding": "deflate"})])[1] == PAGE


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(["gzip", "deflate", "br", "zstd"]), max_size=4), st.binary(max_size=500), st.data())
def test_any_nesting_in_any_pieces_is_undone(codings: list[str], body: bytes, data: st.DataObject) -> None:
    packed = body
    for coding in codings:
        packed = PACK[coding](packed)
    cut = data.draw(st.integers(0, len(packed)))

    pieces: Iterator[bytes] = iter([packed[:cut], packed[cut:]])
    assert b"".join(decoded(pieces, codings, 10_000, lambda: None)) == body


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300), st.sampled_from(["gzip", "deflate", "br", "zstd"]))
def test_any_bytes_under_any_coding_are_a_body_or_a_described_failure(junk: bytes, coding: str) -> None:
    with suppress(Unreachable, TooLong):
        b"".join(decoded(iter([junk]), [coding], 10_000, lambda: None))


@settings(max_examples=300, deadline=None)
@given(
    st.binary(max_size=300),
    st.sampled_from([b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"]),
)
def test_any_bytes_for_an_answer_are_a_page_or_a_described_failure(junk: bytes, start: bytes) -> None:
    with suppress(Unreachable, TooLong, Unsupported):
        read([start + junk])


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_the_limit_is_exact_after_decoding(coding: str) -> None:
    packed = reply(PACK[coding](b"x" * 100_000), fields={"Content-Encoding": coding})

    assert len(read([packed], most=100_000)[1]) == 100_000
    with pytest.raises(TooLong):
        read([packed], most=99_999)


def test_a_check_between_pieces_ends_decoding() -> None:
    calls: list[int] = []

    def check() -> None:
        calls.append(1)
        if len(calls) > 3:
            raise TooLong("stop")

    with pytest.raises(TooLong, match="stop"):
        b"".join(decoded(iter([gzip(bytes(10_000_000))]), ["gzip"], 1 << 30, check))


def test_folded_header_lines_are_one_value() -> None:
    head, _ = read([b"HTTP/1.1 200 OK\r\nX-A: one\r\n  two\r\n\tthree\r\nContent-Length: 0\r\n\r\n"])

    assert head.last("x-a") == "one two three"


def test_values_are_utf_8_where_they_can_be_else_latin_1() -> None:
    head, _ = read([b"HTTP/1.1 200 OK\r\nX-A: caf\xc3\xa9\r\nX-B: caf\xe9\r\nContent-Length: 0\r\n\r\n"])

    assert (head.last("x-a"), head.last("x-b")) == ("café", "café")


@pytest.mark.parametrize("line", [b"HTTP/1.1 200", b"HTTP/1.0 200 ", b"HTTP/1.1 200 All right", b"HTTP/1.1  200 OK"])
def test_status_lines_in_use_are_read(line: bytes) -> None:
    assert read([line + b"\r\n\r\nx"])[0].status == 200


def test_headers_of_64_kib_pass_and_more_do_not() -> None:
    start, end = b"HTTP/1.1 200 OK\r\nX: ", b"\r\nContent-Length: 0\r\n\r\n"
    room = 64 * 1024 - len(start) - len(end)

    assert read([start + b"x" * room + end])[0].status == 200
    with pytest.raises(Unreachable, match="headers of more than 64 KiB"):
        read([start + b"x" * (room + 3) + end])
