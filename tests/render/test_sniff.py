"""What a body is, by its type and its bytes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sift.render import sniff

PDF = b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n"
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)) * 4
HTML = b"<!DOCTYPE html><html><body><p>hello</p></body></html>"


@pytest.mark.parametrize(
    ("content_type", "body", "kind"),
    [
        ("text/html; charset=utf-8", HTML, sniff.HTML),
        ("application/xhtml+xml", HTML, sniff.HTML),
        ("Application/PDF", PDF, sniff.PDF),
        ("application/json", b'{"a": 1}', sniff.JSON),
        ("application/ld+json; profile=x", b"{}", sniff.JSON),
        ("application/x-ndjson", b"{}\n{}\n", sniff.NDJSON),
        ("application/xml", b"<a/>", sniff.XML),
        ("image/svg+xml", b"<svg/>", sniff.XML),
        ("application/rss+xml", b"<rss><channel/></rss>", sniff.FEED),
        ("text/xml", b'<?xml version="1.0"?>\n<!-- x -->\n<rss version="2.0"/>', sniff.FEED),
        ("application/xml", b'<feed xmlns="http://www.w3.org/2005/Atom"/>', sniff.FEED),
        ("text/xml", b'<rdf:RDF xmlns:rdf="x"/>', sniff.FEED),
        ("text/html", b'<?xml version="1.0"?><rss/>', sniff.FEED),
        ("application/xml", b'<?xml version="1.0"?><!DOCTYPE html><html xmlns="x"/>', sniff.HTML),
        ("text/plain", b"hello", sniff.TEXT),
        ("text/plain", HTML, sniff.TEXT),
        ("text/plain", b'{"a": [1, 2]}', sniff.JSON),
        ("text/plain", b"[not json]", sniff.TEXT),
        ("text/markdown; variant=GFM", b"# hello", sniff.MARKDOWN),
        ("text/csv", b"a,b\n", sniff.CSV),
        ("text/css", b"p { }", sniff.TEXT),
        ("application/yaml", b"a: 1", sniff.TEXT),
        (None, HTML, sniff.HTML),
        (None, b"\xef\xbb\xbf \n<html>", sniff.HTML),
        (None, b"<!-- x --><p>hello", sniff.TEXT),
        (None, b"<!-- x --><html>", sniff.HTML),
        (None, b"[1, 2]", sniff.JSON),
        (None, b"just words", sniff.TEXT),
        (None, b"", sniff.TEXT),
        ("application/octet-stream", b"key = value\n", sniff.TEXT),
        ("application/octet-stream", b'<?xml version="1.0"?><a/>', sniff.XML),
        ("nonsense", b"words", sniff.TEXT),
        ("text/html,text/html", HTML, sniff.HTML),
        (None, "<html>привет</html>".encode("utf-16"), sniff.HTML),
        (None, "<html>hello</html>".encode("utf-16-le"), sniff.HTML),
        ("text/plain; charset=utf-16be", "尊厳".encode("utf-16-be"), sniff.TEXT),
    ],
)
def test_a_body_is_what_its_type_and_bytes_say(content_type: str | None, body: bytes, kind: str) -> None:
    assert sniff.kind(content_type, body).name == kind


@pytest.mark.parametrize(
    "content_type", [None, "text/html", "text/plain", "application/json", "image/png", "application/zip"]
)
@pytest.mark.parametrize("junk", [b"", b"\xef\xbb\xbf", b"\r\n \n", b"\0\0"])
def test_a_pdf_is_a_pdf_whatever_it_is_served_as(content_type: str | None, junk: bytes) -> None:
    assert sniff.kind(content_type, junk + PDF).name == sniff.PDF


def test_junk_before_the_header_is_taken_as_readers_take_it() -> None:
    junk = b"HTTP/1.1 200 OK\r\nServer: x\r\n\r\n"
    assert sniff.kind("application/pdf", junk + PDF).name == sniff.PDF
    assert sniff.kind("text/plain", junk + PDF).name == sniff.PDF


def test_a_text_or_page_about_pdf_is_none() -> None:
    assert sniff.kind("text/plain", b"A file starts with %PDF-1.4 and then come objects.").name == sniff.TEXT
    assert sniff.kind("text/html", b"<html><p>%PDF-1.4 and %%EOF</p></html>").name == sniff.HTML


def test_html_that_calls_itself_pdf_is_html() -> None:
    assert sniff.kind("application/pdf", b"\n<!doctype html><title>404</title>").name == sniff.HTML


def test_an_empty_body_that_calls_itself_pdf_is_left_to_the_pdf_reader() -> None:
    assert sniff.kind("application/pdf", b"").name == sniff.PDF


@pytest.mark.parametrize("content_type", ["image/png", "application/zip", "video/mp4", "font/woff2", "multipart/mixed"])
def test_a_type_that_is_not_read_is_named(content_type: str) -> None:
    kind = sniff.kind(f"{content_type}; x=y", PNG)
    assert kind.name == sniff.UNSUPPORTED
    assert str(kind.unsupported()) == f"unsupported: {content_type} is not a type that Sift reads"


@pytest.mark.parametrize("content_type", ["text/plain", "text/html", "application/json", "text/xml", "text/markdown"])
@pytest.mark.parametrize("body", [PNG, b"\x00\x01\x02\x03" * 50, bytes(range(256)) * 20, b"\x1f\x8b\x08" + bytes(99)])
def test_a_binary_body_is_never_text(content_type: str, body: bytes) -> None:
    kind = sniff.kind(content_type, body)
    assert kind.name == sniff.UNSUPPORTED
    assert content_type in str(kind.unsupported())


def test_a_binary_body_without_a_type_says_what_it_looks_like() -> None:
    assert "image/png" in str(sniff.kind(None, PNG).unsupported())
    assert str(sniff.kind("application/octet-stream", b"\0\1\2\3").unsupported()) == (
        "unsupported: application/octet-stream, which looks like binary data, is not a type that Sift reads"
    )


def test_text_with_a_stray_nul_is_text() -> None:
    assert sniff.kind("text/plain", b"hello world, this has\0one").name == sniff.TEXT


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.none(), st.text(max_size=40)), st.binary(max_size=200))
def test_any_type_and_bytes_have_a_kind(content_type: str | None, body: bytes) -> None:
    kind = sniff.kind(content_type, body)
    assert (kind.problem is None) == (kind.name != sniff.UNSUPPORTED)
