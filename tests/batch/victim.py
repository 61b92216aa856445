"""A process to be killed: drains jobs without end, and says every finished target that a reader has seen.

Run as `python victim.py DATABASE ROUND`. Prints `seen JOB IDX` only after the read that showed it has returned.
"""

from __future__ import annotations

import io
import itertools
import json
import sys
import threading
from pathlib import Path

from prometheus_client import CollectorRegistry

from sift.batch import Runner
from sift.clock import Clock
from sift.config import BatchConfig, LogConfig
from sift.dcache import Store
from sift.logs import Log
from sift.metrics import Metrics
from sift.target import Caller, Lane, Result, Target

CALLERS = 3
TARGETS = 6


def fetch(caller: Caller, target: Target, lane: Lane) -> Result:
    lane.begin()
    return Result({"url": target.url, "content": target.url * 500})


def drain_for_ever(runner: Runner, caller: Caller, round_: str) -> None:
    for number in itertools.count():
        urls = [f"http://{caller.name}.test/{round_}/{number}/{idx}" for idx in range(TARGETS)]
        job_id = runner.submit(caller, [Target(url) for url in urls]).job_id
        follow(runner, caller, job_id)


def follow(runner: Runner, caller: Caller, job_id: str) -> None:
    said: set[int] = set()
    live = True
    while live:
        body = json.loads(runner.reader.read(caller, job_id).body())
        live = body["status"] in ("queued", "running")
        done = {target["idx"] for target in body["targets"] if target["status"] == "done"}
        for idx in sorted(done - said):
            print(f"seen {caller.name} {job_id} {idx}\n", end="", flush=True)
        said |= done


def main() -> None:
    store = Store.open(Path(sys.argv[1]), cache_bytes=1 << 20)
    runner = Runner(
        store,
        fetch,
        BatchConfig(),
        clock=Clock(),
        metrics=Metrics(CollectorRegistry()),
        log=Log(LogConfig(), io.StringIO()),
    )
    runner.start()
    for number in range(CALLERS):
        threading.Thread(target=drain_for_ever, args=(runner, Caller(f"caller{number}"), sys.argv[2])).start()


if __name__ == "__main__":
    main()
