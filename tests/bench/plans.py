"""How SQLite goes about the statements of a read, a list, a submit and a finish, in a store of 100,000 targets."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from sift.dcache import Caps, Finish, NewJob, Store
from tests.bench.growth import fill
from tests.bench.rounds import Options, show

STORED = 100_000
JOB_ID = f"j_{7:032x}"


def main(options: Options) -> None:
    """Prints one table: the steps of every statement's plan."""
    with tempfile.TemporaryDirectory(prefix="sift-bench-") as name:
        path = Path(name) / "dcache.sqlite3"
        fill(path, STORED)
        store = Store.open(path, cache_bytes=1 << 20)
        try:
            rows = [line for what, act in _acts(store).items() for line in _plans(store, what, act)]
        finally:
            store.close()
    show(f"Query plans, {STORED:,} targets stored", rows, ("of", "statement", "plan"))


def _acts(store: Store) -> dict[str, Callable[[], object]]:
    now = time.time()
    job = NewJob("j_new", "caller0", "standard", "new", (("https://example.com/", "{}"),))

    def finish() -> None:
        store.batch.take_job("j_new")
        store.batch.start_target("j_new", 0)
        store.batch.finish_target("j_new", 0, Finish(result=b"{}"), now=now)

    return {
        "status": lambda: store.batch.snapshot("caller0", JOB_ID, now=now + 5, ttl_s=3600, results=True),
        "list": lambda: store.batch.list_jobs("caller0", now=now, ttl_s=3600),
        "submit": lambda: store.batch.admit(job, Caps(1, 8), reuse=True, now=now, ttl_s=3600),
        "take, start, finish": finish,
        "sweep": lambda: store.batch.sweep(now=now, ttl_s=3600),
    }


def _plans(store: Store, what: str, act: Callable[[], object]) -> list[list[str]]:
    statements: list[str] = []
    with store._database.alone() as connection:
        connection.set_trace_callback(statements.append)
    act()
    rows = []
    with store._database.alone() as connection:
        connection.set_trace_callback(None)
        for statement in statements:
            if statement.lstrip().startswith(("SELECT", "UPDATE", "DELETE", "INSERT")):
                steps = connection.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
                plan = "; ".join(step[3] for step in steps) or "insert"
                rows.append([what, re.sub(r"\s+", " ", statement).strip()[:60], plan])
    return list(dict.fromkeys(map(tuple, rows)))  # type: ignore[arg-type]
