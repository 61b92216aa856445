"""Pages and programs that would stall, kill or read the server: each is one failed target, and nothing else."""

import json
import os
import signal
import statistics
import threading
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.process import _below
from tests.support.service import Service, config_of
from tests.support.site import Site
from tests.support.waiting import until

HTML = {"Content-Type": "text/html; charset=utf-8"}
JSON = {"Content-Type": "application/json"}
TEXT = {"Content-Type": "text/plain"}
SECRET = "the-server's-secret"
MIB = 1 << 20


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    found = Site(
        {
            "/small.json": (200, JSON, b'{"a": 1}'),
            "/deep.json": (200, JSON, b"[" * 200_000 + b"]" * 200_000),
            "/line": (200, TEXT, b"a" * MIB + b"!\n"),
            "/nested": (200, HTML, b"<div>" * 100_000 + b"the text inside" + b"</div>" * 100_000),
            "/deep": (200, HTML, b"<div>" * 5_000 + b"the text inside" + b"</div>" * 5_000),
            "/lists": (200, HTML, b"<ul><li>" * 3_000 + b"the text inside"),
            "/big": (200, HTML, b"<p>" + b"<b>word</b> " * (10 * MIB // 12)),
            "/attributes": (200, HTML, b"<p " + b" ".join(b"a%d=b" % n for n in range(200_000)) + b">text</p>"),
            "/comment": (200, HTML, b"<!--" * 500_000),
            "/open": (200, HTML, b"<a href='" * 200_000),
            "/table": (200, HTML, b"<table>" + b"<tr>" + b"<td colspan=1000 rowspan=65000>x" * 3000),
            "/bomb.pdf": (200, {"Content-Type": "application/pdf"}, _content_bomb()),
            "/junk.pdf": (200, {"Content-Type": "application/pdf"}, b"%PDF-1.7\n" + os.urandom(200_000)),
            "/junk.html": (200, HTML, os.urandom(500_000)),
            "/entities.xml": (200, {"Content-Type": "application/rss+xml"}, _billion_laughs()),
            "/good": (200, HTML, b"<title>Good</title><p>" + b"A page that can be read. " * 20),
        }
    )
    yield found
    found.close()


def _content_bomb() -> bytes:
    """A PDF of 100 kB whose one page unpacks to 100 MB of drawing."""
    packer = zlib.compressobj(9)
    stream = (
        b"".join(packer.compress(b"BT /F 9 Tf 9 9 Td (boom) Tj ET\n" * 32_768) for _ in range(100)) + packer.flush()
    )
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>",
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    body = b"%PDF-1.4\n" + b"".join(b"%d 0 obj\n%s\nendobj\n" % pair for pair in enumerate(objects, 1))
    return body + b"trailer << /Root 1 0 R /Size 6 >>\n%%EOF"


def _billion_laughs() -> bytes:
    levels = [b'<!ENTITY e0 "ha">'] + [b'<!ENTITY e%d "%s">' % (n, b"&e%d;" % (n - 1) * 10) for n in range(1, 12)]
    return (
        b'<?xml version="1.0"?><!DOCTYPE rss ['
        + b"".join(levels)
        + b"]><rss><channel><title>&e11;</title></channel></rss>"
    )


@pytest.fixture(scope="module")
def service(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    document = {
        "guard": {"allow": [f"127.0.0.1:{site.port}"]},
        "workers": {"count": 2, "timeout": "1s", "memory": "512MiB"},
        "fetch": {"max_bytes": "20MiB"},
    }
    os.environ["SIFT_TEST_SECRET"] = SECRET
    found = Service(config_of(tmp_path_factory.mktemp("hostile"), document))
    yield found
    found.close(0.5)
    del os.environ["SIFT_TEST_SECRET"]


class Pulse(threading.Thread):
    """Asks `/healthz` all the while; `worst_s` is the longest that it took."""

    def __init__(self, service: Service) -> None:
        super().__init__(name="pulse", daemon=True)
        self.service = service
        self.over = threading.Event()
        self.times: list[float] = []
        self.statuses: set[int] = set()

    def run(self) -> None:
        while True:
            began = time.monotonic()
            self.statuses.add(self.service.ask("GET", "/healthz", caller=None).status)
            self.times.append(time.monotonic() - began)
            if self.over.wait(0.02):
                return

    def __enter__(self) -> "Pulse":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.join()


@pytest.mark.parametrize(
    ("path", "options", "reasons"),
    [
        ("/small.json", {"jq": "def f: f; f"}, {"timeout", "too_long"}),
        ("/small.json", {"jq": "[range(1e9)]"}, {"timeout", "too_long"}),
        ("/small.json", {"jq": '"x" * 10000000000'}, {"timeout", "too_long", "unsupported"}),
        ("/small.json", {"jq": "last(range(1e12))"}, {"timeout"}),
        ("/small.json", {"jq": "[limit(100000000; repeat(1))]"}, {"timeout", "too_long"}),
        ("/small.json", {"jq": '("a" * 100000) | test("(a+)+$")'}, {"", "timeout", "unsupported"}),
        ("/deep.json", {"jq": "."}, {"unsupported", "too_long"}),
        ("/deep.json", {}, {"", "too_long"}),
        ("/line", {"grep": "(a+)+$"}, {""}),
        ("/line", {"grep": "(a|a|a|a)*b"}, {""}),
        ("/nested", {}, {"", "timeout", "too_long"}),
        ("/lists", {}, {""}),
        ("/big", {}, {"", "timeout", "too_long"}),
        ("/attributes", {}, {""}),
        ("/comment", {}, {""}),
        ("/open", {"mode": "links"}, {""}),
        ("/table", {}, {"", "timeout", "too_long"}),
        ("/bomb.pdf", {}, {"timeout", "too_long", "unsupported"}),
        ("/junk.pdf", {}, {"unsupported"}),
        ("/junk.html", {}, {"", "unsupported"}),
        ("/entities.xml", {}, {""}),
        ("/good", {"question": "a " * 400}, {""}),
    ],
    ids=lambda value: str(value)[:40],
)
def test_it_costs_one_target_and_the_server_answers_all_the_while(
    service: Service, site: Site, path: str, options: dict[str, str], reasons: set[str]
) -> None:
    with Pulse(service) as pulse:
        began = time.monotonic()
        reply = service.fetch(site.url(path), **options)
        took_s = time.monotonic() - began

    assert reply.json.get("reason", "") in reasons, reply.json
    assert took_s < 4
    assert pulse.statuses == {200}
    # site, test and server share this process: a moment's delay is their own; a stalled server is not a moment's
    assert statistics.median(pulse.times) < 0.2
    assert max(pulse.times) < 1
    assert service.fetch(site.url("/good")).json["title"] == "Good"


@pytest.mark.parametrize("path", ["/deep", "/lists"])
def test_text_deep_inside_comes_out(service: Service, site: Site, path: str) -> None:
    assert "the text inside" in service.fetch(site.url(path)).json["content"]


@pytest.mark.parametrize(
    "program", ["env", "$ENV", "env.SIFT_TEST_SECRET", "$ENV.SIFT_TEST_SECRET", "[env, $ENV] | tostring"]
)
def test_jq_sees_nothing_of_the_environment(service: Service, site: Site, program: str) -> None:
    reply = service.fetch(site.url("/small.json"), jq=program)

    assert SECRET not in reply.body.decode()
    if reply.status == 200:
        assert "PATH" not in reply.json["content"]


@pytest.mark.parametrize(
    "program",
    [
        'import "passwd" as $p {search: "/etc"}; $p',
        'import "x" as x {search: "./"}; .',
        'include "x" {search: "/etc"}; .',
        'include "jq"; .',
        "input_filename",
        "$__prog_args",
        "get_search_list",
        "input",
        "[inputs]",
        '"/etc/passwd" | @sh | ltrimstr("x")',
        "debug",
        "stderr",
        "halt_error",
        "halt",
    ],
)
def test_jq_reads_no_file_and_stops_no_worker(
    service: Service, site: Site, program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply = service.fetch(site.url("/small.json"), jq=program)

    assert reply.status in (200, 400, 415), reply.json
    assert "root:" not in reply.body.decode()
    assert service.fetch(site.url("/small.json"), jq=".a").json["content"].strip() == "1"


def test_a_worker_killed_from_outside_is_one_failed_target(service: Service, site: Site) -> None:
    with ThreadPoolExecutor(1) as threads:
        slow = threads.submit(service.fetch, site.url("/small.json"), jq="last(range(1e12))")
        workers = service.server.parts.pool._workers
        until(lambda: any(worker.overdue_at is not None for worker in workers))
        busy = [worker for worker in workers if worker.overdue_at is not None]
        os.kill(busy[0].process.pid, signal.SIGKILL)

        assert slow.result().json["reason"] in ("internal", "timeout")
    assert service.fetch(site.url("/good")).json["title"] == "Good"


def test_no_worker_is_left_over(service: Service) -> None:
    pool = service.server.parts.pool
    service.ask("GET", "/healthz")

    assert len(pool._workers) <= 2
    names = [Path(f"/proc/{pid}/cmdline").read_text() for pid in _below(os.getpid())]
    assert len(names) <= 8, json.dumps(names)
