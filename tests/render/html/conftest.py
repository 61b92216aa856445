"""Fixtures of the HTML room: a page around a piece of HTML, and its Markdown."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sift.render.html import convert

URL = "https://site.example/dir/page.html?x=1"
BEFORE = "Intro paragraph that is long enough to be running text here."
AFTER = "Closing paragraph, also long enough to be running text, right."


@pytest.fixture
def inside() -> Callable[[str], str]:
    """The `clean` Markdown of a piece of HTML that stands between two paragraphs of a reference page."""

    def markdown(piece: str, head: str = "") -> str:
        page = (
            f"<html><head><title>Reference manual</title>{head}</head><body><main><h1>Manual</h1>"
            f"<p>{BEFORE}</p>{piece}<p>{AFTER}</p></main></body></html>"
        )
        text = convert(page, url=URL, mode="clean").text
        start, end = text.index(BEFORE) + len(BEFORE), text.index(AFTER)
        return text[start:end].strip("\n")

    return markdown


@pytest.fixture
def clean() -> Callable[[str], str]:
    """The `clean` Markdown of a whole page."""
    return lambda page: convert(page, url=URL, mode="clean").text


@pytest.fixture
def full() -> Callable[[str], str]:
    """The `full` Markdown of a whole page."""
    return lambda page: convert(page, url=URL, mode="full").text
