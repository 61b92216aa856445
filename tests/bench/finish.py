"""7. Finishing a target of 50 kB in the store, against a write of the same bytes and an fdatasync."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from sift.dcache import Caps, Finish, NewJob, Store
from tests.bench import pages
from tests.bench.rounds import Options, Pair, pair_of, row, seconds, show

MOST = 1.2
NBYTES, TARGETS = 50_000, 100


def main(options: Options) -> None:
    """Prints the table: medians of 100 finishes a round, each beside a write of the same bytes.

    A few rounds that do not count fill the WAL to the size from which on it is written over.
    """
    result = pages.text(NBYTES)
    rows = []
    with tempfile.TemporaryDirectory(prefix="sift-bench-") as name:
        store = Store.open(Path(name) / "dcache.sqlite3", cache_bytes=1 << 20)
        try:
            for _ in range(4):
                _round(store, result, lambda: None)
            for what, is_new in (("appended to a file", True), ("written over a file's old bytes", False)):
                pair = _compared(options.rounds, store, result, Path(name) / f"plain-{is_new}", is_new=is_new)
                rows.append(row("finish_target, median", pair, f"50 kB {what}, fdatasync", MOST if is_new else None))
        finally:
            store.close()
    show("7. Finishing a target of 50 kB in the store (synchronous=FULL)", rows)


def _compared(rounds: int, store: Store, result: bytes, file: Path, *, is_new: bool) -> Pair:
    found = []
    for _ in range(rounds):
        file.write_bytes(b"" if is_new else bytes(NBYTES * TARGETS))
        descriptor = os.open(file, os.O_WRONLY | (os.O_APPEND if is_new else 0))
        os.fsync(descriptor)
        try:
            found.append(_round(store, result, partial(_write, descriptor, result)))
        finally:
            os.close(descriptor)
    return pair_of(found)


def _round(store: Store, result: bytes, write: Callable[[], None]) -> tuple[float, float]:
    """The medians of finishing and of `write`, one after the other for every target of a job."""
    job_id = f"j_{time.monotonic_ns()}"
    targets = tuple((f"http://a.example/{number}", "{}") for number in range(TARGETS))
    job = NewJob(job_id, "bench", "standard", job_id, targets)
    store.batch.admit(job, Caps(1, 8), reuse=False, now=time.time(), ttl_s=3600)
    store.batch.take_job(job_id)
    finishes, writes = [], []
    finish = Finish(result=result)
    for idx in range(TARGETS):
        store.batch.start_target(job_id, idx)
        finishes.append(seconds(lambda idx=idx: store.batch.finish_target(job_id, idx, finish, now=time.time())))
        writes.append(seconds(write))
    return statistics.median(finishes), statistics.median(writes)


def _write(descriptor: int, result: bytes) -> None:
    os.write(descriptor, result)
    os.fdatasync(descriptor)
