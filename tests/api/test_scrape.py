"""`POST /v2/scrape`, as somebody without Firecrawl's clients sees it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from sift.api.errors import STATUS_OF_SCRAPE
from sift.target import Outcome
from tests.support import pdfs
from tests.support.held import Held
from tests.support.service import Reply, Service
from tests.support.site import Site

ARTICLE = (
    '<!doctype html><html lang="en"><head><title>Tides</title><meta name="description" content="About tides.">'
    '<meta property="og:site_name" content="The Shore"></head><body><nav><a href="/menu">Menu</a></nav>'
    "<article><h1>Tides</h1><p>The moon pulls the sea, and the sea follows it around the globe, twice a day. "
    'Read <a href="/moon">about the moon</a> for the rest of the story, which is longer than this page.</p>'
    "<p>Spring tides come at new moon and at full moon, when sun and moon pull along one line.</p></article>"
    "<footer>Imprint of the Shore</footer></body></html>"
)


@pytest.fixture
def scrape(service: Service, site: Site) -> Callable[..., Reply]:
    site.pages["/tides"] = (200, {"Content-Type": "text/html; charset=utf-8"}, ARTICLE.encode())

    def call(path: str, **fields: Any) -> Reply:
        return service.ask("POST", "/v2/scrape", {"url": site.url(path), **fields})

    return call


def test_without_formats_it_is_markdown_with_metadata(scrape: Callable[..., Reply], site: Site) -> None:
    reply = scrape("/tides")

    assert reply.status == 200
    assert set(reply.json) == {"success", "data"}
    data = reply.json["data"]
    assert set(data) == {"markdown", "metadata"}
    assert "The moon pulls the sea" in data["markdown"]
    assert data["metadata"] == {
        "title": "Tides",
        "description": "About tides.",
        "language": "en",
        "ogSiteName": "The Shore",
        "url": site.url("/tides"),
        "sourceURL": site.url("/tides"),
        "statusCode": 200,
        "contentType": "text/html",
        "cacheState": "miss",
    }


def test_every_format_comes_from_one_request_to_the_site(scrape: Callable[..., Reply], site: Site) -> None:
    question = {"type": "question", "question": "When do spring tides come?"}

    data = scrape("/tides", formats=["markdown", "html", "rawHtml", "links", question]).json["data"]

    assert site.seen == ["/tides"]
    assert data["html"] == data["rawHtml"] == ARTICLE
    assert data["links"] == [site.url("/menu"), site.url("/moon")]
    assert "new moon" in data["answer"]
    assert "warning" not in data


@pytest.mark.parametrize(
    ("formats", "requests"), [(["markdown", "links"], 1), (["rawHtml", "links"], 1), (["markdown", "html"], 2)]
)
def test_a_page_that_may_not_be_kept_is_asked_for_once_a_rendering(
    scrape: Callable[..., Reply], site: Site, formats: list[str], requests: int
) -> None:
    site.pages["/private"] = (200, {"Content-Type": "text/html", "Cache-Control": "no-store"}, ARTICLE.encode())

    data = scrape("/private", formats=formats).json["data"]

    assert set(data) == {*formats, "metadata"}
    assert len(site.seen) == requests


def test_without_main_content_only_the_whole_page_comes(scrape: Callable[..., Reply]) -> None:
    assert "Imprint" not in scrape("/tides").json["data"]["markdown"]
    assert "Imprint" in scrape("/tides", onlyMainContent=False).json["data"]["markdown"]


def test_max_age_is_in_milliseconds_and_zero_fetches_anew(scrape: Callable[..., Reply], site: Site) -> None:
    scrape("/tides")
    kept = scrape("/tides", maxAge=14_400_000).json["data"]["metadata"]
    anew = scrape("/tides", maxAge=0, formats=["markdown", "html"]).json["data"]["metadata"]

    assert (kept["cacheState"], anew["cacheState"]) == ("hit", "miss")
    assert "cachedAt" in kept
    assert len(site.seen) == 2


def test_what_firecrawl_knows_and_sift_does_not_is_let_be(scrape: Callable[..., Reply]) -> None:
    reply = scrape(
        "/tides",
        origin="js-sdk@4",
        waitFor=0,
        mobile=False,
        skipTlsVerification=True,
        removeBase64Images=True,
        blockAds=True,
        proxy="auto",
        storeInCache=True,
        location=None,
        timeout=None,
        parsers=["pdf"],
    )

    assert reply.status == 200
    assert "warning" not in reply.json["data"]


def test_formats_that_sift_lacks_are_a_warning_and_markdown_comes_instead(scrape: Callable[..., Reply]) -> None:
    data = scrape("/tides", formats=["screenshot", {"type": "json", "schema": {}}]).json["data"]

    assert "moon" in data["markdown"]
    assert "format screenshot is not served" in data["warning"]
    assert "format json is not served" in data["warning"]


def test_a_format_that_the_page_cannot_have_is_a_warning_beside_the_others(scrape: Callable[..., Reply]) -> None:
    data = scrape("/data.json", formats=["links", "markdown"]).json["data"]

    assert "deep" in data["markdown"]
    assert "links" not in data
    assert data["warning"].startswith("links: unsupported: ")


def test_a_format_that_the_page_cannot_have_is_an_error_alone(scrape: Callable[..., Reply]) -> None:
    assert (scrape("/data.json", formats=["links"]).status, scrape("/data.json", formats=["html"]).status) == (415, 200)


def test_a_parser_says_how_many_pages_of_a_pdf(scrape: Callable[..., Reply], site: Site) -> None:
    leaves = [pdfs.lines(f"This is leaf number {number} of the book.") for number in range(1, 6)]
    site.pages["/book"] = (200, {"Content-Type": "application/pdf"}, pdfs.pdf(leaves))

    data = scrape("/book", parsers=[{"type": "pdf", "mode": "fast", "maxPages": 2}]).json["data"]
    whole = scrape("/book", parsers=[{"type": "pdf", "maxPages": 50}]).json["data"]

    assert ("number 2" in data["markdown"], "number 3" in data["markdown"]) == (True, False)
    assert (data["metadata"]["numPages"], data["metadata"]["totalPages"]) == (2, 5)
    assert "number 5" in whole["markdown"]
    assert whole["metadata"]["numPages"] == 5
    assert site.seen == ["/book"]
    assert scrape("/tides", parsers=[{"type": "pdf", "maxPages": 2}]).status == 200


def test_a_cut_is_a_warning(make_service: Callable[..., Service], site: Site) -> None:
    service = make_service(fetch={"output_cap": "100B"})
    site.pages["/tides"] = (200, {"Content-Type": "text/html; charset=utf-8"}, ARTICLE.encode())

    data = service.ask("POST", "/v2/scrape", {"url": site.url("/tides")}).json["data"]

    assert "markdown was cut to " in data["warning"]


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [("/gone", 424, "UPSTREAM_4XX"), ("http://10.0.0.1/", 422, "BLOCKED"), ("ftp://example.com/", 422, "BLOCKED")],
)
def test_an_error_has_firecrawls_shape_and_sifts_words(
    service: Service, site: Site, path: str, status: int, code: str
) -> None:
    url = path if "://" in path else site.url(path)

    reply = service.ask("POST", "/v2/scrape", {"url": url})

    assert (reply.status, reply.json["success"], reply.json["code"]) == (status, False, code)
    assert reply.json["error"].startswith(code.lower())
    assert "data" not in reply.json


def test_no_outcome_is_answered_with_the_status_that_the_clients_repeat() -> None:
    assert set(STATUS_OF_SCRAPE) == set(Outcome)
    assert 502 not in STATUS_OF_SCRAPE.values()


@pytest.mark.parametrize("header", ["Bearer", "Bearer ", "Bearer unknown", ""])
def test_without_a_known_token_it_is_401_in_firecrawls_shape(service: Service, header: str) -> None:
    reply = service.ask("POST", "/v2/scrape", {}, caller=None, headers={"Authorization": header} if header else {})

    assert reply.status == 401
    assert (reply.json["success"], reply.json["code"]) == (False, "UNAUTHORIZED")
    assert reply.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("fields", "at"),
    [
        ({"url": 3}, "url"),
        ({"formats": "markdown"}, "formats"),
        ({"formats": [3]}, "formats[0]"),
        ({"formats": [{"type": "question"}]}, "formats[0].question"),
        ({"formats": [{"type": "question", "question": "x" * 1001}]}, "formats[0].question"),
        ({"timeout": "1s"}, "timeout"),
        ({"maxAge": True}, "maxAge"),
        ({"onlyMainContent": "yes"}, "onlyMainContent"),
        ({"parsers": [{"type": "pdf", "maxPages": 0}]}, "parsers[0].maxPages"),
    ],
)
def test_a_wrong_value_of_a_known_field_is_400_and_named(service: Service, fields: dict[str, Any], at: str) -> None:
    reply = service.ask("POST", "/v2/scrape", {"url": "http://example.com/"} | fields)

    assert (reply.status, reply.json["errors"][0]["at"]) == (400, at)


def test_it_waits_for_a_slot_as_long_as_its_timeout_allows(make_service: Callable[..., Service], site: Site) -> None:
    service = make_service(gate={"per_host": 1, "wait": "0s"})
    held = Held()
    site.pages["/held"] = held
    with ThreadPoolExecutor(3) as threads:
        holding = threads.submit(service.fetch, site.url("/held"))
        assert held.asked.wait(10)
        impatient = service.ask("POST", "/v2/scrape", {"url": site.url("/page/1"), "timeout": 1})
        patient = threads.submit(service.ask, "POST", "/v2/scrape", {"url": site.url("/page/2"), "timeout": 60_000})
        assert service.fetch(site.url("/page/3")).status == 429
        held.let_go()

        assert (impatient.status, impatient.json["code"]) == (429, "BUSY")
        assert patient.result(30).status == 200
        assert holding.result(30).status == 200


def test_a_restricted_callers_scrape_leaves_no_host_in_the_log(service: Service, site: Site) -> None:
    service.ask("POST", "/v2/scrape", {"url": site.url("/page/7?q=secret")}, caller="vault")

    assert "secret" not in service.log.getvalue()
    assert "127.0.0.1:" not in service.log.getvalue().split("started", 1)[1].split("\n", 1)[1]
