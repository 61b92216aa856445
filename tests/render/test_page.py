"""The way from a body to its renderer, by kind and mode."""

import pytest

from sift.errors import Unsupported
from sift.render.page import render
from sift.target import Page, Target
from tests.support.pdfs import lines, pdf

URL = "https://site.example/a"


def page(body: bytes, content_type: str | None) -> Page:
    headers = {"content-type": content_type} if content_type else {}
    return Page(URL, URL, 200, headers, body, 0.0)


def test_links_of_a_pdf_are_one_a_line_each_once() -> None:
    body = pdf([lines("text")], links=["https://a.example/", "javascript:alert(1)", "https://a.example/"])

    found = render(page(body, "application/pdf"), Target(URL, mode="links"))

    assert found.text == "https://a.example/\t\n"
    assert found.pages == {"total": 1, "returned": "1"}


@pytest.mark.parametrize("mode", ["raw"])
def test_the_bytes_of_a_pdf_are_not_text(mode: str) -> None:
    with pytest.raises(Unsupported, match="mode raw of a PDF"):
        render(page(pdf([lines("text")]), "application/pdf"), Target(URL, mode=mode))


@pytest.mark.parametrize("content_type", ["application/json", "text/plain", "text/csv"])
def test_text_has_no_links(content_type: str) -> None:
    with pytest.raises(Unsupported, match="mode links needs HTML or PDF"):
        render(page(b'{"a": 1}', content_type), Target(URL, mode="links"))


def test_pages_need_a_pdf() -> None:
    with pytest.raises(Unsupported, match="pages needs a PDF, and the page is text/html"):
        render(page(b"<p>text", "text/html"), Target(URL, pages="1"))


def test_a_type_that_is_not_read_is_named() -> None:
    with pytest.raises(Unsupported, match="image/png"):
        render(page(b"\x89PNG\r\n\x1a\n" + bytes(99), "image/png"), Target(URL))


def test_raw_html_comes_as_it_is_with_its_title() -> None:
    found = render(page(b"<title>T</title><p>caf\xe9", "text/html; charset=latin1"), Target(URL, mode="raw"))

    assert (found.text, found.title) == ("<title>T</title><p>caf\u00e9", "T")


def test_context_of_text_is_its_title_and_words() -> None:
    found = render(page(b"# A title\n\nand words", "text/markdown"), Target(URL, context=True))

    assert found.context is not None
    assert (found.context["title"], found.context["words"]) == ("A title", 4)
