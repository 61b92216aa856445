"""Canaries in a server process at DEBUG: every outcome, for every caller and lane, and every way to ask wrongly."""

import http.client
import json
import os
import resource
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sift.auth import digest_of
from sift.target import Outcome
from tests.support.canaries import targets, without_host
from tests.support.process import children
from tests.support.service import TOKENS
from tests.support.world import World

SECRET = "c4n4ry"
KEYS = {
    "target": ["caller", "lane", "job", "idx", "outcome", "status", "ms", "bytes", "host"],
    "request": ["id", "caller", "method", "endpoint", "outcome", "status", "ms", "bytes"],
    "fault": ["in", "error", "id", "job", "idx"],
    "worker_fault": ["error"],
    "started": ["version", "host", "port"],
    "stopping": ["grace_s"],
    "stopped": [],
}
HEAD = ["at", "level", "event"]


class Server:
    """A server process; what it says on stdout and stderr is in files of these names."""

    def __init__(self, directory: Path, world: World, log_format: str) -> None:
        self.stdout, self.stderr = directory / "stdout", directory / "stderr"
        file = directory / "sift.toml"
        callers = "".join(
            f"[[caller]]\nname = '{name}'\ntoken_sha256 = '{digest_of(token)}'\n"
            f"class = '{'restricted' if name == 'vault' else 'standard'}'\n"
            for name, token in TOKENS.items()
        )
        file.write_text(
            f"[server]\nport = 0\ndata_dir = '{directory / 'data'}'\n[log]\nlevel = 'debug'\nformat = '{log_format}'\n"
            "[fetch]\ntimeout = '400ms'\nmax_bytes = '200KiB'\n[gate]\nwait = '20ms'\n"
            f"[batch]\njobs_per_caller = 4\n{callers}"
        )
        command = [sys.executable, "-X", "dev", "-m", "tests.support.serve_world", str(file), str(world.server.port)]
        with self.stdout.open("wb") as out, self.stderr.open("wb") as err:
            self.process = subprocess.Popen(
                command, stdout=out, stderr=err, env={**os.environ, "SECRET": SECRET}, preexec_fn=allow_cores
            )
        while "started" not in self.said():
            assert self.process.poll() is None, self.said()
            threading.Event().wait(0.02)
        self.port = next(self._ports())

    def said(self) -> str:
        return self.stderr.read_text()

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.said().splitlines()]

    def _ports(self) -> Iterator[int]:
        for line in self.said().splitlines():
            if line.startswith("{") and "port" in (fields := json.loads(line)):
                yield fields["port"]
            elif " port=" in line:
                yield int(line.partition(" port=")[2])

    def ask(
        self, method: str, path: str, body: Any = None, caller: str | None = "alice", **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=70)
        token = {"Authorization": f"Bearer {TOKENS.get(caller, caller)}"} if caller else {}
        raw = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        try:
            connection.request(method, path, raw, token | headers)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(20)

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def allow_cores() -> None:
    """Whatever the test's own limit is: the server has to lower its own."""
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


def drain(server: Server, targets: list[Any], caller: str) -> str:
    """Submits and waits for the end; the job's ID."""
    status, _, answer = server.ask("POST", "/v1/batch", {"targets": targets}, caller)
    assert status == 202, answer
    job_id: str = json.loads(answer)["job_id"]
    while json.loads(server.ask("GET", f"/v1/batch/{job_id}?results=none&wait=30", caller=caller)[2])["status"] in (
        "queued",
        "running",
    ):
        pass
    return job_id


def ask_wrongly(server: Server, caller: str | None) -> None:
    """What a client may get wrong, with the secret in it."""
    for method, path, body in (
        ("GET", f"/v1/batch/{SECRET}", None),
        ("GET", f"/{SECRET}?{SECRET}={SECRET}", None),
        ("GET", f"/v1/batch?{SECRET}={SECRET}", None),
        ("DELETE", f"/v1/batch/j_{SECRET}", None),
        ("PATCH", f"/v1/batch/{SECRET}", None),
        (SECRET.upper(), "/v1/fetch", None),
        ("POST", "/v1/fetch", f'{{"url": "{SECRET}'.encode()),
        ("POST", "/v1/fetch", {"url": f"http://user:{SECRET}@example.org/"}),
        ("POST", "/v1/fetch", {"url": f"ftp://{SECRET}/"}),
        ("POST", "/v1/fetch", {"url": f"http://{SECRET} {SECRET}/"}),
        ("POST", "/v1/fetch", {SECRET: 1, "url": 3}),
        ("POST", "/v1/fetch", {"url": "http://example.org/", "mode": SECRET, "grep": f"({SECRET}"}),
        ("POST", "/v1/fetch", {"url": "http://example.org/", "jq": f".{SECRET} |"}),
        ("POST", "/v1/batch", {"targets": [{"url": f"http://{SECRET}:99999/"}]}),
        ("POST", "/v1/batch", {"targets": [{"url": f"http://{SECRET}.example.org/"}] * 99}),
        ("POST", "/v1/batch", SECRET.encode() * 60_000),
        ("POST", "/v2/scrape", {"url": f"http://{SECRET}:99999/", SECRET: SECRET}),
    ):
        server.ask(method, path, body, caller)
    server.ask("GET", "/v1/batch", None, SECRET)
    server.ask("GET", "/healthz", None, caller, Cookie=SECRET, **{"X-Request-Id": f"{SECRET} {SECRET}", SECRET: SECRET})
    server.ask("GET", "/healthz", None, caller, **{"X-Long": SECRET * 20_000})


@dataclass(frozen=True)
class Record:
    """All that a server said while everything was asked of it: two outputs, and what another caller got."""

    log: str
    stdout: bytes
    others: str
    worker_outputs: set[str]
    core_bytes: set[int]


@pytest.fixture(scope="module", params=["json", "text"])
def record(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Record]:
    world = World()
    server = Server(tmp_path_factory.mktemp("canaries"), world, request.param)
    try:
        yield run(server, world)
    finally:
        server.end()
        world.close()


def ask_too_much(server: Server, world: World, caller: str) -> None:
    """More of one host than it has slots, and a job that is cancelled under way."""
    url = world.url("hang", f"{SECRET}-{caller}-busy")
    asking = [threading.Thread(target=server.ask, args=("POST", "/v1/fetch", {"url": url}, caller)) for _ in range(3)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    answer = server.ask("POST", "/v1/batch", {"targets": [{"url": url}, {"url": url}]}, caller)[2]
    server.ask("DELETE", f"/v1/batch/{json.loads(answer)['job_id']}", None, caller)


def run(server: Server, world: World) -> Record:
    jobs = []
    for caller in ("alice", "vault"):
        ask_too_much(server, world, caller)
        for target in targets(world, f"{SECRET}-{caller}"):
            server.ask("POST", "/v1/fetch", target, caller)
        jobs.append(drain(server, targets(world, f"{SECRET}-b{caller}"), caller))
        ask_wrongly(server, caller)
    ask_wrongly(server, None)
    workers = [pid for child in children(server.process.pid) for pid in children(child)]
    cores = {resource.prlimit(pid, resource.RLIMIT_CORE)[0] for pid in (server.process.pid, *workers)}
    outputs = {os.readlink(f"/proc/{pid}/fd/{number}") for pid in workers for number in (1, 2)}
    others = [server.ask("GET", f"/v1/batch/{job_id}", None, "bob") for job_id in jobs]
    others += [server.ask("DELETE", f"/v1/batch/{job_id}", None, "bob") for job_id in jobs]
    others += [server.ask("GET", path, None, "bob") for path in ("/v1/batch", "/metrics", "/healthz", "/openapi.json")]
    assert server.stop() == 0
    return Record(server.said(), server.stdout.read_bytes(), repr(others), outputs, cores)


def test_every_outcome_is_run_through(record: Record) -> None:
    outcomes = {found["outcome"] for found in map(fields_of, record.log.splitlines()) if found.get("lane")}

    assert outcomes >= {outcome.value for outcome in Outcome} - {"cancel"}  # a target that never began has no line


def test_nothing_of_what_is_asked_is_said(record: Record) -> None:
    assert SECRET in record.log
    assert SECRET not in without_host(record.log).lower()
    assert record.stdout == b""


def test_another_caller_learns_nothing_of_it(record: Record) -> None:
    assert SECRET not in record.others


def test_a_worker_has_nowhere_to_speak(record: Record) -> None:
    assert record.worker_outputs == {"/dev/null"}


def test_a_crash_leaves_no_core(record: Record) -> None:
    assert record.core_bytes == {0}


def test_a_restricted_callers_lines_say_ok_or_failed(record: Record) -> None:
    fields = [fields_of(line) for line in record.log.splitlines()]
    of_vault = [found for found in fields if found.get("caller") == "vault"]

    assert len(of_vault) > 40
    assert {found["outcome"] for found in of_vault} == {"ok", "failed"}
    assert {found["status"] for found in of_vault} == {None}
    assert {found["host"] for found in of_vault if "host" in found} == {None}


def test_a_fault_of_a_restricted_callers_target_names_no_job(record: Record) -> None:
    fields = [fields_of(line) for line in record.log.splitlines()]
    faults = [found for found in fields if found.get("in") == "fetch_target"]

    assert len(faults) == 4
    assert [found["job"] is None for found in faults] == [True, False, True, True]


def test_every_line_of_a_kind_has_the_same_keys(record: Record) -> None:
    for line in record.log.splitlines():
        event = json.loads(line)["event"] if line.startswith("{") else line.split()[2]
        assert list(fields_of(line)) == ([*HEAD, *KEYS[event]] if line.startswith("{") else KEYS[event])


def fields_of(line: str) -> dict[str, Any]:
    """A line's fields, of either format; `-` is `None`."""
    if line.startswith("{"):
        found: dict[str, Any] = json.loads(line)
        return found
    pairs = (word.partition("=") for word in shlex.split(line)[3:])
    return {key: None if value == "-" else value for key, _, value in pairs}
