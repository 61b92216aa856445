"""`GET /openapi.json`, held to the code, to the answers that the service gives, and to the specification."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from flask import Flask

from sift import __version__
from sift.api import app as api
from sift.api import body
from sift.api.errors import STATUS_OF_OUTCOME, STATUS_OF_REASON, STATUS_OF_SCRAPE
from sift.api.openapi import description
from sift.api.page import FILES
from sift.api.scrape.wish import FORMATS
from sift.client import shapes
from sift.fetch.wire import dial
from sift.render import query
from sift.target import MODES, Outcome
from tests.support.service import Service, config_of
from tests.support.site import Answer, Site, html

DOCUMENT: dict[str, Any] = json.loads(description())
SCHEMAS = DOCUMENT["components"]["schemas"]
OUTCOMES = {outcome.value for outcome in Outcome} - {"ok"}
REASONS = set(STATUS_OF_REASON) | OUTCOMES


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in DOCUMENT["paths"].items():
        for method in item.keys() - {"parameters"}:
            yield path, method, item[method]


def resolved(node: Any) -> Any:
    """A node, or what its reference leads to."""
    if "$ref" not in node:
        return node
    found = DOCUMENT
    for part in node["$ref"].removeprefix("#/").split("/"):
        found = found[part]
    return resolved(found)


def test_every_route_is_described_and_nothing_else(service: Service) -> None:
    app: Flask = api.create_app(service.server.parts.services)
    routes = {
        (rule.rule.replace("<path:job_id>", "{id}"), method.lower())
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
        if rule.rule == "/" or rule.rule not in FILES
    }

    assert {(path, method) for path, method, _ in operations()} == routes


def test_a_targets_fields_are_those_that_are_read() -> None:
    fields = SCHEMAS["Target"]["properties"]

    assert set(fields) == set(body._CHECKS)
    assert tuple(fields["mode"]["enum"]) == tuple(SCHEMAS["Mode"]["enum"]) == MODES
    for name, most in [
        ("question", query.QUESTION_MAX_CHARS),
        ("grep", query.GREP_MAX_CHARS),
        ("jq", query.JQ_MAX_CHARS),
        ("pages", query.PAGES_MAX_CHARS),
    ]:
        assert fields[name]["maxLength"] == most


def test_every_format_of_a_scrape_is_named() -> None:
    told = json.dumps(SCHEMAS["ScrapeRequest"])

    assert [name for name in FORMATS if name not in told] == []


def test_every_reason_is_described_under_its_status() -> None:
    assert set(SCHEMAS["Error"]["properties"]["reason"]["enum"]) == REASONS
    assert set(SCHEMAS["Entry"]["properties"]["reason"]["enum"]) == OUTCOMES | {"restart"}
    for path, method, operation in operations():
        outcomes = STATUS_OF_SCRAPE if path.startswith("/v2/") else STATUS_OF_OUTCOME
        table = STATUS_OF_REASON | {outcome.value: status for outcome, status in outcomes.items()}
        for status, answer in operation["responses"].items():
            for reason in reasons_of(answer):
                assert table[reason] == int(status), (path, method, status, reason)


def reasons_of(answer: dict[str, Any]) -> list[str]:
    schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
    named: list[str] = schema["allOf"][1]["properties"]["reason"]["enum"] if "allOf" in schema else []
    return named


@pytest.mark.parametrize("path", ["/v1/fetch", "/v2/scrape"])
def test_every_outcome_of_a_fetch_is_described(path: str) -> None:
    answers = DOCUMENT["paths"][path]["post"]["responses"].values()

    assert {reason for answer in answers for reason in reasons_of(answer)} >= OUTCOMES


@pytest.mark.parametrize(
    ("schema", "shape"),
    [
        ("Envelope", shapes.Envelope),
        ("Submitted", shapes.Submitted),
        ("Entry", shapes.Entry),
        ("JobLine", shapes.JobLine),
        ("Cancelled", shapes.Cancellation),
    ],
)
def test_the_answers_are_what_the_typed_client_says(schema: str, shape: type) -> None:
    hints = get_type_hints(shape, include_extras=True)
    needed = {name for name, hint in hints.items() if "NotRequired" not in str(hint)}

    assert set(SCHEMAS[schema]["properties"]) == set(hints)
    assert set(SCHEMAS[schema]["required"]) == needed - ({"counts"} if schema == "JobLine" else set())


def test_every_answer_with_a_body_has_an_example_and_every_answer_a_request_id() -> None:
    for path, method, operation in operations():
        for status, answer in operation["responses"].items():
            assert "X-Request-Id" in answer["headers"], (path, method, status)
            for content in answer.get("content", {}).values():
                assert "example" in content or content["examples"], (path, method, status)


def test_it_says_which_version_it_is_of_and_needs_no_token(service: Service) -> None:
    reply = service.ask("GET", "/openapi.json", caller=None)

    assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
    assert reply.json["info"]["version"] == __version__
    assert reply.json["openapi"].startswith("3.1.")


def test_it_is_valid_openapi() -> None:
    pytest.importorskip("openapi_spec_validator").validate(DOCUMENT)


def test_every_example_is_what_its_schema_says() -> None:
    pytest.importorskip("jsonschema")

    count = 0
    for _, _, operation in operations():
        for part in [operation.get("requestBody", {}), *operation["responses"].values()]:
            for content in part.get("content", {}).values():
                shown = [content["example"]] if "example" in content else content["examples"].values()
                for example in shown:
                    value = resolved(example).get("value", example) if isinstance(example, dict) else example
                    check(value, content["schema"])
                    count += 1
    assert count > 50


def check(value: Any, schema: dict[str, Any]) -> None:
    from jsonschema import Draft202012Validator

    Draft202012Validator(schema | {"components": DOCUMENT["components"]}).validate(value)


def test_what_the_service_answers_is_what_is_described(service: Service, site: Site) -> None:
    pytest.importorskip("jsonschema")
    url = site.url("/page/1")
    job = service.submit(url, site.url("/gone"), "http://10.0.0.1/").json["job_id"]
    service.wait(job)
    asked = [
        ("post", "/v1/fetch", "/v1/fetch", {"url": url, "context": True}),
        ("post", "/v1/fetch", "/v1/fetch", {"url": url, "question": "What is number 1?"}),
        ("post", "/v1/fetch", "/v1/fetch", {"url": url, "mode": "links"}),
        ("post", "/v1/fetch", "/v1/fetch", {"url": url, "grep": "Number"}),
        ("post", "/v1/fetch", "/v1/fetch", {"url": site.url("/gone")}),
        ("post", "/v1/fetch", "/v1/fetch", {"url": url, "mode": "claen"}),
        ("post", "/v1/fetch", "/v1/fetch", {"url": "http://10.0.0.1/"}),
        ("post", "/v1/batch", "/v1/batch", {"targets": [{"url": url}, {"url": site.url("/gone")}]}),
        ("post", "/v1/batch", "/v1/batch", {"targets": [{"url": "ftp://example.com/"}]}),
        ("get", "/v1/batch", "/v1/batch", None),
        ("get", "/v1/batch/{id}", f"/v1/batch/{job}", None),
        ("get", "/v1/batch/{id}", "/v1/batch/j_0", None),
        ("delete", "/v1/batch/{id}", f"/v1/batch/{job}", None),
        ("post", "/v2/scrape", "/v2/scrape", {"url": url, "formats": ["markdown", "links", "rawHtml", "summary"]}),
        ("post", "/v2/scrape", "/v2/scrape", {"url": site.url("/gone")}),
        ("get", "/healthz", "/healthz", None),
    ]
    for method, route, path, sent in asked:
        reply = service.ask(method.upper(), path, sent)
        described = DOCUMENT["paths"][route][method]["responses"][str(reply.status)]
        schema = described["content"]["application/json"]["schema"]
        check(reply.json, schema)
        assert unknown_keys(reply.json, schema) == set(), (method, path)


def unknown_keys(value: Any, schema: dict[str, Any]) -> set[str]:
    """Keys of an answer that its schema does not name, however deep."""
    if isinstance(value, list):
        items = resolved(schema).get("items", {})
        return {key for item in value for key in unknown_keys(item, items)}
    if not isinstance(value, dict):
        return set()
    known = properties_of(schema)
    found = value.keys() - known.keys()
    return found | {key for name in value.keys() & known.keys() for key in unknown_keys(value[name], known[name])}


def properties_of(schema: dict[str, Any]) -> dict[str, Any]:
    schema = resolved(schema)
    found: dict[str, Any] = dict(schema.get("properties", {}))
    for part in schema.get("allOf", []):
        found = properties_of(part) | found
    return found


class _Everywhere(dict[str, Any]):
    """The same page at every path."""

    def __init__(self, page: Answer) -> None:
        self._page = page

    def get(self, _path: str, _default: Any = None) -> Answer:
        return self._page


@pytest.mark.skipif(find_spec("schemathesis") is None, reason="schemathesis is not installed")
def test_schemathesis_finds_nothing_that_is_not_described(tmp_path: Path, site: Site) -> None:
    """What it may not find: a URL of the right form that the guard refuses; a cancelled job that stays readable."""
    page = html("Any page", "Every address of this world leads to the same page. " * 20)
    service = Service(
        config_of(tmp_path, {"workers": {"count": 1}, "batch": {"jobs_per_caller": 64, "jobs_total": 64}}),
        resolve=lambda host, port: ["93.184.216.34"],
        dial=lambda address, port, timeout_s: dial("127.0.0.1", site.port, timeout_s),
    )
    site.pages = _Everywhere(page)
    try:
        ran = schemathesis(service, tmp_path)
    finally:
        service.close(0.5)

    assert ran.returncode == 0, ran.stdout[-6000:] + ran.stderr[-2000:]
    assert "fault" not in service.log.getvalue()


def schemathesis(service: Service, directory: Path) -> subprocess.CompletedProcess[str]:
    """A bounded run over the described interface, the made-up world having no TLS and one job."""
    job = service.submit("http://example.com/").json["job_id"]
    service.wait(job)
    known = DOCUMENT["paths"]["/v1/batch/{id}"]["parameters"][0]["example"]
    told = json.dumps(DOCUMENT).replace(known, job)
    file = directory / "openapi.json"
    file.write_text(told.replace("https://example", "http://example").replace("^https?://", "^http://"))
    host, port = service.server.address
    command = [sys.executable, "-m", "schemathesis.cli", "run", str(file), "--url", f"http://{host}:{port}"]
    command += ["--header", "Authorization: Bearer alice-token", "--phases", "examples,coverage,fuzzing"]
    command += ["--exclude-checks", "positive_data_acceptance,use_after_free", "--max-examples", "3", "--seed", "1"]
    command += ["--no-color"]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=120)
