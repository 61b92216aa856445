"""Clients and hosts that take their time: idle connections by the thousand, a byte a second, no descriptor left."""

import http.client
import json
import resource
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.process import STARTED
from tests.support.service import Service
from tests.support.site import Site

IDLE = 1000
MakeService = Callable[..., Service]


@pytest.fixture
def crowd() -> Iterator[list[socket.socket]]:
    found: list[socket.socket] = []
    yield found
    for each in found:
        each.close()


def test_a_thousand_idle_connections_stop_nobody(
    make_service: MakeService, tmp_path: Path, site: Site, crowd: list[socket.socket]
) -> None:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 2 * IDLE + 400:
        pytest.skip(f"both ends of {IDLE} connections need more descriptors than {soft}")
    service = make_service(tmp_path)
    crowd += [socket.create_connection(service.server.address, 10) for _ in range(IDLE)]
    for each in crowd[::2]:
        each.sendall(b"POST /v1/fetch HTTP/1.1\r\nContent-Le")

    began = time.monotonic()
    assert service.ask("GET", "/healthz").status == 200
    assert service.fetch(site.url("/1")).status == 200
    assert service.wait(service.submit(site.url("/2")).json["job_id"])["status"] == "done"
    assert time.monotonic() - began < 5


def test_clients_that_send_a_byte_at_a_time_hold_no_thread(
    make_service: MakeService, tmp_path: Path, site: Site, crowd: list[socket.socket]
) -> None:
    service = make_service(tmp_path)
    body = json.dumps({"url": site.url("/1")}).encode()
    head = b"POST /v1/fetch HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice-token\r\nContent-Length: %d\r\n\r\n"
    request = head % len(body) + body
    crowd += [socket.create_connection(service.server.address, 10) for _ in range(service.config.server.threads + 8)]

    for number, byte in enumerate(request[:-1]):
        for each in crowd:
            each.sendall(bytes([byte]))
        if number % 40 == 0:
            assert service.ask("GET", "/healthz").status == 200
    assert service.fetch(site.url("/2")).status == 200
    crowd[0].sendall(request[-1:])

    assert crowd[0].recv(4096).startswith(b"HTTP/1.1 200 OK")


def test_a_resolver_that_hangs_costs_its_own_fetches_alone(
    make_service: MakeService, tmp_path: Path, site: Site
) -> None:
    answered = threading.Event()

    def resolve(host: str, port: int) -> list[str]:
        if not answered.is_set():
            answered.wait(20)
        return ["127.0.0.1"]

    allow = [f"127.0.0.1:{site.port}", f"slow.example.org:{site.port}"]
    tables = {"guard": {"allow": allow}, "fetch": {"timeout": "300ms"}, "gate": {"per_host": 4}}
    service = make_service(tmp_path, {"resolve": resolve}, **tables)
    slow = f"http://slow.example.org:{site.port}"
    job_id = service.submit(*[f"{slow}/{number}" for number in range(3)]).json["job_id"]

    began = time.monotonic()
    hung = service.fetch(f"{slow}/4")
    beside = service.fetch(site.url("/5"))
    health = service.ask("GET", "/healthz")
    took_s = time.monotonic() - began
    job = service.wait(job_id)
    answered.set()

    assert (hung.status, hung.json["reason"]) == (504, "timeout")
    assert (beside.status, health.status) == (200, 200)
    assert took_s < 3
    assert [target["reason"] for target in job["targets"]] == ["timeout"] * 3
    assert service.fetch(f"{slow}/6").status == 200


def test_without_descriptors_who_is_in_is_served_and_all_is_well_again_afterwards(
    tmp_path: Path, site: Site, crowd: list[socket.socket]
) -> None:
    file = tmp_path / "sift.toml"
    allow = f"[guard]\nallow = ['127.0.0.1:{site.port}']\n"
    file.write_text(f"[server]\nport = 0\ndata_dir = '{tmp_path / 'data'}'\n[workers]\ncount = 1\n{allow}")
    limit = "import os,resource,sys; resource.setrlimit(7, (96, 96)); os.execv(sys.executable, sys.argv[1:])"
    command = [sys.executable, "-c", limit, sys.executable, "-m", "sift.cli", "serve", "--config", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        found = STARTED.search(process.stdout.readline())
        assert found
        port = int(found[2])
        token = (tmp_path / "data" / "token").read_text().strip()
        early = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        assert fetch(early, token, site.url("/1")) == 200

        crowd += [socket.create_connection(("127.0.0.1", port), 10) for _ in range(200)]
        late = socket.create_connection(("127.0.0.1", port), 10)
        late.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        cpu_s = cpu_of(process.pid)
        assert fetch(early, token, site.url("/2")) == 200
        assert not select.select([late], [], [], 0.5)[0]
        assert cpu_of(process.pid) - cpu_s < 0.3
        for each in crowd:
            each.close()
        assert late.recv(100).startswith(b"HTTP/1.1 200 OK")
        late.close()
        assert fetch(early, token, site.url("/3")) == 200
        early.close()
        process.terminate()
        said = process.stdout.read()

    assert process.returncode == 0
    assert "fault" not in said


def fetch(connection: http.client.HTTPConnection, token: str, url: str) -> int:
    connection.request("POST", "/v1/fetch", json.dumps({"url": url}), {"Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    answer.read()
    return answer.status


def cpu_of(pid: int) -> float:
    """Seconds of CPU that a process has had."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100
