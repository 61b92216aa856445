"""Ordinary fetching: what is sent, what a page holds, redirects, cookies, revalidation, meta refresh."""

from collections.abc import Callable
from typing import Any

import pytest

from sift.clock import Clock, Deadline
from sift.errors import Blocked, TooLong, Unreachable, UpstreamStatus
from sift.target import Page
from tests.support.hostile import Hostile, Peer, always, fields_of, pages, reply

Serve = Callable[..., Hostile]
HTML = {"Content-Type": "text/html"}


def test_a_page_is_what_the_site_sent(get: Any, serve: Serve) -> None:
    site = serve(always(reply(b"<p>hi", fields={"Content-Type": "text/html", "X-A": "1", "x-a": "2"})))

    page = get(site, "HTTP://Site.Example.org:80/a b#top")

    assert (page.url, page.final_url) == ("HTTP://Site.Example.org:80/a b#top", "http://site.example.org/a%20b")
    assert (page.status, page.body) == (200, b"<p>hi")
    assert page.headers == {"content-type": "text/html", "x-a": "2", "content-length": "5"}
    assert abs(page.fetched_at - Clock().now()) < 5


def test_a_request_names_sift_asks_for_markdown_first_and_keeps_no_connection(get: Any, serve: Serve) -> None:
    site = serve(always(reply(b"x")))

    get(site, user_agent="reader/1.0")

    assert site.requests[0].startswith(b"GET / HTTP/1.1\r\nHost: site.example.org\r\n")
    fields = fields_of(site.requests[0])
    assert fields["user-agent"] == "reader/1.0"
    assert fields["accept"].startswith("text/markdown, ")
    assert fields["accept-encoding"] == "gzip, deflate, br, zstd"
    assert fields["connection"] == "close"
    assert set(fields) == {"host", "user-agent", "accept", "accept-encoding", "connection"}


def test_proxies_and_netrc_of_the_environment_are_not_used(
    get: Any, serve: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    (tmp_path / "netrc").write_text("machine site.example.org login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    site = serve(always(reply(b"x")))

    assert get(site).body == b"x"
    assert "authorization" not in fields_of(site.requests[0])


def test_the_host_field_has_the_port_where_it_is_not_the_schemes_own(get: Any, serve: Serve, net: Any) -> None:
    net.sites[443] = site = serve(always(reply(b"x")))

    get(None, "http://site.example.org:443/")

    assert fields_of(site.requests[0])["host"] == "site.example.org:443"


def test_an_international_url_goes_out_in_ascii(get: Any, serve: Serve) -> None:
    site = serve(always(reply(b"x")))

    page = get(site, "http://bücher.example/straße?q=日本")

    assert site.requests[0].startswith(
        b"GET /stra%C3%9Fe?q=%E6%97%A5%E6%9C%AC HTTP/1.1\r\nHost: xn--bcher-kva.example\r\n"
    )
    assert page.final_url == "http://xn--bcher-kva.example/stra%C3%9Fe?q=%E6%97%A5%E6%9C%AC"


@pytest.mark.parametrize(
    "target",
    ["//b//c", "/%zz", "/100%", "/a|b?c|d", "/%e9?q=%2f", "/a?", "/?q=%27x%27", "/a[1]?b[]=1", "/?a={}", "/@x/:y"],
)
def test_the_target_that_was_judged_is_the_one_that_is_sent(target: str, get: Any, serve: Serve) -> None:
    site = serve(always(reply(b"x")))

    page = get(site, f"http://site.example.org{target}")

    assert site.requests[0].split(b" ")[1].decode() == target
    assert page.final_url == f"http://site.example.org{target}"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 418, 429, 451, 500, 503, 599])
def test_an_error_of_the_site_is_its_status(status: int, get: Any, serve: Serve) -> None:
    with pytest.raises(UpstreamStatus) as caught:
        get(serve(always(reply(b"sorry", status=status))))

    assert caught.value.status == status
    assert str(caught.value) == f"upstream_{status // 100}xx: the site answered {status}"


@pytest.mark.parametrize("status", [200, 201, 202, 203, 226])
def test_any_2xx_is_a_page(status: int, get: Any, serve: Serve) -> None:
    assert get(serve(always(reply(b"x", status=status)))).status == status


def test_control_characters_in_headers_do_not_reach_the_page(get: Any, serve: Serve) -> None:
    site = serve(
        always(b"HTTP/1.1 200 OK\r\nContent-Type: text/\x1b[31mhtml\x00; a\r\nX: \x9b\r\nContent-Length: 1\r\n\r\nx")
    )

    page = get(site)

    assert page.headers["content-type"] == "text/ [31mhtml ; a"
    assert page.headers["x"] == ""


def test_a_body_of_exactly_the_limit_passes_and_a_byte_more_does_not(get: Any, serve: Serve) -> None:
    assert len(get(serve(always(reply(b"x" * 1000))), max_bytes=1000).body) == 1000
    with pytest.raises(TooLong):
        get(serve(always(reply(b"x" * 1001))), max_bytes=1000)


def test_a_latin_1_location_is_read_as_such(get: Any, serve: Serve) -> None:
    moved = b"HTTP/1.1 302 X\r\nLocation: /caf\xe9\r\nContent-Length: 0\r\n\r\n"
    site = serve(pages({"/": moved, "/caf%C3%A9": reply(b"x")}))

    assert get(site).final_url == "http://site.example.org/caf%C3%A9"


@pytest.mark.parametrize("location", [b"http://other.example.org\t/", b"/a\x00b", b"/a\x1b", b"http://a\\b/"])
def test_a_location_is_judged_as_it_came(location: bytes, get: Any, serve: Serve) -> None:
    site = serve(always(b"HTTP/1.1 302 X\r\nLocation: " + location + b"\r\nContent-Length: 0\r\n\r\n"))

    with pytest.raises(Blocked):
        get(site)
    assert len(site.requests) == 1


def test_two_different_locations_are_followed_nowhere(get: Any, serve: Serve) -> None:
    site = serve(always(b"HTTP/1.1 302 X\r\nLocation: /a\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n"))

    with pytest.raises(Unreachable, match="more than one Location"):
        get(site)


def test_no_redirect_is_followed_where_none_is_allowed(get: Any, serve: Serve) -> None:
    site = serve(pages({"/": reply(status=302, fields={"Location": "/a"}), "/a": reply(b"x")}))

    with pytest.raises(Unreachable, match="more than 0 redirects"):
        get(site, max_redirects=0)


class TestCookies:
    def test_the_host_that_set_one_gets_it_back_on_the_next_hop(self, get: Any, serve: Serve) -> None:
        first = reply(status=302, fields={"Location": "/a", "Set-Cookie": "sid=1; Path=/; HttpOnly"})
        site = serve(pages({"/": first, "/a": reply(b"x")}))

        page = get(site)

        assert fields_of(site.requests[1])["cookie"] == "sid=1"
        assert "cookie" not in fields_of(site.requests[0])
        assert "set-cookie" not in page.headers

    def test_another_host_does_not_even_where_the_domain_says_so(self, get: Any, serve: Serve) -> None:
        first = reply(
            status=302, fields={"Location": "http://b.example.org/a", "Set-Cookie": "s=1; Domain=example.org"}
        )
        site = serve(pages({"/": first, "/a": reply(b"x")}))

        get(site)

        assert "cookie" not in fields_of(site.requests[1])

    def test_the_next_fetch_starts_without(self, net: Any, slots: Any, serve: Serve) -> None:
        site = serve(always(reply(b"x", fields={"Set-Cookie": "sid=1; Path=/"})))
        fetcher = net.fetcher(site)

        for _ in range(2):
            fetcher.get("http://site.example.org/", deadline=Deadline(2), slots=slots)

        assert all("cookie" not in fields_of(request) for request in site.requests)

    def test_a_site_that_redirects_to_itself_until_the_cookie_is_there_is_no_loop(self, get: Any, serve: Serve) -> None:
        def script(peer: Peer) -> None:
            if b"Cookie: seen=1" in peer.request():
                peer.send(reply(b"welcome"))
            else:
                peer.send(reply(status=302, fields={"Location": "/", "Set-Cookie": "seen=1"}))

        assert get(serve(script)).body == b"welcome"


class TestRevalidation:
    def test_validators_are_sent_and_a_304_gives_the_copy_back_as_of_now(
        self, get: Any, serve: Serve, page: Any
    ) -> None:
        known = page(
            headers={"etag": '"v1"', "last-modified": "Sun, 29 Nov 2026 10:00:00 GMT", "content-type": "text/html"}
        )
        site = serve(always(reply(status=304, fields={"Cache-Control": "max-age=60", "Content-Type": "text/plain"})))

        fresh = get(site, known=known)

        fields = fields_of(site.requests[0])
        assert (fields["if-none-match"], fields["if-modified-since"]) == ('"v1"', "Sun, 29 Nov 2026 10:00:00 GMT")
        assert fresh.body == b"old"
        assert fresh.fetched_at > known.fetched_at + 900
        assert fresh.headers["cache-control"] == "max-age=60"
        assert fresh.headers["content-type"] == "text/html"

    def test_a_200_replaces_the_copy(self, get: Any, serve: Serve, page: Any) -> None:
        assert get(serve(always(reply(b"new"))), known=page(headers={"etag": '"v1"'})).body == b"new"

    def test_another_url_does_not_see_the_validators(self, get: Any, serve: Serve, page: Any) -> None:
        known = page(headers={"etag": '"v1"'}, url="http://site.example.org/final")
        first = reply(status=302, fields={"Location": "/final"})
        site = serve(pages({"/": first, "/final": reply(status=304)}))

        fresh = get(site, known=known)

        assert "if-none-match" not in fields_of(site.requests[0])
        assert fields_of(site.requests[1])["if-none-match"] == '"v1"'
        assert (fresh.url, fresh.final_url) == ("http://site.example.org/", "http://site.example.org/final")

    def test_a_304_for_a_copy_without_validators_is_not_followed(self, get: Any, serve: Serve, page: Any) -> None:
        with pytest.raises(Unreachable, match="answered 304, which is not followed"):
            get(serve(always(reply(status=304))), known=page())


class TestMetaRefresh:
    PAGE = reply(b'<meta http-equiv="Refresh" content="0;url=/next">', fields=HTML)

    def test_it_is_followed_as_a_hop_with_no_slot_held_while_asking(self, get: Any, serve: Serve, slots: Any) -> None:
        site = serve(pages({"/": self.PAGE, "/next": reply(b"there", fields=HTML)}))
        held_while_asked = []

        def refresh(page: Page) -> str | None:
            held_while_asked.append(slots.held)
            return "/next"

        page = get(site, refresh=refresh)

        assert (page.body, page.final_url) == (b"there", "http://site.example.org/next")
        assert held_while_asked == [None]
        assert slots.events == ["site.example.org", "-", "site.example.org", "-"]

    def test_a_page_without_one_costs_no_question(self, get: Any, serve: Serve) -> None:
        def refresh(page: Page) -> str | None:
            raise AssertionError("asked")

        get(serve(always(reply(b"<p>http-equiv", fields=HTML))), refresh=refresh)
        get(
            serve(always(reply(b'<meta http-equiv="refresh">', fields={"Content-Type": "text/plain"}))), refresh=refresh
        )
        late = b" " * 262_144 + b'<meta http-equiv="refresh">'
        get(serve(always(reply(late, fields=HTML))), refresh=refresh)

    def test_none_means_the_page_itself(self, get: Any, serve: Serve) -> None:
        assert get(serve(always(self.PAGE)), refresh=lambda page: None).body.startswith(b"<meta")

    @pytest.mark.parametrize("target", ["http://127.0.0.1/", "http://localhost/", "file:///etc/passwd", "//10.0.0.1/"])
    def test_it_passes_the_guard_like_any_hop(self, target: str, get: Any, serve: Serve) -> None:
        with pytest.raises(Blocked):
            get(serve(always(self.PAGE)), refresh=lambda page: target)

    def test_a_circle_of_them_ends_at_once(self, get: Any, serve: Serve) -> None:
        site = serve(always(self.PAGE))

        with pytest.raises(Unreachable, match="redirect loop"):
            get(site, refresh=lambda page: "/next" if page.final_url.endswith("/") else "/")
        assert len(site.requests) == 2

    def test_each_counts_as_a_redirect(self, get: Any, serve: Serve) -> None:
        numbers = iter(range(100))

        with pytest.raises(Unreachable, match="more than 3 redirects"):
            get(serve(always(self.PAGE)), refresh=lambda page: f"/{next(numbers)}", max_redirects=3)

    def test_asking_does_not_count_against_the_deadline(self, net: Any, slots: Any, serve: Serve) -> None:
        now = [0.0]
        site = serve(always(self.PAGE))

        def refresh(page: Page) -> str | None:
            now[0] += 100
            return None

        deadline = Deadline(1.0, lambda: now[0])
        net.fetcher(site).get("http://site.example.org/", deadline=deadline, slots=slots, refresh=refresh)
        assert deadline.left() == 1.0
