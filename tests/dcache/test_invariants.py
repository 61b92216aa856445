"""Whatever is done to the tables, in whatever order: the counts agree with the rows."""

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sift.dcache import Caps, Finish, NewJob, Store

TTL_S = 100.0
JOBS = st.integers(0, 1)
TARGETS = st.integers(0, 1)
ACTS = st.one_of(
    st.tuples(st.just("admit"), JOBS, st.booleans()),
    st.tuples(st.just("take"), JOBS),
    st.tuples(st.just("start"), JOBS, TARGETS),
    st.tuples(st.just("run"), JOBS, TARGETS, st.booleans()),
    st.tuples(st.just("run"), JOBS, TARGETS, st.just(True)),
    st.tuples(st.just("finish"), JOBS, TARGETS, st.booleans()),
    st.tuples(st.just("cancel"), JOBS),
    st.tuples(st.just("restart")),
    st.tuples(st.just("sweep")),
    st.tuples(st.just("evict"), st.integers(0, 10_000)),
    st.tuples(st.just("pass"), st.integers(1, 60)),
    st.tuples(st.just("read"), JOBS),
)


class Life:
    """A store, the acts done to it, and what must hold after each."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.tables = store.batch
        self.now = 1000.0
        self.ids: dict[int, str] = {}
        self.done: dict[tuple[str, int], str] = {}
        self.made = 0

    def act(self, name, *arguments):
        getattr(self, f"do_{name}")(*arguments)

    def job(self, number):
        return self.ids.get(number, "j_none")

    def do_admit(self, number, reuse):
        self.made += 1
        targets = tuple((f"http://site.test/{idx}", "{}") for idx in range(1 + number % 3))
        job = NewJob(f"j_{self.made}", f"caller{number % 2}", "standard", f"key{number}", targets)
        admission = self.tables.admit(job, Caps(2, 3), reuse=reuse, now=self.now, ttl_s=TTL_S)
        if admission.job_id:
            self.ids[number] = admission.job_id

    def do_take(self, number):
        self.tables.take_job(self.job(number))

    def do_start(self, number, idx):
        self.tables.start_target(self.job(number), idx)

    def do_finish(self, number, idx, good):
        finish = Finish(result=b"{}") if good else Finish(error="timeout: 1 s", reason="timeout")
        if self.tables.finish_target(self.job(number), idx, finish, now=self.now):
            key = (self.job(number), idx)
            assert key not in self.done
            self.done[key] = "done" if good else "failed"

    def do_run(self, number, idx, good):
        self.do_start(number, idx)
        self.do_finish(number, idx, good)

    def do_cancel(self, number):
        for caller in ("caller0", "caller1"):
            self.tables.cancel(caller, self.job(number), now=self.now, ttl_s=TTL_S)

    def do_restart(self):
        self.tables.mark_in_flight_failed("restart", "restart: gone")

    def do_sweep(self):
        self.forget(self.tables.sweep(now=self.now, ttl_s=TTL_S))

    def do_evict(self, most):
        self.forget(self.tables.evict_bytes(most))

    def do_pass(self, seconds):
        self.now += seconds

    def do_read(self, number):
        self.tables.snapshot("caller0", self.job(number), now=self.now, ttl_s=TTL_S)

    def forget(self, gone):
        ids = {job.job_id for job in gone}
        self.done = {key: status for key, status in self.done.items() if key[0] not in ids}

    def check(self, outside):
        jobs = outside.execute("SELECT id, status, targets_total, targets_done, nbytes FROM batch_job").fetchall()
        rows = outside.execute("SELECT job_id, status, url, options, result, error FROM batch_target ORDER BY idx")
        targets: dict[str, list] = {job[0]: [] for job in jobs}
        for row in rows:
            targets[row[0]].append(row)
        for job in jobs:
            agrees(*job, targets[job[0]])
        assert self.tables.nbytes() == sum(job[4] for job in jobs)
        assert sum(job[1] in ("queued", "running") for job in jobs) <= 3
        for (job_id, idx), status in self.done.items():
            assert targets[job_id][idx][1] == status


def agrees(_job_id, status, total, finished, nbytes, rows):
    """A job's own columns against its targets' rows."""
    states = [row[1] for row in rows]
    assert total == len(states)
    assert finished == states.count("done") + states.count("failed")
    assert nbytes == sum(1024 + sum(len(text or "") for text in row[2:]) for row in rows)
    if status == "done":
        assert set(states) == {"done"}
    if status == "partial":
        assert set(states) == {"done", "failed"}


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(ACTS, min_size=30, max_size=60))
def test_counts_agree_with_rows_after_every_act(acts):
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "dcache.sqlite3"
        store = Store.open(path, cache_bytes=1 << 20)
        life = Life(store)
        with closing(sqlite3.connect(path)) as outside:
            for act in acts:
                life.act(*act)
                life.check(outside)
        store.close()
