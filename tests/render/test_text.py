"""Text bodies as they are, and feeds as lists."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sift.render import feed, sniff, text

RSS = """<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/"
     xmlns:atom="http://www.w3.org/2005/Atom">
<channel>
  <title>Small News</title>
  <atom:link href="https://news.example/feed.xml" rel="self"/>
  <link>https://news.example/</link>
  <description>All the news that fits</description>
  <item>
    <title><![CDATA[Bridges & <em>Boats</em>]]></title>
    <link>https://news.example/bridges(1)?a=1&amp;b=2</link>
    <pubDate>Sat, 28 Nov 2026 21:30:00 +0100</pubDate>
    <dc:creator>Ada</dc:creator>
    <description>&lt;p&gt;The &lt;b&gt;old&lt;/b&gt; bridge
      &amp;amp; its boats.&lt;/p&gt;&lt;script&gt;x()&lt;/script&gt;</description>
    <content:encoded><![CDATA[<p>The whole article</p>]]></content:encoded>
  </item>
  <item><title>Second</title><guid>https://news.example/2</guid></item>
</channel>
</rss>"""

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom">
  <title type="html">A &amp;amp; B</title>
  <link rel="self" href="https://blog.example/atom"/><link href="https://blog.example/"/>
  <entry>
    <title>One</title>
    <link rel="replies" href="https://blog.example/1#c"/>
    <link rel="alternate" href="https://blog.example/1"/>
    <updated>2026-11-28T10:00:00Z</updated><published>2026-11-27T10:00:00Z</published>
    <author><name>Bo</name><email>bo@blog.example</email></author>
    <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Hello <i>there</i></p></div></content>
  </entry>
</feed>"""

RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
  xmlns:dc="http://purl.org/dc/elements/1.1/">
  <channel rdf:about="x"><title>Old</title><link>http://old.example/</link></channel>
  <item rdf:about="y"><title>First</title><link>http://old.example/1</link><dc:date>2026-01-02T03:04:05+00:00</dc:date></item>
</rdf:RDF>"""


def test_rss_in_clean_is_a_list_of_entries_with_links_dates_and_summaries() -> None:
    shown, title = text.render(RSS, sniff.FEED, mode="clean")
    assert title == "Small News"
    assert shown == (
        "# Small News\n\nAll the news that fits\n\n<https://news.example/>\n\n"
        "- [Bridges & Boats](https://news.example/bridges%281%29?a=1&b=2) – 2026-11-28T20:30:00Z, Ada\n"
        "  The old bridge & its boats.\n"
        "- [Second](https://news.example/2)\n"
    )


def test_atom_in_clean_takes_the_alternate_link_and_the_day_of_publication() -> None:
    shown, title = text.render(ATOM, sniff.FEED, mode="clean")
    assert title == "A & B"
    assert "- [One](https://blog.example/1) – 2026-11-27T10:00:00Z, Bo\n  Hello there\n" in shown


def test_rdf_items_stand_beside_their_channel() -> None:
    shown, _ = text.render(RDF, sniff.FEED, mode="clean")
    assert "- [First](http://old.example/1) – 2026-01-02T03:04:05+00:00\n" in shown


def test_a_feed_in_full_is_as_it_is() -> None:
    assert text.render(RSS, sniff.FEED, mode="full") == (RSS, "Small News")


@pytest.mark.parametrize("kind", [sniff.JSON, sniff.NDJSON, sniff.XML, sniff.CSV, sniff.TEXT, sniff.MARKDOWN])
@pytest.mark.parametrize("mode", ["clean", "full"])
def test_other_text_is_passed_through_to_the_letter(kind: str, mode: str) -> None:
    body = ' {"a":1}\r\n<b>&amp;</b>\tx,"y"\n\n# not a title\n'
    assert text.render(body, kind, mode=mode)[0] == body


def test_the_title_of_markdown_is_its_first_heading() -> None:
    assert text.render("intro\n\n# The Title #\n", sniff.MARKDOWN, mode="clean")[1] == "The Title"
    assert text.render("```\n# code\n```\n", sniff.MARKDOWN, mode="clean")[1] is None


MARKDOWN = """# Guide

See [the docs](https://docs.example/a_(b)) and [them again](https://docs.example/a_(b)), ![not](https://x.example/p.png).

## Use #

```sh
# no heading
```
"""


def test_the_context_of_markdown_has_its_outline_and_links() -> None:
    said = text.context(MARKDOWN, sniff.MARKDOWN, "Guide")
    assert said["title"] == "Guide"
    assert said["outline"] == [{"level": 1, "text": "Guide"}, {"level": 2, "text": "Use"}]
    assert said["links"] == [{"text": "the docs", "url": "https://docs.example/a_(b)"}]
    assert said["author"] is None


def test_the_context_of_a_feed_has_its_entries_links() -> None:
    said = text.context(ATOM, sniff.FEED, "A & B")
    assert said["links"] == [{"text": "One", "url": "https://blog.example/1"}]


def test_the_context_of_plain_text_counts_its_words() -> None:
    assert text.context("three plain words", sniff.TEXT, None)["words"] == 3


def test_the_context_of_hostile_markdown_takes_bounded_time() -> None:
    began = time.process_time()
    for unit in ("```\n", "~~~~a\n", "[", "[a](", "[a](https://b(", "# ", "#"):
        text.context(unit * (300_000 // len(unit)), sniff.MARKDOWN, None)
    assert time.process_time() - began < 5


def test_a_feed_that_breaks_off_gives_what_is_there() -> None:
    shown, _ = text.render(RSS[: RSS.index("<item><title>Second")], sniff.FEED, mode="clean")
    assert "Bridges" in shown


def test_a_feed_with_names_that_are_no_unicode_is_shown_as_it_is() -> None:
    body = "<rss><channel><title>t</title><item><&#xD800;x/></item></channel></rss>"
    assert "t" in text.render(body, sniff.FEED, mode="clean")[0]
    assert text.render("<&#xD800;/>", sniff.FEED, mode="clean") == ("<&#xD800;/>", None)


def test_a_feed_that_is_none_is_shown_as_it_is() -> None:
    assert text.render("<rss", sniff.FEED, mode="clean") == ("<rss", None)
    assert text.render("<a><item/></a>", sniff.FEED, mode="clean") == ("<a><item/></a>", None)


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "data:text/html,x", "https://a.example/ b", "file:///etc/passwd"]
)
def test_a_link_that_is_no_address_is_left_out(address: str) -> None:
    body = f"<rss><channel><item><title>T</title><link>{address}</link></item></channel></rss>"
    assert text.render(body, sniff.FEED, mode="clean")[0] == "- T\n"


def test_a_title_cannot_leave_its_link() -> None:
    body = "<rss><channel><item><title>a](http://evil.example) [b\n# c</title><link>https://ok.example/</link></item></channel></rss>"
    assert (
        "- [a\\](http://evil.example) \\[b # c](https://ok.example/)" in text.render(body, sniff.FEED, mode="clean")[0]
    )


def test_entities_are_not_expanded_and_files_not_read() -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    body = (
        f'<!DOCTYPE rss [<!ENTITY l0 "lol"><!ENTITY f SYSTEM "file:///etc/passwd">{laughs}]>'
        "<rss><channel><title>t &l11; &f;</title><item><title>x</title></item></channel></rss>"
    )
    shown, _ = text.render(body, sniff.FEED, mode="clean")
    assert "root:" not in shown
    assert len(shown) < 1000


@pytest.mark.parametrize(
    "body",
    [
        "<rss>" + "<a>" * 50_000,
        "<rss><channel>" + "<item><title>x</title></item>" * 15_000,
        "<rss><channel><item><title>" + "&lt;" * 200_000,
        "<rss><channel><item><description>" + "&lt;!--" * 100_000 + "</description></item></channel></rss>",
        "<rss " + "a='b' " * 100_000 + ">",
    ],
)
def test_big_and_deep_feeds_take_bounded_time(body: str) -> None:
    began = time.process_time()
    text.render(body, sniff.FEED, mode="clean")
    assert time.process_time() - began < 3


def test_entries_beyond_the_limit_are_counted() -> None:
    body = "<rss><channel>" + "<item><title>x</title></item>" * (feed.ENTRIES_MAX + 5) + "</channel></rss>"
    assert "… and 5 more entries" in text.render(body, sniff.FEED, mode="clean")[0]


@settings(max_examples=100, deadline=None)
@given(
    st.text(max_size=200).map(lambda t: t.encode("utf-8", "replace").decode()),
    st.sampled_from([sniff.FEED, sniff.MARKDOWN]),
)
def test_any_text_gives_text(body: str, kind: str) -> None:
    shown, _ = text.render(f"<rss><channel>{body}", kind, mode="clean")
    shown.encode()
