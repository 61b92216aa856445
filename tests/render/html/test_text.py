"""Headings, links, emphasis, and characters that Markdown would read as marks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Markdown = Callable[..., str]


@pytest.mark.parametrize(
    "piece",
    [
        '<h2 id="a"><a href="#a">Alpha</a></h2>',
        '<h2 id="a">Alpha<a class="headerlink" href="#a">¶</a></h2>',
        '<h2><a class="anchor" href="#a" aria-hidden="true"><svg></svg></a>Alpha</h2>',
        '<h2>Alpha <a href="#a">#</a></h2>',
        '<h2><a name="x"></a>Alpha</h2>',
        '<h2><b>Alpha</b><span class="mw-editsection">[<a href="/e">edit</a>]</span></h2>',
    ],
)
def test_a_heading_with_an_anchor_is_its_text(inside: Markdown, piece: str) -> None:
    assert inside(piece) == "## Alpha"


def test_a_heading_that_links_elsewhere_keeps_its_link_and_code(inside: Markdown) -> None:
    assert inside('<h3><a href="/x">Go</a> <code>a_b</code></h3>') == "### [Go](https://site.example/x) `a_b`"


@pytest.mark.parametrize(
    ("href", "address"),
    [
        ("../up", "https://site.example/up"),
        ("//cdn.example/x", "https://cdn.example/x"),
        ("a b.html", "https://site.example/dir/a%20b.html"),
        ("mailto:a@b.example", "mailto:a@b.example"),
        (" https://x.example/(a) ", "https://x.example/%28a%29"),
        ("#f", "https://site.example/dir/page.html?x=1#f"),
        ("?q=1", "https://site.example/dir/page.html?q=1"),
        ("ht\ntps://x.example/", "https://x.example/"),
    ],
)
def test_links_are_absolute(inside: Markdown, href: str, address: str) -> None:
    assert inside(f'<p>See <a href="{href}">this</a>.</p>') == f"See [this]({address})."


@pytest.mark.parametrize(
    "href", ["javascript:x()", " JavaScript:x()", "data:text/html,x", "vbscript:x", "", "http://[", "file:///etc/x"]
)
def test_what_is_no_link_for_a_reader_is_its_text(inside: Markdown, href: str) -> None:
    assert inside(f'<p>See <a href="{href}">this</a>.</p>') == "See this."


def test_base_is_honoured(inside: Markdown) -> None:
    assert inside('<p><a href="y">y</a></p>', '<base href="https://b.example/x/">') == "[y](https://b.example/x/y)"


def test_a_picture_in_a_link_is_both(inside: Markdown) -> None:
    text = inside('<p><a href="/p"><img src="i.png" alt="pic"></a></p>')
    assert text == "[![pic](https://site.example/dir/i.png)](https://site.example/p)"


def test_a_link_around_blocks_marks_the_first(inside: Markdown) -> None:
    text = inside('<a href="/c"><h3>Card</h3><p>What it says</p></a>')
    assert text == "### [Card](https://site.example/c)\n\nWhat it says"


def test_links_in_links_end_the_outer_one(inside: Markdown) -> None:
    text = inside('<p><a href="/a">one <a href="/b">two</a></p>')
    assert text == "[one](https://site.example/a) [two](https://site.example/b)"


@pytest.mark.parametrize(
    ("piece", "text"),
    [
        ("a<b> bold </b>b", "a **bold** b"),
        ("<i>it</i>al", "*it*al"),
        ("<b>x</b><b>y</b>", "**xy**"),
        ("<b><i>bi</i></b>", "***bi***"),
        ("one <em></em>two", "one two"),
        ("<b>one</b> <i>two</i>", "**one** *two*"),
        ("<strong>a<br>b</strong>", "**a**  \n**b**"),
        ("<del>old</del> <ins>new</ins>", "~~old~~ new"),
        ("<b>a <b>b</b></b>", "**a b**"),
    ],
)
def test_emphasis_loses_no_space(inside: Markdown, piece: str, text: str) -> None:
    assert inside(f"<p>{piece}</p>") == text


def test_text_after_an_empty_inline_element_is_kept(inside: Markdown) -> None:
    assert inside('<p><a name="x"></a>after <i></i>more <span></span>rest <b/>end</p>').startswith("after more rest")


@pytest.mark.parametrize(
    ("piece", "text"),
    [
        ("# no heading", "\\# no heading"),
        ("1. no list", "1\\. no list"),
        ("- no item", "\\- no item"),
        ("&gt; no quote", "\\> no quote"),
        ("---", "\\---"),
        ("2*3*4", "2\\*3\\*4"),
        ("snake_case_name", "snake_case_name"),
        ("__init__", "\\_\\_init\\_\\_"),
        ("a &lt;b&gt; c, 5 &lt; 6", "a \\<b> c, 5 < 6"),
        ("&amp;lt; AT&amp;T", "&amp;lt; AT&T"),
        ("a`b", "a\\`b"),
        ("[x](y)", "[x\\](y)"),
    ],
)
def test_characters_are_escaped_where_markdown_would_read_them(inside: Markdown, piece: str, text: str) -> None:
    assert inside(f"<p>{piece}</p>") == text


def test_white_space_collapses_and_line_breaks_stay(inside: Markdown) -> None:
    assert inside("<p>one\n   two&nbsp; three<br>four<br><br>five</p>") == "one two three  \nfour\n\nfive"


def test_exponents_keep_their_sense(inside: Markdown) -> None:
    assert inside("<p>10<sup>6</sup> H<sub>2</sub>O 1<sup>st</sup></p>") == "10^6 H2O 1st"


def test_hidden_text_is_left_out(inside: Markdown) -> None:
    hidden = (
        "<p hidden>h1</p><p style='display: none'>h2</p><p aria-hidden=true>h3</p><template>h4</template>"
        "<script>h5</script><noscript>h6</noscript><p style='x:y;VISIBILITY:hidden'>h7</p><dialog>h8</dialog>"
        "<style>h9</style><textarea>h10</textarea><!-- h11 -->"
    )
    assert inside(f"{hidden}<p>seen</p>") == "seen"


def test_what_scripts_show_first_is_not_taken_for_hidden(inside: Markdown) -> None:
    assert inside('<p style="display:block">one</p><details><summary>More</summary><p>two</p></details>') == (
        "one\n\n**More**\n\ntwo"
    )


def test_ruby_quotes_and_keys_read_well(inside: Markdown) -> None:
    assert inside("<p><ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby> <q>quo</q> <kbd>Ctrl</kbd>+<kbd>C</kbd></p>") == (
        "漢(kan) “quo” `Ctrl`+`C`"
    )
