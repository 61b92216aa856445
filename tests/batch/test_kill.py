"""`kill -9` in the middle of jobs, again and again: nothing that was seen finished is lost."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from sift.dcache import Store

ROOT = Path(__file__).parents[2]
VICTIM = Path(__file__).with_name("victim.py")
ROUNDS = 6
FAR_FUTURE = 4e9
FOR_EVER_S = 8e9


def run_and_kill(path: Path, round_: int, lines: int) -> set[tuple[str, str, int]]:
    """What the victim said it had seen, up to the moment it was killed."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    victim = subprocess.Popen(
        [sys.executable, VICTIM, path, str(round_)], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert victim.stdout is not None
    said = [victim.stdout.readline() for _ in range(lines)]
    victim.send_signal(signal.SIGKILL)
    said += victim.stdout.readlines()
    victim.stdout.close()
    assert victim.wait() == -signal.SIGKILL
    words = [line.split() for line in said if line.endswith("\n") and line != "\n"]
    return {(caller, job_id, int(idx)) for _, caller, job_id, idx in words}


def looked_up(store: Store, seen: Iterable[tuple[str, str, int]]) -> None:
    for caller, job_id, idx in seen:
        snapshot = store.batch.snapshot(caller, job_id, now=FAR_FUTURE, ttl_s=FOR_EVER_S)
        assert snapshot is not None
        target = snapshot.targets[idx]
        assert target.status == "done"
        assert json.loads(target.result or b"") == {"url": target.url, "content": target.url * 500}


def consistent(store: Store) -> None:
    with store._database.alone() as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        off = connection.execute(
            """SELECT id FROM batch_job WHERE targets_done <>
            (SELECT count(*) FROM batch_target WHERE job_id = id AND batch_target.status IN ('done', 'failed'))"""
        ).fetchall()
        assert off == []


def test_what_was_seen_finished_outlives_every_kill(tmp_path):
    path = tmp_path / "dcache.sqlite3"
    chance = random.Random(9)
    seen: set[tuple[str, str, int]] = set()

    for round_ in range(ROUNDS):
        seen |= run_and_kill(path, round_, lines=chance.randrange(1, 60))
        store = Store.open(path, cache_bytes=1 << 20)
        restarted = store.batch.mark_in_flight_failed("restart", "restart: killed")
        assert restarted.jobs <= 3
        assert restarted.targets <= restarted.jobs
        looked_up(store, seen)
        consistent(store)
        assert store.batch.live_counts() == {"queued": 0, "running": 0}
        store.close()

    assert len(seen) > ROUNDS
