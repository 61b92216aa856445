"""`full` is the whole visible page in its order; `links` each link once."""

from __future__ import annotations

from collections.abc import Callable

from sift.render.html import convert, title

PAGE = """<html><head><title>T</title></head><body><nav><a href="/">Home</a></nav>
<main><h1>Head</h1><p>Text with a <a href="/x?a=1&amp;b=2">link</a>.</p><a href="/x?a=1&b=2">again</a>
<a href="#here">here</a><a href="javascript:x()">js</a><a href="mailto:a@b.example">mail</a>
<a href="/img"><img src="i.png" alt="a  picture"></a><a href="/icon" aria-label="Icon"></a><a href="/x">two
lines</a></main><p hidden><a href="/hidden">no</a></p><footer>Foot <button>Push</button></footer></body></html>"""


def test_full_is_everything_visible_in_order(full: Callable[[str], str]) -> None:
    text = full(PAGE)
    places = [text.index(part) for part in ("Home", "# Head", "Text with a", "again", "mail", "Foot", "Push")]
    assert places == sorted(places)
    assert "/hidden" not in text


def test_links_are_absolute_each_once_with_their_text() -> None:
    text = convert(PAGE, url="https://site.example/dir/", mode="links").text
    assert text.split("\n") == [
        "https://site.example/\tHome",
        "https://site.example/x?a=1&b=2\tlink",
        "mailto:a@b.example\tmail",
        "https://site.example/img\ta picture",
        "https://site.example/icon\tIcon",
        "https://site.example/x\ttwo lines",
    ]


def test_a_link_without_text_takes_the_text_of_a_later_one() -> None:
    text = convert(
        '<a href="/a"></a><a href="/b">b</a><a href="/a">words</a>', url="https://s.example/", mode="links"
    ).text
    assert text == "https://s.example/a\twords\nhttps://s.example/b\tb"


def test_the_title_is_the_pages_headline() -> None:
    assert title("<title> A &amp; B </title>") == "A & B"
    assert title('<title>x - Site</title><meta property="og:title" content="x">') == "x"
    assert title("<p>none</p>") is None
    assert title("<svg><title>drawing</title></svg><h1>Head</h1>") == "Head"


def test_no_context_is_made_where_none_is_asked_for() -> None:
    assert convert(PAGE, url="https://s.example/", mode="clean").context is None
