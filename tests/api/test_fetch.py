import json
import socket
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.service import Service
from tests.support.site import Site, html


def test_a_page_comes_as_an_envelope(service: Service, site: Site) -> None:
    reply = service.fetch(site.url("/page/1"))

    assert reply.status == 200
    found = reply.json
    assert list(found)[:6] == ["success", "url", "final_url", "status", "content_type", "mode"]
    assert (found["success"], found["status"], found["content_type"]) == (True, 200, "text/html")
    assert (found["title"], found["mode"], found["source"], found["cached"]) == ("Page 1", "clean", "origin", False)
    assert found["content_bytes"] == len(found["content"].encode())
    assert found["approx_tokens"] == -(-len(found["content"]) // 4)
    assert not {"pages", "grep", "digest", "context", "archive", "hint", "withheld"} & set(found)


def test_a_second_fetch_comes_from_the_cache(service: Service, site: Site) -> None:
    service.fetch(site.url("/page/1"))

    assert service.fetch(site.url("/page/1")).json["cached"] is True
    assert service.fetch(site.url("/page/1"), max_age=0).json["cached"] is False
    assert len(site.seen) == 2


def test_a_restricted_caller_does_not_see_what_others_have_cached(service: Service, site: Site) -> None:
    service.fetch(site.url("/page/1"))

    assert service.fetch(site.url("/page/1"), caller="vault").json["cached"] is False
    assert service.fetch(site.url("/page/1"), caller="bob").json["cached"] is True


@pytest.mark.parametrize(
    ("field", "value", "at", "says"),
    [
        ("mode", "claen", "mode", '"claen" is not one of clean, full, raw, links'),
        ("mode", None, "mode", "null given; it takes a string"),
        ("grpe", "x", "grpe", "unknown field; did you mean grep?"),
        ("grep", "(", "grep", ""),
        ("grep", "", "grep", "an empty string"),
        ("jq", ".[", "jq", ""),
        ("pages", "3-1", "pages", ""),
        ("context", "yes", "context", "a string given; it takes true or false"),
        ("max_age", -1, "max_age", "out of range"),
        ("max_age", True, "max_age", "true or false given"),
        ("max_age", 901, "max_age", "901 given, at most 900 ([cache] ttl)"),
        ("question", "x" * 100_000, None, ""),
        ("url", 3, "url", "a number given; it takes a string"),
    ],
)
def test_a_wrong_field_is_400_and_named(service: Service, field: str, value: Any, at: str | None, says: str) -> None:
    reply = service.ask("POST", "/v1/fetch", {"url": "http://example.com/", field: value})

    assert reply.status == (400 if at else 413)
    assert reply.json["success"] is False
    if at:
        is_query = field in ("grep", "jq", "pages") and value
        assert reply.json["reason"] == ("invalid" if is_query else "malformed")
        assert reply.json["errors"][0]["at"] == at
        assert says in reply.json["errors"][0]["error"]
        begin = "invalid: " if is_query else ""
        assert reply.json["error"] == f"{begin}{at}: {reply.json['errors'][0]['error']}"


def test_every_wrong_place_is_named(service: Service) -> None:
    reply = service.ask("POST", "/v1/fetch", {"mode": 1, "x": 2, "jq": ".", "grep": "a"})

    assert {place["at"] for place in reply.json["errors"]} == {"mode", "x", "url", "grep"}


@pytest.mark.parametrize("options", [{"mode": "raw", "question": "why"}, {"jq": ".", "grep": "a"}])
def test_options_that_exclude_each_other_are_400(service: Service, options: dict[str, str]) -> None:
    assert service.fetch("http://example.com/", **options).status == 400


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b'"x"', b"\xff", b'{"url": "\\ud800"}', b"[" * 60_000, b'{"url": NaN}', b'{"a":1}x'],
)
def test_a_body_that_is_no_json_object_is_400(service: Service, body: bytes) -> None:
    reply = service.ask("POST", "/v1/fetch", body)

    assert (reply.status, reply.json["reason"]) == (400, "malformed")


def test_json_is_read_whatever_its_content_type_says(service: Service, site: Site) -> None:
    body = json.dumps({"url": site.url("/page/1")}).encode()

    assert service.ask("POST", "/v1/fetch", body, headers={"Content-Type": "text/plain"}).status == 200


@pytest.mark.parametrize(("nbytes", "status"), [(65536, 400), (65537, 413), (2 << 20, 413)])
def test_a_body_over_the_cap_is_413_in_json(service: Service, nbytes: int, status: int) -> None:
    reply = service.ask("POST", "/v1/fetch", b" " * nbytes)

    assert (reply.status, reply.json["success"]) == (status, False)


@pytest.mark.parametrize("token", [None, "wrong", ""])
def test_without_a_known_token_it_is_401(service: Service, token: str | None) -> None:
    reply = service.ask("POST", "/v1/fetch", {"url": "http://example.com/"}, caller=token)

    assert (reply.status, reply.json["reason"], reply.headers["www-authenticate"]) == (401, "unauthorized", "Bearer")


def test_unknown_paths_and_methods_answer_in_the_same_shape(service: Service) -> None:
    assert service.ask("GET", "/nope").json["reason"] == "not_found"
    assert service.ask("GET", "/v1/fetch").json["reason"] == "method"
    assert service.ask("GET", "/v1/fetch").headers["allow"] == "POST"
    assert service.ask("BREW", "/v1/fetch").json["reason"] == "method"


def test_a_callers_own_request_id_comes_back(service: Service) -> None:
    assert service.ask("GET", "/healthz", headers={"X-Request-Id": "mine-1"}).headers["x-request-id"] == "mine-1"
    assert service.ask("GET", "/healthz", headers={"X-Request-Id": "a b"}).headers["x-request-id"] != "a b"


def test_the_sites_own_answer_is_502_with_its_status(service: Service, site: Site) -> None:
    reply = service.fetch(site.url("/gone"))

    assert (reply.status, reply.json["reason"], reply.json["status"]) == (502, "upstream_4xx", 404)
    assert reply.json["hint"] == "recover"
    assert reply.json["error"].startswith("upstream_4xx: ")


def test_a_blocked_url_is_422(service: Service) -> None:
    for url in ("http://10.0.0.1/", "http://localhost/", "http://example.com:22/", "file:///etc/passwd"):
        reply = service.fetch(url)
        assert (reply.status, reply.json["reason"], reply.json["hint"]) == (422, "blocked", "browser")


def test_own_listening_address_is_never_fetched(make_service: Callable[..., Service], site: Site) -> None:
    first = make_service()
    host, port = first.server.address
    assert first.fetch(f"http://{host}:{port}/healthz").status == 422
    first.close()

    again = make_service(guard={"allow": [f"127.0.0.1:{port}", "127.0.0.0/8"]}, server={"port": port})
    assert again.fetch(f"http://{host}:{again.server.address[1]}/healthz").json["reason"] == "blocked"


def test_a_page_in_an_old_charset_comes_out_right(service: Service, site: Site) -> None:
    body = (
        "<title>\u041f\u0440\u0438\u0432\u0435\u0442</title><p>".encode("cp1251")
        + "\u043c\u0438\u0440 ".encode("cp1251") * 50
    )
    site.pages["/ru"] = (200, {"Content-Type": "text/html; charset=windows-1251"}, body)

    assert service.fetch(site.url("/ru")).json["title"] == "\u041f\u0440\u0438\u0432\u0435\u0442"


def test_a_redirect_that_is_not_to_be_stored_is_not(service: Service, site: Site) -> None:
    site.pages["/moved"] = (302, {"Location": "/page/1", "Cache-Control": "no-store"}, b"")
    service.fetch(site.url("/moved"))

    assert service.fetch(site.url("/moved")).json["cached"] is False


@pytest.mark.parametrize(("method", "path"), [("DELETE", "/v1/batch/x"), ("GET", "/v1/batch"), ("GET", "/healthz")])
def test_every_requests_body_has_its_cap(service: Service, method: str, path: str) -> None:
    assert service.ask(method, path, b"x" * 65_537).json["reason"] == "body_too_large"


def test_jq_that_halts_with_an_error_has_failed(service: Service, site: Site) -> None:
    assert service.fetch(site.url("/data.json"), jq="halt_error").status == 415


def test_long_lists_of_the_context_are_both_cut(service: Service, site: Site) -> None:
    body = "".join(f"<h2>Heading number {n}</h2><p><a href='/link/{n}'>Link number {n}</a></p>" for n in range(3000))
    site.pages["/lists"] = (200, {"Content-Type": "text/html"}, f"<main>{body}</main>".encode())

    reply = service.fetch(site.url("/lists"), context=True, mode="links")

    context = reply.json["context"]
    assert context["truncated"]
    assert len(context["outline"]) > 100
    assert len(context["links"]) > 100
    assert len(reply.body) <= (256 + 64) << 10


def test_jq_answers_from_a_json_body(service: Service, site: Site) -> None:
    reply = service.fetch(site.url("/data.json"), jq=".a[2].b")

    assert json.loads(reply.json["content"]) == "deep"


def test_jq_on_html_is_unsupported(service: Service, site: Site) -> None:
    assert service.fetch(site.url("/page/1"), jq=".").status == 415


def test_grep_gives_numbered_lines(service: Service, site: Site) -> None:
    site.pages["/notes"] = (200, {"Content-Type": "text/plain"}, b"one\ntwo\nthree\n")

    reply = service.fetch(site.url("/notes"), grep="^t")

    assert reply.json["content"].splitlines() == ["2:two", "3:three"]
    assert reply.json["grep"] == {"matches": 2, "lines": 3}


def test_links_mode_gives_a_line_each(service: Service, site: Site) -> None:
    site.pages["/l"] = (200, {"Content-Type": "text/html"}, b"<title>t</title><p><a href='/x'>The X</a></p>")

    assert service.fetch(site.url("/l"), mode="links").json["content"].strip() == f"{site.url('/x')}\tThe X"


def test_an_empty_answer_is_ok_with_a_hint(service: Service, site: Site) -> None:
    site.pages["/empty"] = (200, {"Content-Type": "text/html"}, b"")

    found = service.fetch(site.url("/empty")).json

    assert (found["success"], found["content"], found["hint"]) == (True, "", "browser")


def test_binary_is_unsupported_and_its_type_named(service: Service, site: Site) -> None:
    site.pages["/i"] = (200, {"Content-Type": "image/png"}, b"\x89PNG\r\n\x1a\n" + bytes(100))

    reply = service.fetch(site.url("/i"))

    assert (reply.status, reply.json["reason"]) == (415, "unsupported")
    assert "image/png" in reply.json["error"]


def test_content_is_cut_at_the_cap_with_a_hint(make_service: Callable[..., Service], site: Site) -> None:
    service = make_service(fetch={"output_cap": "1KiB"})
    site.pages["/long"] = html("Long", "Many words make a long page. " * 200)

    found = service.fetch(site.url("/long")).json

    assert found["truncated"]
    assert len(found["content"].encode()) <= 1024 < found["content_bytes"]
    assert found["hint"] == "question"


def test_json_over_the_cap_is_too_long_and_hints_jq(make_service: Callable[..., Service], site: Site) -> None:
    service = make_service(fetch={"output_cap": "1KiB"})
    site.pages["/big.json"] = (200, {"Content-Type": "application/json"}, json.dumps(list(range(1000))).encode())

    reply = service.fetch(site.url("/big.json"))

    assert (reply.status, reply.json["reason"], reply.json["hint"]) == (413, "too_long", "jq")
    assert service.fetch(site.url("/big.json"), jq="length").json["content"].strip() == "1000"


def test_a_stale_page_is_revalidated(make_service: Callable[..., Service], site: Site) -> None:
    service = make_service(cache={"ttl": "0s"})
    page = html("Tagged", "It has a tag. " * 30)

    def tagged(headers: Any) -> Any:
        return (304, {}, b"") if headers.get("if-none-match") == '"1"' else (200, {**page[1], "ETag": '"1"'}, page[2])

    site.pages["/tagged"] = tagged
    first = service.fetch(site.url("/tagged")).json
    second = service.fetch(site.url("/tagged")).json

    assert (first["cached"], second["cached"]) == (False, True)
    assert second["content"] == first["content"]


def test_no_store_is_respected(service: Service, site: Site) -> None:
    page = html("Private", "Not to be kept. " * 30)
    site.pages["/private"] = (200, {**page[1], "Cache-Control": "private, No-Store"}, page[2])
    service.fetch(site.url("/private"))

    assert service.fetch(site.url("/private")).json["cached"] is False


def test_health_and_metrics_need_no_token(service: Service) -> None:
    assert service.ask("GET", "/healthz", caller=None).status == 200
    text = service.ask("GET", "/metrics", caller=None)
    assert text.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert b'sift_batch_jobs_total{outcome="created"} 0.0' in text.body


def test_a_head_that_is_no_http_gets_json(service: Service) -> None:
    with socket.create_connection(service.server.address, 5) as raw:
        raw.sendall(b"GET / HTTP/1.1\r\nX: " + b"y" * 70_000 + b"\r\n\r\n")
        answer = raw.recv(65536)

    assert answer.startswith(b"HTTP/1.1 431")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["reason"] == "malformed"
