"""`context`: what a page says about itself, JSON-LD first, and nothing made up."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sift.render.html import convert

URL = "https://site.example/2019/11/19/storm"


def context(head: str, body: str = "<p>Text.</p>", html: str = "<html>") -> dict[str, Any]:
    page = f"<!doctype html>{html}<head>{head}</head><body>{body}</body></html>"
    found = convert(page, url=URL, mode="clean", context=True).context
    assert found is not None
    return found


def ld(**keys: Any) -> str:
    return f'<script type="application/ld+json">{json.dumps(keys)}</script>'


def test_json_ld_wins_over_meta_elements() -> None:
    found = context(
        ld(
            **{"@type": "NewsArticle"},
            headline="A &amp; B",
            datePublished="2019-11-19T06:21:00Z",
            author=[{"@type": "Person", "name": "Ann Other"}, {"name": "Bo Third"}],
            description="From the data",
            publisher={"name": "The Paper"},
        )
        + '<meta property="og:title" content="Other"><meta name="author" content="Nobody">'
        '<meta property="article:published_time" content="2001-01-01">'
    )
    assert found["title"] == "A & B"
    assert found["published"] == "2019-11-19T06:21:00+00:00"
    assert found["author"] == "Ann Other, Bo Third"
    assert found["description"] == "From the data"
    assert found["site"] == "The Paper"


def test_json_ld_in_a_graph_is_found() -> None:
    graph = {"@graph": [{"@type": "WebSite", "name": "Site"}, {"@type": ["BlogPosting"], "headline": "Deep"}]}
    assert context(f'<script type="application/ld+json">{json.dumps(graph)}</script>')["title"] == "Deep"


@pytest.mark.parametrize(
    "broken", ["{", "[" * 100_000, '{"@type": 7, "headline": ["x"]}', "null", '"\ud83d"', "{'a': 1}"]
)
def test_broken_json_ld_is_passed_over(broken: str) -> None:
    assert context(f'<script type="application/ld+json">{broken}</script><title>T</title>')["title"] == "T"


def test_opengraph_and_meta_elements_are_read() -> None:
    found = context(
        '<title>T</title><meta property="og:title" content="OG"><meta property="og:site_name" content="S">'
        '<meta name="description" content="D"><meta name="author" content="By Ann Other">'
        '<meta property="article:published_time" content="2019-11-19T06:21:00-0500"><link rel="canonical" href="/c">',
        html='<html lang="pt_BR">',
    )
    assert found["title"] == "OG"
    assert found["site"] == "S"
    assert found["description"] == "D"
    assert found["author"] == "Ann Other"
    assert found["published"] == "2019-11-19T06:21:00-05:00"
    assert found["canonical"] == "https://site.example/c"
    assert found["language"] == "pt-BR"


@pytest.mark.parametrize(
    ("said", "iso"),
    [
        ("2019-11-19", "2019-11-19"),
        ("20191119", "2019-11-19"),
        ("2019-11-19 06:21", "2019-11-19T06:21:00"),
        ("November 19, 2019", "2019-11-19"),
        ("19 Nov 2019", "2019-11-19"),
        ("Tue, 19 Nov 2019 10:00:00 GMT", "2019-11-19"),
        ("2019/11/19", "2019-11-19"),
        ("2019-02-30", None),
        ("19/11/12", None),
        ("yesterday", None),
        ("0001-01-01", None),
    ],
)
def test_dates_are_iso_or_absent(said: str, iso: str | None) -> None:
    assert context(f'<meta property="article:published_time" content="{said}">')["published"] == iso


def test_marked_up_dates_and_authors_are_read() -> None:
    found = context("", '<a rel="author" href="/a">Ann Other</a><time datetime="2019-11-19T01:00Z">a year ago</time>')
    assert found["author"] == "Ann Other"
    assert found["published"] == "2019-11-19T01:00:00+00:00"


def test_of_several_different_times_none_is_taken() -> None:
    assert context("", "<time datetime=2019-11-19></time><time datetime=2020-01-02></time>")["published"] is None


def test_what_a_page_does_not_say_is_absent() -> None:
    found = context("")
    assert {key for key, value in found.items() if value is None} == {
        "title", "description", "author", "published", "site", "language", "canonical",
    }  # fmt: skip


def test_outline_links_and_words() -> None:
    found = context(
        "", "<nav><h2>Menu</h2></nav><h1>One</h1><p>two <a href='/x'>three</a></p><h3>Four  five<a href='#x'>#</a></h3>"
    )
    assert found["outline"] == [{"level": 1, "text": "One"}, {"level": 3, "text": "Four five"}]
    assert found["links"] == [{"text": "three", "url": "https://site.example/x"}]
    assert found["words"] == 9
