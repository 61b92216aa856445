"""Runs the soak and reports; see the package."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import threading
import time
from dataclasses import asdict
from pathlib import Path

from tests.soak.callers import Caller, Seen, settle
from tests.soak.server import CALLERS, Killer, Server, Size
from tests.soak.site import site

CALM_SHARE = 0.4
"""The last part of the time, in which the server is not killed any more: growth is to be seen in one life."""
MOST_GROWTH_MIB = 24.0


def main() -> int:
    """Exit status 0 where nothing was lost, stuck or growing."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calm", action="store_true", help="kill nothing")
    parser.add_argument("--samples", type=Path, help="write what was measured each second to this file")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sift-soak-") as directory:
        return soak(Path(directory), asked.seconds, asked.seed, asked.calm, asked.samples)


def soak(directory: Path, seconds: float, seed: int, calm: bool, samples: Path | None) -> int:
    pages = site()
    server = Server(directory, pages.port)
    seen, stopped = Seen(), threading.Event()
    began_s = time.monotonic()
    callers = [Caller(server, name, seen, stopped, seed + number) for number, name in enumerate(CALLERS)]
    killer = None if calm else Killer(server, seed)
    sizes: list[Size] = []
    metrics: list[tuple[float, str]] = []
    killed = 0
    while (at_s := time.monotonic() - began_s) < seconds:
        if killer is not None and at_s > (1 - CALM_SHARE) * seconds:
            killer.stop()
            killed, killer = killer.workers_killed, None
        if size := server.size(began_s):
            sizes.append(size)
        if samples is not None:
            metrics.append((round(at_s, 1), scraped(server)))
        time.sleep(1.0)
    stopped.set()
    for caller in callers:
        caller.thread.join()
    wrong = settle(server, seen, 60.0) + seen.changed + growth(sizes)
    status = server.stop()
    pages.close()
    if samples is not None:
        samples.write_text(json.dumps({"sizes": [asdict(size) for size in sizes], "metrics": metrics}))
    report(seen, sizes, seconds, server.lives - 1, killed, status, wrong)
    return 1 if wrong or status else 0


def scraped(server: Server) -> str:
    try:
        found: bytes = server.ask("GET", "/metrics")[1]
    except OSError:
        return ""
    return found.decode()


def growth(sizes: list[Size]) -> list[str]:
    """What grew in the last life, its first quarter compared with its last."""
    last = [size for size in sizes if size.life == sizes[-1].life]
    quarter = max(1, len(last) // 4)
    wrong = []
    for name, most in (("resident_mib", MOST_GROWTH_MIB), ("threads", 4), ("descriptors", 24)):
        early = statistics.median(getattr(size, name) for size in last[quarter : 2 * quarter])
        late = statistics.median(getattr(size, name) for size in last[-quarter:])
        print(f"{name:13} of the last life ({len(last)} s): {early:.0f} in its second quarter, {late:.0f} in its last")
        if late - early > most:
            wrong.append(f"{name} grew from {early:.0f} to {late:.0f}")
    return wrong


def report(
    seen: Seen, sizes: list[Size], seconds: float, restarts: int, killed: int, status: int, wrong: list[str]
) -> None:
    fetches = sorted(seen.fetch_s)
    print(f"{seconds:g} s, {len(CALLERS)} callers; killed: server {restarts} times, workers {killed}")
    print(f"interactive fetches: {seen.outcomes.total()} ({shown(seen.outcomes)}), cut off by a kill {seen.cut_off}")
    if fetches:
        print(f"  answered 200: p50 {fetches[len(fetches) // 2]:.3f} s, p99 {fetches[int(len(fetches) * 0.99)]:.3f} s")
    print(f"jobs: {len(seen.submitted)} ({shown(seen.jobs)}); finished targets seen: {len(seen.finished)}")
    print(
        f"most: {max(s.resident_mib for s in sizes):.0f} MiB server, {max(s.workers_mib for s in sizes):.0f} workers, "
    )
    print(f"  {max(s.threads for s in sizes)} threads, {max(s.descriptors for s in sizes)} descriptors; exit {status}")
    print("nothing lost, nothing stuck, nothing growing" if not wrong else "\n".join(["WRONG:", *wrong[:20]]))


def shown(counts: dict[str, int]) -> str:
    return ", ".join(f"{word} {count}" for word, count in sorted(counts.items(), key=lambda item: -item[1]))


if __name__ == "__main__":
    sys.exit(main())
