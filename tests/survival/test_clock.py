"""A wall clock that jumps by a day while the service runs: no lease is lost by it, and nothing waits for ever."""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.process import Process
from tests.support.site import Site

LIBRARY = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
DAY = 86_400
pytestmark = pytest.mark.skipif(
    LIBRARY is None or shutil.which("faketime") is None, reason="faketime is not installed (Debian: faketime)"
)


@pytest.fixture
def turned(tmp_path: Path) -> Path:
    """The file that says how far the wall clock is off."""
    found = tmp_path / "offset"
    found.write_text("+0")
    return found


@pytest.fixture
def process(tmp_path: Path, site: Site, turned: Path) -> Iterator[Process]:
    environ = {
        "LD_PRELOAD": str(LIBRARY),
        "FAKETIME_TIMESTAMP_FILE": str(turned),
        "FAKETIME_CACHE_DURATION": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    config = f"[workers]\ncount = 1\n[batch]\nttl = '1h'\n[guard]\nallow = ['127.0.0.1:{site.port}']\n"
    found = Process(tmp_path, config, environ=environ)
    yield found.wait_started()
    found.close()


def test_jumps_by_a_day_ahead_and_back_cost_no_job_and_nothing_hangs(
    process: Process, turned: Path, site: Site
) -> None:
    before = drained(process, site.url("/1"))
    job_id = before["job_id"]

    for number, jump_s in enumerate((DAY, -DAY), 2):
        turned.write_text(f"{jump_s:+d}")
        after = moved(process, before, jump_s)
        assert after["targets"] == before["targets"]
        began = time.monotonic()
        assert process.ask("POST", "/v1/fetch", {"url": site.url(f"/{number}"), "max_age": 0})[0] == 200
        again = process.ask("POST", "/v1/batch", {"targets": [{"url": site.url("/1")}]})[1]
        assert (again["job_id"], again["reused"]) == (job_id, True)
        assert drained(process, site.url(f"/{number}"))["status"] == "done"
        assert process.ask("GET", "/healthz")[0] == 200
        assert time.monotonic() - began < 10


def drained(process: Process, url: str) -> Any:
    job_id = process.ask("POST", "/v1/batch", {"targets": [{"url": url}]})[1]["job_id"]
    return process.ask("GET", f"/v1/batch/{job_id}?wait=20")[1]


def moved(process: Process, before: Any, jump_s: int) -> Any:
    """The job once its lease has moved along with the clock, which libfaketime turns within a second."""
    ends = time.monotonic() + 10
    while time.monotonic() < ends:
        status, after = process.ask("GET", f"/v1/batch/{before['job_id']}")
        assert status == 200
        if abs(seconds(after["expires_at"]) - seconds(before["expires_at"]) - jump_s) < 30:
            return after
    raise AssertionError(after)


def seconds(rfc3339: str) -> float:
    return time.mktime(time.strptime(rfc3339, "%Y-%m-%dT%H:%M:%SZ"))
