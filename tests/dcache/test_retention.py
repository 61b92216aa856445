"""Retention: the sweep by lease, the eviction by bytes, and leases moved along with the clock."""

import sqlite3
from contextlib import closing

from sift.dcache import Finish

TTL_S = 3600


def swept(desk):
    return {gone.job_id for gone in desk.store.batch.sweep(now=desk.hand.wall, ttl_s=TTL_S)}


def evicted(desk, max_bytes):
    return [gone.job_id for gone in desk.store.batch.evict_bytes(max_bytes)]


def in_flight_and_cancelled(desk, caller="ann"):
    job_id = desk.running(caller=caller)
    desk.store.batch.start_target(job_id, 0)
    desk.store.batch.cancel(caller, job_id, now=desk.hand.wall, ttl_s=TTL_S)
    return job_id


def total(desk):
    with closing(sqlite3.connect(desk.path)) as outside:
        return outside.execute("SELECT coalesce(sum(nbytes), 0) FROM batch_job").fetchone()[0]


def test_the_sweep_takes_ended_jobs_past_their_lease_with_their_targets(desk, hand):
    old = desk.ended()
    hand.pass_s(TTL_S - 1)
    young = desk.ended()
    hand.pass_s(1)

    assert swept(desk) == {old}
    assert desk.look(young)
    with closing(sqlite3.connect(desk.path)) as outside:
        assert outside.execute("SELECT DISTINCT job_id FROM batch_target").fetchall() == [(young,)]


def test_the_sweep_leaves_live_jobs_and_targets_in_flight(desk, hand):
    desk.admit(caller="ann")
    desk.running(caller="bob")
    in_flight_and_cancelled(desk, "cid")
    hand.pass_s(10 * TTL_S)

    assert swept(desk) == set()


def test_the_sweep_says_when_each_job_was_last_used(desk, hand):
    desk.ended()
    hand.pass_s(TTL_S + 5)

    (gone,) = desk.store.batch.sweep(now=hand.wall, ttl_s=TTL_S)

    assert (hand.wall - gone.lease, gone.created_at) == (TTL_S + 5, gone.lease)


def test_a_large_sweep_comes_in_portions_and_ends(desk, hand):
    for _ in range(12):
        desk.ended(result=b"x" * 1_000_000)
    hand.pass_s(TTL_S)

    portions = []
    while gone := swept(desk):
        portions.append(len(gone))

    assert sum(portions) == 12
    assert max(portions) <= 5
    assert desk.store.batch.nbytes() == 0


def test_bytes_evict_whole_ended_jobs_oldest_lease_first(desk, hand):
    first, second, third = (desk.ended(result=b"x" * 10_000) for _ in range(3))
    hand.pass_s(10)
    desk.look(first)
    each = desk.column(third, "nbytes")

    assert evicted(desk, 3 * each) == []
    assert evicted(desk, 2 * each) == [second]
    assert evicted(desk, each) == [third]
    assert desk.look(first)


def test_bytes_never_evict_a_live_job_nor_a_cancelled_one_with_a_target_in_flight(desk):
    desk.admit(caller="ann")
    desk.running(caller="bob")
    flying = in_flight_and_cancelled(desk, "cid")

    assert evicted(desk, 0) == []

    desk.store.batch.finish_target(flying, 0, Finish(result=b"{}"), now=desk.hand.wall)
    assert evicted(desk, 0) == [flying]


def test_the_byte_count_is_kept_through_everything_and_found_again_after_opening(desk):
    desk.ended(result=b"x" * 1000)
    in_flight_and_cancelled(desk, "bob")
    desk.running(urls=5, caller="cid")
    desk.store.batch.mark_in_flight_failed("restart", "restart: gone")
    evicted(desk, 6000)
    desk.admit(caller="dan")

    assert desk.store.batch.nbytes() == total(desk)
    assert type(desk.store.batch)(desk.store._database).nbytes() == total(desk)


def test_leases_move_along_with_the_clock(desk, hand):
    job_id = desk.ended()
    lease = desk.column(job_id, "lease")
    hand.wall += 86_400

    desk.store.batch.shift_leases(86_400)

    assert desk.column(job_id, "lease") == lease + 86_400
    assert swept(desk) == set()
    assert desk.look(job_id)
