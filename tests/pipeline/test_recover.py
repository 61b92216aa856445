"""Dead pages through the whole service, with a stand-in archive that speaks the real one's shapes."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.support.service import Service, config_of
from tests.support.site import Answer, Site, html

STAMP = "20200102030405"


@pytest.fixture
def site() -> Iterator[Site]:
    found = Site({"/good": html("Good", "It is here. " * 30), "/broken": (503, {}, b""), "/gone": (410, {}, b"")})
    yield found
    found.close()


@pytest.fixture
def archive(site: Site) -> Iterator[Site]:
    found = Site()
    yield found
    found.close()


def keep(archive: Site, url: str, page: Answer) -> None:
    """Lets the archive have a copy of `url`."""
    rows = [["urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length"]]
    rows.append(["key", STAMP, url, "text/html", "200", "d", "1"])
    archive.pages[_index(url)] = (200, {"Content-Type": "application/json"}, json.dumps(rows).encode())
    archive.pages[f"/web/{STAMP}id_/{url}"] = page


def keep_none(archive: Site, url: str) -> None:
    archive.pages[_index(url)] = (200, {"Content-Type": "application/json"}, b"[]")


def _index(url: str) -> str:
    return f"/cdx/search/cdx?url={quote(url, safe='')}&output=json&filter=statuscode:200&limit=-1"


@pytest.fixture
def service(site: Site, archive: Site, tmp_path: Path) -> Iterator[Service]:
    document: dict[str, Any] = {
        "guard": {"allow": [f"127.0.0.1:{site.port}"]},
        "workers": {"count": 1},
        "fetch": {"timeout": "1500ms"},
        "recover": {"url": archive.url("")},
    }
    found = Service(config_of(tmp_path, document))
    yield found
    found.close(0.5)


@pytest.mark.parametrize("path", ["/none", "/gone", "/broken"])
def test_a_dead_page_comes_from_the_archive_and_says_so(service: Service, site: Site, archive: Site, path: str) -> None:
    keep(archive, site.url(path), html("Once", "What stood here. " * 30))

    found = service.fetch(site.url(path), recover=True).json

    assert (found["title"], found["source"], found["cached"]) == ("Once", "archive", False)
    assert found["archive"] == {
        "url": f"{archive.url('')}/web/{STAMP}id_/{site.url(path)}",
        "captured_at": "2020-01-02T03:04:05Z",
    }
    assert (found["url"], found["final_url"]) == (site.url(path), site.url(path))


def test_a_site_that_does_not_answer_leaves_the_archive_its_third(service: Service, site: Site, archive: Site) -> None:
    url = "http://127.0.0.1:1/page"
    keep(archive, site.url("/slow"), html("Once", "What stood here. " * 30))
    site.pages["/slow"] = lambda _headers: (time.sleep(1.3), html("Late", "x"))[1]  # a slow peer
    began = time.monotonic()

    found = service.fetch(site.url("/slow"), recover=True).json

    assert found["title"] == "Once"
    assert time.monotonic() - began < 1.6
    assert service.fetch(url, recover=True).json["reason"] == "blocked"


def test_a_live_page_is_not_looked_up(service: Service, site: Site, archive: Site) -> None:
    found = service.fetch(site.url("/good"), recover=True).json

    assert (found["title"], found["source"]) == ("Good", "origin")
    assert not archive.seen


def test_where_the_archive_has_nothing_the_first_error_stands_and_says_so(
    service: Service, site: Site, archive: Site
) -> None:
    keep_none(archive, site.url("/none"))

    found = service.fetch(site.url("/none"), recover=True).json

    assert (found["reason"], found["status"]) == ("upstream_4xx", 404)
    assert found["error"] == "upstream_4xx: the site answered 404; the archive has no copy"
    assert "hint" not in found


def test_a_blocked_url_is_never_looked_up(service: Service, archive: Site) -> None:
    assert service.fetch("http://10.0.0.1/", recover=True).json["reason"] == "blocked"
    assert not archive.seen


def test_a_restricted_callers_url_is_not_shown_to_the_archive(service: Service, site: Site, archive: Site) -> None:
    keep(archive, site.url("/none"), html("Once", "What stood here. " * 30))

    assert service.fetch(site.url("/none"), recover=True, caller="vault").json["reason"] == "upstream_4xx"
    assert service.fetch(site.url("/good"), recover=True, caller="vault").json["withheld"] == ["recover"]
    assert not archive.seen


def test_a_copy_is_not_given_to_who_did_not_ask_for_one(service: Service, site: Site, archive: Site) -> None:
    keep(archive, site.url("/none"), html("Once", "What stood here. " * 30))
    service.fetch(site.url("/none"), recover=True)

    assert service.fetch(site.url("/none")).json["reason"] == "upstream_4xx"
    assert service.fetch(site.url("/none"), recover=True).json["cached"] is True
    assert len([path for path in archive.seen if path.startswith("/cdx")]) == 1


def test_a_target_of_a_batch_may_have_a_question_too(service: Service, site: Site, archive: Site) -> None:
    keep(archive, site.url("/none"), html("Once", "The harbour is deep. The lamp is green. " * 9))
    targets = [
        {"url": site.url("/none"), "recover": True, "question": "Which colour is the lamp?"},
        {"url": site.url("/other"), "recover": True, "question": "Which colour is the lamp?"},
    ]
    keep_none(archive, site.url("/other"))

    job = service.wait(service.ask("POST", "/v1/batch", {"targets": targets}).json["job_id"])

    assert job["status"] == "partial"
    assert job["targets"][0]["result"]["source"] == "archive"
    assert "green" in job["targets"][0]["result"]["digest"]["passages"][0]["text"]
    assert job["targets"][1]["reason"] == "upstream_4xx"
