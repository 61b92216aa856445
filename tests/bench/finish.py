"""7. Finishing a target of 50 kB in the store, against a write of the same bytes and an fdatasync."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path

from sift.dcache import Caps, Finish, NewJob, Store
from tests.bench import pages
from tests.bench.rounds import Options, paired, row, seconds, show

MOST = 1.2
NBYTES, TARGETS = 50_000, 100


def main(options: Options) -> None:
    """Prints the table: medians of 100 finishes a round, each followed or preceded by a write of the same bytes."""
    result = pages.text(NBYTES)
    rows = []
    with tempfile.TemporaryDirectory(prefix="sift-bench-") as name:
        store = Store.open(Path(name) / "dcache.sqlite3", cache_bytes=1 << 20)
        try:
            for what, is_new in (("appended to a file", True), ("written over a file's old bytes", False)):
                file = Path(name) / f"plain-{is_new}"
                file.write_bytes(b"" if is_new else bytes(NBYTES * TARGETS))
                pair = paired(
                    options.rounds,
                    lambda: _finish_all(store, result),
                    lambda file=file, is_new=is_new: _write_all(file, result, is_new=is_new),
                )
                rows.append(row("finish_target, median", pair, f"50 kB {what}, fdatasync", MOST if is_new else None))
        finally:
            store.close()
    show("7. Finishing a target of 50 kB in the store (synchronous=FULL)", rows)


def _finish_all(store: Store, result: bytes) -> float:
    job_id = f"j_{time.monotonic_ns()}"
    targets = tuple((f"http://a.example/{number}", "{}") for number in range(TARGETS))
    job = NewJob(job_id, "bench", "standard", job_id, targets)
    store.batch.admit(job, Caps(1, 8), reuse=False, now=time.time(), ttl_s=3600)
    store.batch.take_job(job_id)
    samples = []
    finish = Finish(result=result)
    for idx in range(TARGETS):
        store.batch.start_target(job_id, idx)
        samples.append(seconds(lambda idx=idx: store.batch.finish_target(job_id, idx, finish, now=time.time())))
    store.batch.evict_bytes(0)
    store.tidy()
    return statistics.median(samples)


def _write_all(path: Path, result: bytes, *, is_new: bool) -> float:
    descriptor = os.open(path, os.O_WRONLY | (os.O_APPEND if is_new else 0))
    try:
        return statistics.median(seconds(lambda: _write(descriptor, result)) for _ in range(TARGETS))
    finally:
        os.close(descriptor)


def _write(descriptor: int, result: bytes) -> None:
    os.write(descriptor, result)
    os.fdatasync(descriptor)
