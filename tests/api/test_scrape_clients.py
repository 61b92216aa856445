"""`POST /v2/scrape` through Firecrawl's own Python client, an old and a new version of it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support import firecrawl, pdfs
from tests.support.service import TOKENS, Service
from tests.support.site import Site

Scrape = Callable[..., dict[str, Any]]


@pytest.fixture(params=firecrawl.VERSIONS)
def python(request: pytest.FixtureRequest) -> Path:
    found = firecrawl.python_of(request.param)
    if found is None:
        pytest.skip(f"firecrawl-py {request.param} is not installed below $SIFT_TEST_CLIENTS")
    return found


@pytest.fixture
def scrape(python: Path, service: Service, site: Site) -> Scrape:
    host, port = service.server.address

    def call(url: str, *, api_key: str = TOKENS["alice"], **options: Any) -> dict[str, Any]:
        return firecrawl.scrape(python, f"http://{host}:{port}", api_key, url, **options)

    return call


def test_the_client_reads_a_page_as_a_document(scrape: Scrape, site: Site) -> None:
    document = scrape(site.url("/page/1"))["document"]

    assert "Number 1." in document["markdown"]
    assert document["metadata"]["title"] == "Page 1"
    assert document["metadata"]["status_code"] == 200
    assert document["metadata"]["source_url"] == site.url("/page/1")
    assert document["metadata"]["cache_state"] == "miss"


def test_the_client_gets_every_format_that_it_asks_for(scrape: Scrape, site: Site) -> None:
    links = b"<title>t</title><p>Whoever reads this page finds <a href='/x'>the other page</a>, too.</p>"
    site.pages["/links"] = (200, {"Content-Type": "text/html"}, links)
    question = {"type": "question", "question": "Where is the other page?"}

    found = scrape(site.url("/links"), formats=["markdown", "html", "rawHtml", "links", "screenshot", question])
    document = found["document"]

    assert "other page" in document["markdown"]
    assert document["html"] == document["raw_html"] == links.decode()
    assert document["links"] == [site.url("/x")]
    assert "screenshot is not served" in document["warning"]
    assert site.seen == ["/links"]


def test_the_clients_own_options_are_borne(scrape: Scrape, site: Site) -> None:
    leaves = [pdfs.lines(f"This is leaf number {number} of the book.") for number in range(1, 6)]
    site.pages["/book"] = (200, {"Content-Type": "application/pdf"}, pdfs.pdf(leaves))

    document = scrape(
        site.url("/book"),
        formats=["markdown"],
        only_main_content=False,
        timeout=20_000,
        max_age=3_600_000,
        wait_for=100,
        mobile=True,
        parsers=[{"type": "pdf", "max_pages": 2}],
        location={"country": "DE", "languages": ["de"]},
        headers={"X-Own": "1"},
        block_ads=True,
        proxy="auto",
    )["document"]

    assert document["metadata"]["num_pages"] == 2
    assert "number 3" not in document["markdown"]


@pytest.mark.parametrize(
    ("path", "status", "says"), [("/gone", 424, "upstream_4xx: the site answered 404"), ("", 422, "blocked: private")]
)
def test_an_error_reaches_the_reader_and_is_not_asked_for_again(
    scrape: Scrape, site: Site, path: str, status: int, says: str
) -> None:
    found = scrape(site.url(path) if path else "http://10.0.0.1/")

    assert found["status"] == status
    assert says in found["text"]
    assert len(site.seen) <= 1


def test_a_wrong_key_is_an_unauthorized_error(scrape: Scrape, site: Site) -> None:
    found = scrape(site.url("/page/1"), api_key="fc-wrong")

    assert (found["error"], found["status"]) == ("UnauthorizedError", 401)
    assert "unknown token" in found["text"]
