"""How the figures grow with callers, with what is stored, with a page's size: never faster than the work."""

from __future__ import annotations

import json
import sqlite3
import statistics
import tempfile
import time
from itertools import count
from pathlib import Path

from sift.dcache import Store
from tests.bench import pages
from tests.bench.processes import cpu_s
from tests.bench.rounds import Options, leave_out, median_s, ms, show
from tests.bench.serving import Line, Serving, free_port, serving, started, token, write_config
from tests.bench.site import site
from tests.bench.wrk import WRK, Ask, wrk

CALLERS = (1, 8, 64)
STORED = (1, 1_000, 100_000)
PAGES = (10_000, 100_000, 500_000, 2_000_000)
TARGETS = 32


def main(options: Options) -> None:
    """Prints three tables."""
    if WRK is None:
        leave_out("Growth with callers", "wrk")
    else:
        _with_callers(options.rounds)
    _with_stored(options.rounds)
    _with_size(options.rounds)


def _with_callers(rounds: int) -> None:
    rows = []
    with site() as port, serving(port, callers=max(CALLERS)) as server:
        url = f"http://127.0.0.1:{port}/html/20000"
        jobs = [server.drained([url], number) for number in range(max(CALLERS))]
        for callers in CALLERS:
            body = json.dumps({"url": url})
            asked = {
                "status poll": [Ask("GET", f"/v1/batch/{jobs[n]}?results=none", token(n)) for n in range(callers)],
                "cached fetch": [Ask("POST", "/v1/fetch", token(n), body) for n in range(callers)],
            }
            for what, asks in asked.items():
                rows.append([what, str(callers), *_served(server, callers, asks, rounds)])
    rows.sort(key=lambda row: row[0])
    head = ("what", "callers", "a second", "p50", "p99", "server's CPU each", "refused (429)")
    show("Growth with callers, each on a connection of its own", rows, head)


def _served(server: Serving, callers: int, asks: list[Ask], rounds: int) -> list[str]:
    found, spent = [], []
    for _ in range(rounds):
        before = cpu_s(server.pid)
        found.append(wrk(server.port, callers, asks))
        spent.append((cpu_s(server.pid) - before) / found[-1].count)
    rate = statistics.median(each.rate for each in found)
    p50, p99 = statistics.median(each.p50 for each in found), statistics.median(each.p99 for each in found)
    refused = sum(each.refused for each in found) / sum(each.count for each in found)
    return [f"{rate:.0f}", ms(p50), ms(p99), ms(statistics.median(spent)), f"{refused:.0%}"]


def _with_stored(rounds: int) -> None:
    columns = [_at_stored(stored, rounds) for stored in STORED]
    rows = [[what, *(column[what] for column in columns)] for what in columns[0]]
    head = ("what", *(f"{stored:,} stored" for stored in STORED))
    show(f"Growth with stored targets, {TARGETS} a job, 1 kB each", rows, head)


def _at_stored(stored: int, rounds: int) -> dict[str, str]:
    """The figures of a server whose database holds so many targets, most of them the caller's own."""
    with site() as port, tempfile.TemporaryDirectory(prefix="sift-bench-") as name:
        directory, own = Path(name), free_port()
        write_config(directory, own, port, callers=1, config='[batch]\nmax_bytes = "4GiB"\n')
        fill(directory / "data" / "dcache.sqlite3", stored)
        began = time.perf_counter()
        process = started(directory, own)
        start_s = time.perf_counter() - began
        try:
            with Line(own, token(0)) as line:
                return {"start": ms(start_s), **_figures(line, port, rounds)}
        finally:
            process.terminate()
            process.wait(30)


def _figures(line: Line, site_port: int, rounds: int) -> dict[str, str]:
    job_id = line.ask("GET", "/v1/batch")[1]["jobs"][0]["job_id"]
    asked = {
        "status poll, results=none": line.request("GET", f"/v1/batch/{job_id}?results=none"),
        "GET with results": line.request("GET", f"/v1/batch/{job_id}"),
        "list of jobs": line.request("GET", "/v1/batch"),
    }
    found = {
        what: median_s(20 * rounds, lambda request=request: line.answer(request)) for what, request in asked.items()
    }
    submits, drains = [], []
    for number in range(10 * rounds):
        targets = [{"url": f"http://127.0.0.1:{site_port}/text/2000?{number}.{n}"} for n in range(4)]
        began = time.perf_counter()
        job_id = line.submit(targets)
        submits.append(time.perf_counter() - began)
        line.wait(job_id)
        drains.append(time.perf_counter() - began)
    found |= {"POST of 4 targets": statistics.median(submits), "4 targets, submit to done": statistics.median(drains)}
    return {what: ms(value) for what, value in found.items()}


def fill(path: Path, stored: int) -> None:
    """Puts ended jobs with so many targets into a database, in one transaction of its own."""
    Store.open(path, cache_bytes=1 << 20).close()
    connection = sqlite3.connect(path)
    now, result = time.time(), json.dumps({"success": True, "content": pages.text(900).decode()}).encode()
    with connection:
        for number in range(-(-stored // TARGETS)):
            size = min(TARGETS, stored - number * TARGETS)
            job_id, nbytes = f"j_{number:032x}", size * (1024 + len(result))
            connection.execute(
                "INSERT INTO batch_job VALUES (?, 'caller0', 'standard', ?, 'done', NULL, ?, ?, ?, ?, ?)",
                (job_id, f"{number:064x}", size, size, now, now, nbytes),
            )
            connection.executemany(
                "INSERT INTO batch_target VALUES (?, ?, ?, '{}', 'done', NULL, NULL, NULL, ?)",
                ((job_id, idx, f"https://example.com/{number}/{idx}", result) for idx in range(size)),
            )
    connection.close()


def _with_size(rounds: int) -> None:
    number, rows = count(), []
    with site() as port, serving(port) as server, server.line() as line:
        for nbytes in PAGES:
            url = f"http://127.0.0.1:{port}/html/{nbytes}"
            real = len(pages.page(nbytes))
            line.fetch(url)
            before = cpu_s(server.pid)
            took_s = median_s(max(5, rounds), lambda url=url: line.fetch(f"{url}?{next(number)}"))
            spent_s = (cpu_s(server.pid) - before) / max(5, rounds)
            cached_s = median_s(max(5, rounds), lambda url=url: line.fetch(url))
            cells = [ms(took_s), ms(spent_s), ms(spent_s / real * 1e5), ms(cached_s)]
            rows.append([f"{real / 1000:.0f} kB", *cells])
    show("Growth with a page's size", rows, ("page", "/v1/fetch", "CPU, all processes", "CPU for 100 kB", "cached"))
