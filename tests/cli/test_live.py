"""The command against `sift serve`, each a process of its own, over a site on loopback."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
import tomllib
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.site import Answer, Site, html

PAGES = 6


@dataclass
class Live:
    """A running server: its config file, and a site that it may read."""

    config: Path
    site: Site
    process: subprocess.Popen[bytes]
    command: list[str]
    environment: dict[str, str]

    def sift(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.command, *arguments],
            env=self.environment,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


@pytest.fixture
def live(clean_environment: None, command: list[str], tmp_path: Path) -> Iterator[Live]:
    text = "Every harbour has a light of its own, and the chart tells which one it is. " * 8
    site = Site({f"/{number}": html(f"Page {number}", f"{text} Number {number}.") for number in range(PAGES)})
    config = tmp_path / "sift.toml"
    config.write_text(
        f'[server]\nport = {_free_port()}\ndata_dir = "{tmp_path / "data"}"\n'
        f'[guard]\nallow = ["127.0.0.1:{site.port}"]\n'
    )
    environment = {**os.environ, "SIFT_CONFIG": str(config), "PYTHONPATH": str(Path(__file__).parents[2])}
    running = Live(config, site, _serve(command, environment), command, environment)
    try:
        yield running
    finally:
        running.process.send_signal(signal.SIGTERM)
        running.process.communicate(timeout=30)
        site.close()


def _serve(command: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """A server that answers: its log has been read up to the line that says so."""
    process = subprocess.Popen([*command, "serve"], env=environment, stderr=subprocess.PIPE)
    assert process.stderr is not None
    while b"started" not in (line := process.stderr.readline()):
        assert line, "the server ended before it had started"
    return process


def test_a_list_becomes_one_submit_and_one_collect(live: Live, tmp_path: Path) -> None:
    urls = "".join(f"{live.site.url('/')}{number}\n" for number in range(PAGES))

    made = live.sift("batch", "submit", "-", stdin=urls)
    job_id = json.loads(made.stdout)["job_id"]
    waited = live.sift("batch", "wait", job_id)
    collected = live.sift("batch", "results", job_id, "-o", str(tmp_path / "out"))

    assert (made.returncode, waited.returncode, collected.returncode) == (0, 0, 0)
    assert json.loads(waited.stdout)["counts"] == {"pending": 0, "running": 0, "done": PAGES, "failed": 0}
    assert live.site.seen == [f"/{number}" for number in range(PAGES)]
    assert live.site.most_at_once == 1
    for number in range(PAGES):
        assert f"Number {number}." in (tmp_path / "out" / f"{number:02d}-page-{number}.md").read_text()


def test_a_mixed_list_is_partial_and_the_index_says_why(live: Live, tmp_path: Path) -> None:
    urls = [f"{live.site.url('/')}0", f"{live.site.url('/')}gone", "http://10.0.0.1/"]

    waited = live.sift("batch", "submit", *urls, "--wait")
    job_id = json.loads(waited.stderr.splitlines()[0])["job_id"]
    collected = live.sift("batch", "results", job_id, "-o", str(tmp_path / "out"))

    assert (waited.returncode, collected.returncode) == (3, 3)
    assert [json.loads(line)["outcome"] for line in collected.stdout.splitlines()] == ["ok", "upstream_4xx", "blocked"]


def test_a_fetch_reads_one_page_and_says_how_another_failed(live: Live) -> None:
    came = live.sift("fetch", f"{live.site.url('/')}1")
    gone = live.sift("fetch", f"{live.site.url('/')}gone")
    private = live.sift("fetch", "http://10.0.0.1/")
    wrong = live.sift("fetch", f"{live.site.url('/')}1", "--grep", "(")

    assert "Number 1." in came.stdout
    assert [run.returncode for run in (came, gone, private, wrong)] == [0, 1, 1, 1]
    assert gone.stderr.startswith("sift: upstream_4xx: the site answered 404")
    assert private.stderr.startswith("sift: blocked: private address 10.0.0.1")
    assert "grep" in wrong.stderr


def test_every_wrong_place_of_a_list_is_named_by_the_server(live: Live) -> None:
    targets = [{"url": f"{live.site.url('/')}0", "mode": "claen"}, {"url": f"{live.site.url('/')}1", "quesion": "x"}]

    ran = live.sift("batch", "submit", "-", stdin=json.dumps(targets))

    assert ran.returncode == 1
    assert "targets[0].mode" in ran.stderr
    assert "targets[1]" in ran.stderr


def test_a_wrong_token_is_not_let_in(live: Live) -> None:
    live.environment["SIFT_TOKEN"] = "not-the-one"

    ran = live.sift("batch", "list")

    assert (ran.returncode, ran.stdout) == (4, "")


def test_a_held_page_is_waited_for_and_a_cancel_ends_the_job(live: Live) -> None:
    free = threading.Event()

    def held(_: object) -> Answer:
        free.wait(30)
        return html("Held", "It came in the end, and it is long enough to be a page of its own.")

    live.site.pages["/held"] = held
    made = live.sift("batch", "submit", f"{live.site.url('/')}held", f"{live.site.url('/')}0")
    job_id = json.loads(made.stdout)["job_id"]

    ran_out = live.sift("batch", "wait", job_id, "--timeout", "1")
    second = live.sift("batch", "submit", f"{live.site.url('/')}1")
    cancelled = live.sift("batch", "cancel", job_id)
    free.set()
    after = live.sift("batch", "wait", job_id)

    assert ran_out.returncode == 8
    assert (second.returncode, job_id in second.stderr) == (7, True)
    assert json.loads(cancelled.stdout) == {"success": True, "status": "cancelled"}
    assert after.returncode == 5
    assert json.loads(after.stdout)["counts"] == {"pending": 1, "running": 0, "done": 1, "failed": 0}
    assert after.stderr == "sift: the job is cancelled: 1 of 2 targets came, 0 failed, 1 never began\n"


def _until_it_was_looked_at(live: Live) -> None:
    """Until the server has answered a status; what it counts is asked of it again and again."""
    url = f"http://127.0.0.1:{tomllib.loads(live.config.read_text())['server']['port']}/metrics"
    ends = time.monotonic() + 20
    while time.monotonic() < ends:
        with urllib.request.urlopen(url) as answer:
            if re.search(
                r'^sift_requests_total\{code="200",endpoint="/v1/batch/[^"]+"\} [1-9]', answer.read().decode(), re.M
            ):
                return
    raise AssertionError("nobody looked at the job")


def test_a_wait_outlives_a_restart_and_tells_of_it(live: Live) -> None:
    free = threading.Event()
    live.site.pages["/held"] = lambda _: (free.wait(30), html("Held", "x"))[1]
    job_id = json.loads(live.sift("batch", "submit", f"{live.site.url('/')}held").stdout)["job_id"]
    waiting = subprocess.Popen(
        [*live.command, "batch", "wait", job_id], env=live.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    _until_it_was_looked_at(live)

    live.process.kill()
    live.process.communicate(timeout=30)
    free.set()
    live.process = _serve(live.command, live.environment)
    out, err = waiting.communicate(timeout=60)

    assert (waiting.returncode, json.loads(out)["error"]) == (5, "restart")
    away, ended = err.decode().splitlines()
    assert away.endswith("; waiting for it, 30 s at most")
    assert ended == "sift: the job failed: restart; 0 of 1 targets came, 1 failed, 0 never began"
