"""A question to a page through the whole service, with a stand-in for the models."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.support.service import Service, config_of
from tests.support.site import Site, html

PAGE = "<h2>Ports</h2><p>Sift listens on port 8642 unless told otherwise.</p>" + "".join(
    f"<h2>Other {n}</h2><p>Nothing about it here, only filler number {n} to make the page longer.</p>"
    for n in range(60)
)


class Model:
    """An OpenAI-compatible endpoint; `answer` is what it says, `asked` the bodies it got."""

    def __init__(self) -> None:
        self.answer: Any = "It is 8642 [1]."
        self.status = 200
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                model.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                model.headers.append(dict(self.headers.items()))
                body = json.dumps({"choices": [{"message": {"content": model.answer}}]}).encode()
                self.send_response(model.status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1/chat/completions"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), name="model", daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def model() -> Iterator[Model]:
    found = Model()
    yield found
    found.close()


@pytest.fixture
def site() -> Iterator[Site]:
    status, headers, body = html("Manual", "X")
    found = Site({"/manual": (status, headers, body.replace(b"<p>X</p>", PAGE.encode()))})
    yield found
    found.close()


@pytest.fixture
def service(site: Site, model: Model, tmp_path: Path) -> Iterator[Service]:
    (tmp_path / "key").write_text("llm-secret\n")
    document = {
        "guard": {"allow": [f"127.0.0.1:{site.port}"]},
        "workers": {"count": 1},
        "digest": {"llm_url": model.url, "llm_model": "m", "llm_key_file": str(tmp_path / "key"), "timeout": "2s"},
    }
    found = Service(config_of(tmp_path, document))
    yield found
    found.close(0.5)


def ask(service: Service, site: Site, caller: str = "alice") -> Any:
    return service.fetch(site.url("/manual"), question="Which port does Sift listen on?", caller=caller).json


def test_a_model_answers_with_cited_passages(service: Service, site: Site, model: Model) -> None:
    found = ask(service, site)

    assert (found["digest"]["method"], found["digest"]["answer"]) == ("llm", "It is 8642 [1].")
    assert "8642" in found["digest"]["passages"][0]["text"]
    assert "It is 8642" in found["content"]
    assert model.headers[0]["Authorization"] == "Bearer llm-secret"


def test_the_answer_is_kept_within_the_callers_class(service: Service, site: Site, model: Model) -> None:
    ask(service, site)
    ask(service, site, caller="bob")

    assert len(model.asked) == 1


def test_a_restricted_callers_text_does_not_leave(service: Service, site: Site, model: Model) -> None:
    found = ask(service, site, caller="vault")

    assert not model.asked
    assert found["withheld"] == ["digest"]
    assert found["digest"]["method"] == "extractive"


@pytest.mark.parametrize(("answer", "status"), [("", 200), (None, 200), ("x", 500), ("?!", 200)])
def test_a_model_that_fails_leaves_the_extractive_digest(
    service: Service, site: Site, model: Model, answer: Any, status: int
) -> None:
    model.answer, model.status = answer, status

    found = ask(service, site)

    assert (found["digest"]["method"], found["digest"]["answer"]) == ("extractive", None)
    assert "8642" in found["content"]


def test_offsets_lead_into_the_whole_text(service: Service, site: Site) -> None:
    whole = service.fetch(site.url("/manual")).json["content"]

    for passage in ask(service, site)["digest"]["passages"]:
        assert whole[passage["offset"] :].startswith(passage["text"][:30])
