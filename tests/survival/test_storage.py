"""A disk that is full or read-only, a database that somebody holds: what goes on, what is refused, what is said."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sift.dcache import opening
from tests.support.service import Service
from tests.support.site import Site
from tests.support.waiting import until

MakeService = Callable[..., Service]


def entries(service: Service, job_id: str) -> list[str]:
    return [target["status"] for target in service.ask("GET", f"/v1/batch/{job_id}").json["targets"]]


def test_on_a_full_disk_reads_and_fetches_go_on_and_nothing_is_lost(
    make_service: MakeService, disk: Any, held: Any, site: Site
) -> None:
    service = make_service(disk.path, batch={"jobs_per_caller": 4})
    done = service.submit(site.url("/1")).json["job_id"]
    before = service.wait(done)
    job_id = service.submit(site.url("/held"), site.url("/2")).json["job_id"]
    assert held.asked.wait(10)

    disk.fill()
    refused = service.submit(site.url("/3"))
    health = service.ask("GET", "/healthz")
    held.let_go.set()
    until(lambda: "in=storage" in service.log.getvalue())

    assert (refused.status, refused.json["reason"], refused.headers["retry-after"]) == (503, "storage", "10")
    assert "disk is full" in refused.json["error"]
    assert (health.status, health.json["troubles"]) == (503, ["the store is not writable: the disk is full"])
    assert service.fetch(site.url("/4")).status == 200
    assert service.ask("GET", f"/v1/batch/{done}").json["targets"] == before["targets"]
    assert entries(service, job_id) == ["running", "pending"]

    disk.free()
    assert service.wait(job_id)["status"] == "done"
    assert service.submit(site.url("/3")).status == 202
    assert service.ask("GET", "/healthz").status == 200


def test_a_read_only_directory_is_refused_at_the_start_with_one_line(disk: Any, tmp_path: Path) -> None:
    file = tmp_path / "sift.toml"
    file.write_text(f"[server]\nport = 0\ndata_dir = '{disk.path / 'data'}'\n")
    disk.mount("-o", "remount,ro")

    command = [sys.executable, "-m", "sift.cli", "serve", "--config", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30)

    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    assert "read-only file system" in done.stderr
    assert "data_dir" in done.stderr


@pytest.fixture
def service(make_service: MakeService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Service:
    monkeypatch.setattr(opening, "_BUSY_S", 0.2)  # how long it waits for another program, four times in a row
    return make_service(tmp_path, batch={"jobs_per_caller": 4})


@pytest.fixture
def somebody(service: Service) -> Iterator[sqlite3.Connection]:
    """Another program that has the database open."""
    path = Path(service.config.server.data_dir) / "dcache.sqlite3"
    with closing(sqlite3.connect(path, isolation_level=None, timeout=10)) as connection:
        yield connection


def test_while_another_program_holds_the_database_reads_go_on(
    service: Service, somebody: sqlite3.Connection, held: Any, site: Site
) -> None:
    job_id = service.submit(site.url("/held"), site.url("/2")).json["job_id"]
    assert held.asked.wait(10)

    somebody.execute("BEGIN IMMEDIATE")
    refused = service.submit(site.url("/3"))
    held.let_go.set()
    until(lambda: "in=storage" in service.log.getvalue())

    assert (refused.status, refused.json["reason"]) == (503, "storage")
    assert entries(service, job_id) == ["running", "pending"]
    assert service.fetch(site.url("/4")).status == 200

    somebody.execute("ROLLBACK")
    assert service.wait(job_id)["status"] == "done"
    assert service.submit(site.url("/3")).status == 202
    assert service.ask("GET", "/healthz").status == 200


def test_a_database_that_is_damaged_under_way_is_said_and_answers_go_on(service: Service, site: Site) -> None:
    service.wait(service.submit(site.url("/long")).json["job_id"])
    service.server.parts.store.tidy()
    path = Path(service.config.server.data_dir) / "dcache.sqlite3"
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(bytes(range(256)) * 16 * (path.stat().st_size // 4096 - 1))

    statuses = {service.submit(site.url(f"/{number}")).status for number in range(3)}

    assert statuses <= {202, 503}
    assert service.ask("GET", "/metrics").status == 200
    assert service.fetch(site.url("/9")).status == 200
