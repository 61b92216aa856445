"""Which meta refreshes send a reader on, and where."""

from __future__ import annotations

import pytest

from sift.render.html import refresh_target

URL = "https://site.example/dir/page"


def target(content: str, before: str = "") -> str | None:
    return refresh_target(f'<html><head>{before}<meta http-equiv="Refresh" content="{content}"></head>', url=URL)


@pytest.mark.parametrize(
    ("content", "address"),
    [
        ("0; url=/new", "https://site.example/new"),
        ("0;URL='next.html'", "https://site.example/dir/next.html"),
        (" 0 ; url = https://o.example/x ", "https://o.example/x"),
        ("0, /comma", "https://site.example/comma"),
        ("0 /space", "https://site.example/space"),
        ("0.5; url=/part", "https://site.example/part"),
        (".5; url=/part", "https://site.example/part"),
        ("00;url=/zero", "https://site.example/zero"),
        ("0;url=&quot;/q&quot; tail", "https://site.example/q"),
        ("5; url=/later", None),
        ("0", None),
        ("0;", None),
        ("0; url=", None),
        ("; url=/none", None),
        ("x; url=/none", None),
        ("0; url=javascript:x()", None),
        ("0; url=ftp://o.example/", None),
        ("0; url=#here", None),
        ("0; url=https://site.example/dir/page", None),
        ("99999999999999999999; url=/x", None),
    ],
)
def test_a_refresh_of_no_seconds_leads_on(content: str, address: str | None) -> None:
    assert target(content) == address


def test_base_is_honoured() -> None:
    assert target("0; url=x", '<base href="https://b.example/y/">') == "https://b.example/y/x"


def test_a_refresh_for_readers_without_scripts_is_not_followed() -> None:
    page = '<noscript><meta http-equiv="refresh" content="0; url=/no"></noscript>'
    assert refresh_target(page, url=URL) is None


def test_a_refresh_in_a_comment_or_script_is_not_followed() -> None:
    meta = "<meta http-equiv=refresh content='0;url=/a'>"
    assert refresh_target(f'<!-- {meta} --><script>"{meta}"</script>', url=URL) is None


def test_the_first_refresh_counts() -> None:
    assert target("0; url=/two", '<meta http-equiv="refresh" content="0; url=/one">') == "https://site.example/one"
