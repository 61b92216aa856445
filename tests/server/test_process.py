import os
import signal
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sift.auth import digest_of
from tests.support.held import Held
from tests.support.process import Process, alive
from tests.support.site import Site, html

MakeProcess = Callable[..., Process]
TEXT = "A sentence that a reader came for, long enough to be taken for the text of a page. " * 4


@pytest.fixture
def site() -> Iterator[Site]:
    found = Site({f"/{number}": html(f"Page {number}", TEXT) for number in range(40)})
    yield found
    found.close()


@pytest.fixture
def make(tmp_path: Path, site: Site) -> Iterator[MakeProcess]:
    made: list[Process] = []

    def make(config: str = "", directory: str = "one") -> Process:
        (tmp_path / directory).mkdir(exist_ok=True)
        allow = f"[workers]\ncount = 1\n[guard]\nallow = ['127.0.0.1:{site.port}']\n"
        made.append(Process(tmp_path / directory, config + allow))
        return made[-1]

    yield make
    for process in made:
        process.close()


@pytest.fixture
def held(site: Site) -> Iterator[Held]:
    page = Held()
    site.pages["/held"] = page
    yield page
    page.let_go()


def submit(process: Process, *urls: str) -> str:
    status, body = process.ask("POST", "/v1/batch", {"targets": [{"url": url} for url in urls]})
    assert status == 202, body
    job_id: str = body["job_id"]
    return job_id


def test_a_term_lets_the_target_in_flight_be_stored_and_leaves_no_process(
    make: MakeProcess, site: Site, held: Held
) -> None:
    first = make().wait_started()
    job_id = submit(first, site.url("/held"), site.url("/1"))
    assert held.asked.wait(10)
    below = first.children()
    assert below

    first.process.send_signal(signal.SIGTERM)
    while first.ask("GET", "/healthz")[0] != 503:
        pass
    assert first.ask("POST", "/v1/batch", {"targets": [{"url": site.url("/2")}]})[1]["reason"] == "stopping"
    assert first.ask("POST", "/v1/fetch", {"url": site.url("/2")})[1]["reason"] == "stopping"
    held.let_go()

    assert first.process.wait(20) == 0
    assert not alive(below)
    job = make().wait_started().ask("GET", f"/v1/batch/{job_id}")[1]
    assert (job["status"], job["error"]) == ("failed", "restart")
    assert [target["status"] for target in job["targets"]] == ["done", "pending"]
    assert site.seen == ["/held"]


def test_a_grace_that_runs_out_ends_it_all_the_same(make: MakeProcess, site: Site, held: Held) -> None:
    process = make('grace = "300ms"\n').wait_started()
    job_id = submit(process, site.url("/held"))
    assert held.asked.wait(10)
    below = process.children()

    assert process.end() == 0
    assert not alive(below)
    job = make().wait_started().ask("GET", f"/v1/batch/{job_id}")[1]
    assert job["targets"][0]["reason"] == "restart"


def test_a_long_poll_is_woken_by_a_stop(make: MakeProcess, site: Site, held: Held) -> None:
    process = make('grace = "300ms"\n').wait_started()
    job_id = submit(process, site.url("/held"))
    assert held.asked.wait(10)
    answers: list[int] = []
    poll = threading.Thread(target=lambda: answers.append(process.ask("GET", f"/v1/batch/{job_id}?wait=60")[0]))
    poll.start()
    while "/v1/batch" not in "".join(process.lines):
        pass

    process.process.send_signal(signal.SIGTERM)
    poll.join(10)

    assert answers == [200]
    assert process.process.wait(10) == 0


def test_a_second_server_of_a_data_dir_ends_with_one_line_and_changes_nothing(make: MakeProcess) -> None:
    first = make().wait_started()
    before = {path.name: path.stat().st_mtime_ns for path in first.data_dir.iterdir()}

    second = make()

    assert second.process.wait(20) == 1
    second.started.wait(5)
    assert len(second.lines) == 1
    assert "in use by another sift serve" in second.lines[0]
    assert {path.name: path.stat().st_mtime_ns for path in first.data_dir.iterdir()} == before
    assert first.ask("GET", "/healthz")[0] == 200


def test_a_port_that_is_taken_is_one_line(make: MakeProcess, site: Site, tmp_path: Path) -> None:
    process = make(f"[server]\nport = {site.port}\ndata_dir = '{tmp_path / 'x'}'\n")

    assert process.process.wait(20) == 1
    process.started.wait(5)
    assert len(process.lines) == 1
    assert f"cannot listen on 127.0.0.1:{site.port}" in process.lines[0]


def test_another_host_without_callers_is_refused(make: MakeProcess, tmp_path: Path) -> None:
    process = make(f"[server]\nhost = '0.0.0.0'\nport = 0\ndata_dir = '{tmp_path / 'x'}'\n")

    assert process.process.wait(20) == 1
    process.started.wait(5)
    assert "no [[caller]]" in process.lines[0]


def test_nothing_that_was_seen_finished_is_lost_by_kill_9(make: MakeProcess, site: Site) -> None:
    seen: dict[str, dict[int, object]] = {}
    for round_ in range(4):
        process = make().wait_started()
        for job_id, targets in seen.items():
            job = process.ask("GET", f"/v1/batch/{job_id}")[1]
            assert job["status"] in ("done", "failed")
            assert {idx: job["targets"][idx]["result"] for idx in targets} == targets
        job_id = submit(process, *[site.url(f"/{number}") for number in range(round_, round_ + 30)])
        job = {}
        while job.get("targets_done", 0) < 2 + 3 * round_:
            job = process.ask("GET", f"/v1/batch/{job_id}")[1]
        seen[job_id] = {t["idx"]: t["result"] for t in job["targets"] if t["status"] == "done"}
        below = process.children()
        process.kill()
        for _ in range(500):
            if not alive(below):
                break
            process._reader.join(0.01)
        assert not alive(below)


def test_files_are_private(make: MakeProcess) -> None:
    process = make().wait_started()

    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in process.data_dir.iterdir()}

    assert set(modes) >= {"dcache.sqlite3", "lock", "token"}
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(process.data_dir.stat().st_mode) == 0o700


def test_a_hangup_puts_callers_in_force_and_cancels_a_removed_ones_job(
    make: MakeProcess, site: Site, held: Held
) -> None:
    process = make().wait_started()
    job_id = submit(process, site.url("/held"), site.url("/1"))
    assert held.asked.wait(10)
    text = process.file.read_text()

    process.file.write_text(text + f"[[caller]]\nname = 'new'\ntoken_sha256 = '{digest_of('t')}'\n[server]\n")
    process.process.send_signal(signal.SIGHUP)
    await_line(process, "config_refused")
    assert process.ask("GET", f"/v1/batch/{job_id}")[0] == 200
    process.file.write_text(
        text + f"[[caller]]\nname = 'new'\ntoken_sha256 = '{digest_of('t')}'\n[log]\nformat='json'\n"
    )
    process.process.send_signal(signal.SIGHUP)
    await_line(process, " reloaded")

    assert any("needs_restart" in line and "[log] format" in line for line in process.lines)
    assert process.ask("GET", f"/v1/batch/{job_id}")[0] == 401
    held.let_go()
    process.end()
    with sqlite3.connect(process.data_dir / "dcache.sqlite3") as database:
        assert database.execute("SELECT status FROM batch_job").fetchall() == [("cancelled",)]
    database.close()


def await_line(process: Process, part: str) -> None:
    for _ in range(2000):
        if any(part in line for line in process.lines):
            return
        threading.Event().wait(0.005)
    raise AssertionError(process.lines)


def test_a_damaged_database_stops_the_start_and_is_left_as_it_is(make: MakeProcess, tmp_path: Path) -> None:
    data = tmp_path / "one" / "data"
    data.mkdir(parents=True)
    (data / "dcache.sqlite3").write_bytes(os.urandom(8192))
    before = (data / "dcache.sqlite3").read_bytes()

    process = make()

    assert process.process.wait(20) == 1
    assert (data / "dcache.sqlite3").read_bytes() == before
