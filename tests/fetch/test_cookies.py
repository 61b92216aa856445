"""The cookie jar of one fetch."""

import pytest

from sift.config import GuardConfig
from sift.fetch.cookies import Jar
from sift.guard import CheckedUrl, Guard

NOW = 1_800_000_000.0


def at(url: str) -> CheckedUrl:
    return Guard(GuardConfig()).check_url(url)


def sent(set_cookie: str | list[str], to: str, origin: str = "https://a.example.org/dir/page") -> str | None:
    jar = Jar()
    jar.take(at(origin), [set_cookie] if isinstance(set_cookie, str) else set_cookie, NOW)
    return jar.header(at(to))


@pytest.mark.parametrize(
    ("set_cookie", "to", "expected"),
    [
        ("a=1", "https://a.example.org/dir/other", "a=1"),
        ("a=1", "https://a.example.org/dir", "a=1"),
        ("a=1", "https://a.example.org/", None),
        ("a=1; Path=/", "https://a.example.org/", "a=1"),
        ("a=1; path=/x", "https://a.example.org/x/y", "a=1"),
        ("a=1; path=/x", "https://a.example.org/xy", None),
        ("a=1; Path=/", "https://b.example.org/", None),
        ("a=1; Path=/; Domain=example.org", "https://example.org/", None),
        ("a=1; Path=/; Secure", "http://a.example.org/", None),
        ("a=1; Path=/", "http://a.example.org/", "a=1"),
        ("a=1; Path=/; Max-Age=0", "https://a.example.org/", None),
        ("a=1; Path=/; Max-Age=-1", "https://a.example.org/", None),
        ("a=1; Path=/; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "https://a.example.org/", "a=1"),
        ("a=1; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "https://a.example.org/", None),
        ("a=1; Path=/; Expires=nonsense", "https://a.example.org/", "a=1"),
        ("a=x=y; Path=/", "https://a.example.org/", "a=x=y"),
        ("a=日; Path=/", "https://a.example.org/", "a=日".encode().decode("latin-1")),
        ("nonsense; Path=/", "https://a.example.org/", None),
        ("=1; Path=/", "https://a.example.org/", None),
        ("a=1\x00; Path=/", "https://a.example.org/", None),
        ("", "https://a.example.org/", None),
    ],
)
def test_a_cookie_goes_where_it_belongs(set_cookie: str, to: str, expected: str | None) -> None:
    assert sent(set_cookie, to) == expected


def test_the_last_of_one_name_counts() -> None:
    assert sent(["a=1; Path=/", "a=2; Path=/", "b=3; Path=/"], "https://a.example.org/") == "a=2; b=3"


def test_an_ended_cookie_is_dropped() -> None:
    assert sent(["a=1; Path=/", "a=; Path=/; Max-Age=0"], "https://a.example.org/") is None


def test_a_jar_is_bounded() -> None:
    assert len((sent([f"n{i}=1; Path=/" for i in range(500)], "https://a.example.org/") or "").split("; ")) == 50
    assert sent(f"a={'x' * 9000}; Path=/", "https://a.example.org/") is None


def test_only_a_changed_jar_has_another_state() -> None:
    jar = Jar()
    jar.take(at("http://a.example.org/"), ["a=1"], NOW)
    before = jar.state
    jar.take(at("http://a.example.org/"), ["a=1"], NOW)

    assert jar.state == before
    jar.take(at("http://a.example.org/"), ["a=2"], NOW)
    assert jar.state != before
