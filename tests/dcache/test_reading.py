"""Reading: snapshots, lists, and what a read does to the lease."""

import pytest

from sift.dcache import Finish

TTL_S = 3600


def test_results_come_back_as_the_bytes_that_were_stored(desk):
    job_id = desk.running(urls=2)
    desk.run_target(job_id, 0, Finish(result='{"title": "Größe"}'.encode()))

    first, second = desk.look(job_id).targets

    assert first.result == '{"title": "Größe"}'.encode()
    assert second.result is None


def test_results_are_left_out_where_they_are_not_asked_for(desk):
    job_id = desk.running(urls=3)
    for idx in range(3):
        desk.run_target(job_id, idx)

    assert [target.result for target in desk.look(job_id, results=False).targets] == [None] * 3
    assert [target.result for target in desk.look(job_id, since=2).targets] == [None, None, b"{}"]
    assert {target.status for target in desk.look(job_id, results=False).targets} == {"done"}


def test_a_read_bumps_the_lease_and_says_the_bumped_one(desk, hand):
    job_id = desk.ended()
    hand.pass_s(100)

    assert desk.look(job_id).job.lease == hand.wall
    assert desk.column(job_id, "lease") == hand.wall


def test_a_read_within_a_second_of_the_last_writes_nothing(desk, hand):
    job_id = desk.ended()
    hand.pass_s(0.5)

    desk.look(job_id)

    assert desk.column(job_id, "lease") == hand.wall - 0.5


def test_a_bump_never_lowers_a_lease(desk, hand):
    job_id = desk.ended(key="same")
    lease = desk.column(job_id, "lease")
    hand.wall -= 50

    desk.look(job_id)
    desk.admit(key="same")

    assert desk.column(job_id, "lease") == lease


def test_reads_keep_an_ended_job_alive(desk, hand):
    job_id = desk.ended()
    for _ in range(5):
        hand.pass_s(TTL_S - 1)
        assert desk.look(job_id)


def test_an_ended_job_past_its_lease_is_gone_for_every_reader_before_any_sweep(desk, hand):
    job_id = desk.ended()
    hand.pass_s(TTL_S)

    assert desk.look(job_id) is None
    assert desk.store.batch.list_jobs("ann", now=hand.wall, ttl_s=TTL_S) == ()
    assert desk.store.batch.cancel("ann", job_id, now=hand.wall, ttl_s=TTL_S) is None


def test_a_live_job_does_not_expire(desk, hand):
    job_id = desk.admit(key="same").job_id
    hand.pass_s(10 * TTL_S)

    assert desk.admit(key="same").job_id == job_id
    hand.pass_s(10 * TTL_S)
    assert desk.look(job_id).job.status == "queued"


def test_the_list_is_the_callers_own_newest_first_and_bumps_nothing(desk, hand):
    first = desk.ended()
    hand.pass_s(10)
    second = desk.ended()
    desk.ended(caller="bob")

    jobs = desk.store.batch.list_jobs("ann", now=hand.wall, ttl_s=TTL_S)

    assert [job.job_id for job in jobs] == [second, first]
    assert desk.column(first, "lease") == hand.wall - 10


def test_the_list_ends_at_a_hundred(desk, hand):
    made = [desk.ended() for _ in range(101)]

    jobs = desk.store.batch.list_jobs("ann", now=hand.wall, ttl_s=TTL_S)

    assert [job.job_id for job in jobs] == made[:0:-1]


def test_live_jobs_are_the_callers_own(desk):
    desk.ended()
    live = desk.admit().job_id
    desk.admit(caller="bob")

    assert desk.store.batch.live_jobs("ann") == (live,)


@pytest.mark.parametrize("job_id", ["", "j_unknown", "\0", "j_0' OR '1'='1", "ü" * 5000])
def test_an_unknown_or_malformed_id_is_nothing(desk, job_id):
    desk.admit()

    assert desk.look(job_id) is None
