"""No input breaks the room: deep, wide and torn pages give their text, and never what is no Unicode."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sift.render.html import convert, refresh_target

URL = "https://site.example/dir/page"
DEEP = {
    "elements": "<div>" * 5000 + "the words" + "</div>" * 5000,
    "marks": "<b>" * 5000 + "the words",
    "mixed": "<div><b><p><i><span>" * 2000 + "the words",
    "spans": "<p>" + "<span>w </span>" * 100_000 + "the words",
    "lists": "<ul><li>item " * 3000 + "the words" + "</li></ul>" * 3000,
    "quotes": "<blockquote>q " * 3000 + "the words",
    "tables": "<table><tr><td>c " * 3000 + "the words",
    "definitions": "<dl><dt>t<dd>d " * 3000 + "the words",
    "links": "<a href=/x>q " * 5000 + "the words",
    "headings": "<h1>" * 3000 + "the words",
    "formulas": "<p>x<math>" + "<mrow>" * 3000 + "<mi>y</mi>" + "</mrow>" * 3000 + "</math> the words",
    "rowspans": "<table>" + "<tr><td rowspan=65534 colspan=1000>a</td><td>b</td></tr>" * 500 + "</table>the words",
    "frames": "<iframe src=x></iframe>" * 5000 + "the words",
}


@pytest.mark.parametrize("mode", ["clean", "full"])
@pytest.mark.parametrize("name", DEEP)
def test_deep_and_wide_pages_give_their_text(name: str, mode: str) -> None:
    page = convert(DEEP[name], url=URL, mode=mode, context=True)
    assert "the words" in page.text


def test_deep_lists_do_not_grow_with_the_square_of_their_depth() -> None:
    page = DEEP["lists"]
    assert len(convert(page, url=URL, mode="clean").text) < 2 * len(page)


TORN = [
    "", "\x00", "<", "<a", "<!--", "<![CDATA[", "&", "&#xD800;", "&#0;", "\ud800",
    "<p \ud800='\udfff'>\udc00", "\ufeff<p>x",
    "<meta charset=utf-16><p>x", "<?xml version='1.0' encoding='utf-16'?><p>x",
    "<base href='http://['><a href='//['>x</a>",
]  # fmt: skip


@pytest.mark.parametrize("torn", TORN)
@pytest.mark.parametrize("mode", ["clean", "full", "links"])
def test_torn_pages_give_valid_unicode(torn: str, mode: str) -> None:
    page = convert(torn, url=URL, mode=mode, context=True)
    assert "\x00" not in page.text
    page.text.encode()


def test_surrogates_and_nuls_never_come_out() -> None:
    page = convert(
        "<title>a\ud800b\x00</title><h1>\udfff</h1><p>x\x00y\ud83dz</p><a href='/\ud800'>l</a>",
        url=URL,
        mode="full",
        context=True,
    )
    assert page.context is not None
    said = f"{page.title}{page.text}{page.context}"
    said.encode()
    assert "\x00" not in said


PIECES = st.sampled_from(
    [
        "<div>",
        "</div>",
        "<p>",
        "</p>",
        "<table>",
        "<tr>",
        "<td>",
        "<th>",
        "</table>",
        "<ul>",
        "<li>",
        "</ul>",
        "<pre>",
        "</pre>",
        "<code>",
        "</code>",
        "<a\thref='/x'>",
        "</a>",
        "<b>",
        "</b>",
        "<h1>",
        "<h2>",
        "</h2>",
        "<dl>",
        "<dt>",
        "<dd>",
        "<br>",
        "<hr>",
        "<img\tsrc='i'\talt='[]('>",
        "<figure>",
        "<figcaption>",
        "<blockquote>",
        "<details>",
        "<summary>",
        "<math>",
        "<sup>",
        "</sup>",
        "<article>",
        "<main>",
        "<nav>",
        "<script>",
        "</script>",
        "<style>",
        "<template>",
        "<noscript>",
        "<form>",
        "<input\ttype=checkbox>",
        "<td\trowspan=9\tcolspan=9>",
        "<body>",
        "<html>",
        "<head>",
        "<base\thref='x'>",
        "<frameset>",
        "<svg>",
        "|",
        "`",
        "```",
        "*",
        "_",
        "[",
        "]",
        "(",
        ")",
        "#",
        ">",
        "1.",
        "-",
        "+",
        "~~",
        "\\",
        "&",
        "&lt;",
        "&#0;",
        "word",
        "longer\twords",
    ]
).map(lambda piece: piece.replace("\t", " "))
PAGES = st.lists(st.one_of(PIECES, st.text(max_size=12)), max_size=60).map("".join)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(page=PAGES, mode=st.sampled_from(["clean", "full", "links"]))
def test_any_page_gives_valid_text(page: str, mode: str) -> None:
    found = convert(page, url=URL, mode=mode, context=True)
    f"{found.text}{found.title}{found.context}".encode()
    assert "\x00" not in found.text
    refresh_target(page, url=URL)


@settings(max_examples=150, deadline=None)
@given(words=st.lists(st.from_regex(r"[a-z]{1,9}", fullmatch=True), min_size=1, max_size=30), depth=st.integers(0, 40))
def test_visible_words_survive_any_nesting(words: list[str], depth: int) -> None:
    page = "<div><span>" * depth + " ".join(words) + "</span></div>" * depth
    assert convert(page, url=URL, mode="full").text == " ".join(words)
