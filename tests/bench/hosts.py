"""Three Sifts behind one HAProxy, which hashes callers by their token: `haproxy.cfg` beside this, on free ports.

Shows that every caller finds its jobs, what a host that goes and comes back means to its callers, and the throughput.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from tests.bench.pages import some
from tests.bench.rounds import Options, leave_out, seconds, show
from tests.bench.serving import Line, free_port, started, token, write_config
from tests.bench.site import site

HAPROXY = shutil.which("haproxy", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
CONFIG = Path(__file__).with_name("haproxy.cfg")
HOSTS, CALLERS, PAGES = 3, 12, 8


@dataclass
class Host:
    """One Sift: its directory and port stay, its process may go and come back."""

    directory: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns once it is healthy."""
        self.process = started(self.directory, self.port)

    def stop(self) -> None:
        """As the operator would."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait(30)
            self.process = None


@dataclass
class Cluster:
    """Hosts behind one address; `jobs` are the callers' jobs, by their number."""

    port: int
    site_port: int
    hosts: list[Host]
    jobs: dict[int, str] = field(default_factory=dict)
    number: Iterator[int] = field(default_factory=count)

    def ask(self, caller: int, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """One request through the proxy, on a connection of its own."""
        with Line(self.port, token(caller)) as line:
            return line.ask(method, path, body)

    def submit(self, caller: int, pages: int = PAGES) -> tuple[int, Any]:
        """A batch of pages that nobody has read yet."""
        at = next(self.number)
        urls = [f"http://127.0.0.1:{self.site_port}/page/{page % 32}?{at}" for page in range(pages)]
        return self.ask(caller, "POST", "/v1/batch", {"targets": [{"url": url} for url in urls], "fresh": True})

    def wait(self, caller: int, job_id: str) -> str:
        """A job's status, once it has ended."""
        while True:
            _, found = self.ask(caller, "GET", f"/v1/batch/{job_id}?results=none&wait=60")
            if found["status"] not in ("queued", "running"):
                return str(found["status"])
            time.sleep(0.05)  # as many wait at the host as may: it answered at once

    def found(self, callers: set[int]) -> int:
        """How many of these callers find their job."""
        return sum(self.ask(n, "GET", f"/v1/batch/{self.jobs[n]}?results=none")[0] == 200 for n in callers)

    def callers_of(self, host: Host) -> set[int]:
        """Whose jobs a host has."""
        of_host = set()
        for caller, job_id in self.jobs.items():
            with Line(host.port, token(caller)) as line:
                if line.ask("GET", f"/v1/batch/{job_id}?results=none")[0] == 200:
                    of_host.add(caller)
        return of_host


def main(options: Options) -> None:
    """Prints two tables."""
    if HAPROXY is None:
        leave_out("Three hosts behind HAProxy", "haproxy")
        return
    with site(options.shared) as site_port, _cluster(site_port, HOSTS) as cluster:
        show(f"{HOSTS} hosts behind HAProxy, {CALLERS} callers", _behaviour(cluster), ("what", "seen"))
    rows = []
    for hosts in range(1, HOSTS + 1):
        with site(options.shared) as site_port, _cluster(site_port, hosts) as cluster:
            rates = [_rate(cluster) for _ in range(options.rounds + 1)][1:]
            rows.append([str(hosts), f"{statistics.median(rates):.0f}", f"{min(rates):.0f} to {max(rates):.0f}"])
    what = some(options.shared)[1]
    show(f"Pages a second, {CALLERS} callers with a batch each, {what}", rows, ("hosts", "pages a second", "rounds"))


def _behaviour(cluster: Cluster) -> list[list[str]]:
    everybody = set(range(CALLERS))
    for caller in everybody:
        status, made = cluster.submit(caller)
        assert status == 202, made
        cluster.jobs[caller] = made["job_id"]
    ended = [cluster.wait(caller, cluster.jobs[caller]) for caller in everybody]
    per_host = [len(cluster.callers_of(host)) for host in cluster.hosts]
    rows = [
        ["jobs submitted through the proxy and ended", f"{ended.count('done')} of {CALLERS} done"],
        ["callers on each host", ", ".join(map(str, per_host))],
        ["callers that find their job, on new connections", f"{cluster.found(everybody)} of {CALLERS}"],
    ]
    lost = max(cluster.hosts, key=lambda host: len(cluster.callers_of(host)))
    theirs = cluster.callers_of(lost)
    others = everybody - theirs
    lost.stop()
    failed, out_s = _until_out(cluster, theirs)
    rows += [
        [
            f"a host with {len(theirs)} callers stops: their requests answered 503 until it is out",
            f"{failed} in {out_s:.1f} s",
        ],
        ["callers of the other hosts that find their job", f"{cluster.found(others)} of {len(others)}"],
        ["its callers that find their job (404 meanwhile)", f"{cluster.found(theirs)} of {len(theirs)}"],
    ]
    submitted = [cluster.submit(caller) for caller in theirs]
    rows.append(["its callers whose new jobs are taken", f"{[s for s, _ in submitted].count(202)} of {len(theirs)}"])
    lost.start()
    back_s = seconds(lambda: _until_back(cluster, theirs))
    rows.append(
        [
            "the host is back: its callers find their jobs again",
            f"{cluster.found(theirs)} of {len(theirs)} after {back_s:.1f} s",
        ]
    )
    rows.append(["callers of the other hosts that find their job", f"{cluster.found(others)} of {len(others)}"])
    return rows


def _until_out(cluster: Cluster, callers: set[int]) -> tuple[int, float]:
    """How many requests of these callers fail, and for how long, until another host answers them all."""
    began, failed = time.monotonic(), 0
    while True:
        statuses = [cluster.ask(caller, "GET", "/v1/batch")[0] for caller in callers]
        failed += sum(status >= 500 for status in statuses)
        if all(status == 200 for status in statuses):
            return failed, time.monotonic() - began
        assert time.monotonic() < began + 30, statuses
        time.sleep(0.05)  # between two looks at other processes, which have no way to tell us


def _until_back(cluster: Cluster, callers: set[int]) -> None:
    ends = time.monotonic() + 30
    while cluster.found(callers) < len(callers):
        assert time.monotonic() < ends, "the host did not come back"
        time.sleep(0.05)  # as above


def _rate(cluster: Cluster) -> float:
    """Pages a second, while every caller has one batch after the other."""

    def drain(caller: int) -> None:
        while True:
            status, made = cluster.submit(caller, 32)
            if status == 202:
                cluster.wait(caller, made["job_id"])
                return
            time.sleep(0.05)  # the host has as many jobs as it takes

    threads = [threading.Thread(target=drain, args=(caller,)) for caller in range(CALLERS)]

    def all_of_them() -> None:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return CALLERS * 32 / seconds(all_of_them)


@contextlib.contextmanager
def _cluster(site_port: int, number: int) -> Iterator[Cluster]:
    with tempfile.TemporaryDirectory(prefix="sift-bench-") as name, contextlib.ExitStack() as stack:
        hosts = []
        for at in range(number):
            host = Host(Path(name) / f"host{at}", free_port())
            host.directory.mkdir()
            write_config(host.directory, host.port, site_port, callers=CALLERS)
            stack.callback(host.stop)
            host.start()
            hosts.append(host)
        port = free_port()
        stack.enter_context(_proxy(Path(name) / "haproxy.cfg", port, [host.port for host in hosts]))
        yield Cluster(port, site_port, hosts)


@contextlib.contextmanager
def _proxy(path: Path, port: int, ports: list[int]) -> Iterator[None]:
    """HAProxy with the config beside this file, on other ports."""
    assert HAPROXY is not None
    text = re.sub(r"bind 127\.0\.0\.1:\d+", f"bind 127.0.0.1:{port}", CONFIG.read_text())
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("server ")]
    lines += [f"    server host{at} 127.0.0.1:{each}" for at, each in enumerate(ports)]
    path.write_text("\n".join(lines) + "\n")
    subprocess.run([HAPROXY, "-c", "-q", "-f", str(path)], check=True)
    with subprocess.Popen([HAPROXY, "-db", "-q", "-f", str(path)]) as process:
        try:
            _until_up(port)
            yield
        finally:
            process.kill()


def _until_up(port: int) -> None:
    ends = time.monotonic() + 15
    while time.monotonic() < ends:
        with contextlib.suppress(OSError, AssertionError), Line(port) as line:
            if line.ask("GET", "/healthz")[0] == 200:
                return
        time.sleep(0.05)  # between two looks at another process, which has no way to tell us
    raise SystemExit("haproxy did not start")
