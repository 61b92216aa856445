"""Query plans: nothing that is done for one job walks over the others."""

import pytest

from sift.dcache import Finish
from sift.target import Page


class Listening:
    """The statements that run while it is installed."""

    def __init__(self, store):
        self._database = store._database
        self.statements = []

    def __enter__(self):
        with self._database.alone() as connection:
            connection.set_trace_callback(self.statements.append)
        return self

    def __exit__(self, *_):
        with self._database.alone() as connection:
            connection.set_trace_callback(None)

    def plans(self):
        """One line for every step of every plan."""
        with self._database.alone() as connection:
            for statement in self.statements:
                if statement.lstrip().split()[0] in ("SELECT", "UPDATE", "DELETE", "INSERT"):
                    for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}"):
                        yield f"{row[3]}: {' '.join(statement.split())}"


def admit(desk):
    desk.admit(urls=2, key="same")


def drain(desk):
    job_id = desk.running(urls=2, caller="bob")
    desk.run_target(job_id, 0)
    desk.run_target(job_id, 1, Finish(error="timeout: 30 s", reason="timeout"))


def read(desk):
    desk.hand.pass_s(5)
    desk.look("j_0")
    desk.look("j_0", results=False)


def list_jobs(desk):
    desk.store.batch.list_jobs("ann", now=desk.hand.wall, ttl_s=3600)
    desk.store.batch.live_jobs("ann")


def cancel(desk):
    desk.store.batch.cancel("ann", desk.admit(caller="ann", reuse=False).job_id, now=desk.hand.wall, ttl_s=3600)


def gauge(desk):
    desk.store.batch.live_counts()


def sweep(desk):
    desk.hand.pass_s(10_000)
    desk.store.batch.sweep(now=desk.hand.wall, ttl_s=3600)


def evict(desk):
    desk.store.batch.evict_bytes(0)


@pytest.mark.parametrize("act", [admit, drain, read, list_jobs, cancel, gauge, sweep, evict])
def test_no_statement_scans_a_table_or_sorts(desk, act):
    desk.ended(key="same")
    desk.ended(caller="cid")

    with Listening(desk.store) as listening:
        act(desk)

    plans = list(listening.plans())
    assert plans
    for plan in plans:
        assert "TEMP B-TREE" not in plan, plan
        # A partial index that is walked from end to end holds live jobs alone, or ended ones in the order wanted.
        assert not plan.startswith("SCAN") or "batch_job_live" in plan or "batch_job_ended" in plan, plan


def test_the_cache_finds_by_key_and_by_age(store):
    page = Page("http://a.test/", "http://a.test/", 200, {}, b"x" * 600_000, 1.0)
    with Listening(store) as listening:
        for number in range(3):
            store.content.put("standard", f"http://a.test/{number}", page)
            store.content.get("standard", f"http://a.test/{number}")

    plans = list(listening.plans())
    assert plans
    for plan in plans:
        assert not plan.startswith("SCAN") or "cache_entry_used" in plan, plan
