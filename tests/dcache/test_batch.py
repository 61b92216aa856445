"""The jobs' tables: admission, the way of a target, cancel, restart."""

import sqlite3
import threading

import pytest

from sift.dcache import Caps, Finish, NewJob, Verdict

FAILED = Finish(error="blocked: private address 10.0.0.1", reason="blocked", hint="browser")


def test_an_admitted_job_reads_back_with_its_targets_in_order(desk):
    job_id = desk.admit(urls=3).job_id

    snapshot = desk.look(job_id)

    assert (snapshot.job.status, snapshot.job.targets_total, snapshot.job.targets_done) == ("queued", 3, 0)
    assert [target.idx for target in snapshot.targets] == [0, 1, 2]
    assert [target.url for target in snapshot.targets] == [f"http://site.test/{idx}" for idx in range(3)]
    assert {target.status for target in snapshot.targets} == {"pending"}


def test_the_same_targets_of_the_same_caller_reuse_the_job_and_bump_its_lease(desk, hand):
    first = desk.admit(key="same")
    hand.pass_s(100)

    second = desk.admit(key="same")

    assert (second.verdict, second.job_id) == (Verdict.REUSED, first.job_id)
    assert desk.column(first.job_id, "lease") == hand.wall


def test_reuse_ends_at_the_lease_before_any_sweep(desk, hand):
    old = desk.ended(key="same")
    hand.pass_s(3600)

    admission = desk.admit(key="same")

    assert admission.verdict is Verdict.CREATED
    assert admission.job_id != old


def test_another_callers_equal_key_is_not_reused(desk):
    desk.admit(key="same", caller="ann")

    assert desk.admit(key="same", caller="bob").verdict is Verdict.CREATED


def test_of_several_equal_jobs_the_newest_is_reused_though_the_clock_was_set_back(desk, hand):
    desk.ended(key="same")
    hand.wall -= 50
    newest = desk.admit(key="same", reuse=False).job_id

    assert desk.admit(key="same").job_id == newest


def test_a_cancelled_job_is_not_reused(desk, hand):
    job_id = desk.admit(key="same").job_id
    desk.store.batch.cancel("ann", job_id, now=hand.wall, ttl_s=3600)

    assert desk.admit(key="same").verdict is Verdict.CREATED


def test_a_job_failed_by_restart_is_not_reused_but_one_whose_targets_failed_is(desk):
    job_id = desk.running(key="all failed")
    desk.run_target(job_id, 0, FAILED)
    desk.admit(key="restarted")
    desk.store.batch.mark_in_flight_failed("restart", "restart: the server was restarted")

    reused = desk.admit(key="all failed")

    assert (reused.verdict, reused.failed, reused.status) == (Verdict.REUSED, 1, "failed")
    assert desk.admit(key="restarted").verdict is Verdict.CREATED


def test_a_caller_at_its_cap_is_told_its_newest_live_job(desk):
    live = desk.admit(key="one").job_id

    refused = desk.admit(key="two")

    assert (refused.verdict, refused.job_id, refused.live) == (Verdict.CALLER_BUSY, live, 1)


def test_an_ended_job_frees_its_callers_slot_whatever_its_lease(desk):
    desk.ended()

    assert desk.admit().verdict is Verdict.CREATED


def test_the_jobs_cap_counts_all_callers(desk):
    desk.caps = Caps(jobs_per_caller=1, jobs_total=2)
    desk.admit(caller="ann")
    desk.admit(caller="bob")

    assert desk.admit(caller="cid").verdict is Verdict.JOBS_BUSY


def test_reuse_is_looked_up_before_the_caps(desk):
    job_id = desk.admit(key="same").job_id
    desk.caps = Caps(jobs_per_caller=1, jobs_total=1)

    assert desk.admit(key="same").job_id == job_id


def test_ten_equal_submits_at_the_same_moment_make_one_job(desk):
    ready = threading.Barrier(10)
    verdicts = []

    def submit(number: int) -> None:
        job = NewJob(f"j_race_{number}", "ann", "standard", "same", (("http://site.test/", "{}"),))
        ready.wait()
        admission = desk.store.batch.admit(job, Caps(8, 8), reuse=True, now=desk.hand.wall, ttl_s=3600)
        verdicts.append((admission.verdict, admission.job_id))

    threads = [threading.Thread(target=submit, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(verdict for verdict, _ in verdicts) == ["created"] + ["reused"] * 9
    assert len({job_id for _, job_id in verdicts}) == 1


def test_live_counts_go_by_status(desk):
    desk.admit(caller="ann")
    desk.running(caller="bob")
    desk.ended(caller="cid")

    assert desk.store.batch.live_counts() == {"queued": 1, "running": 1}


def test_a_job_is_taken_once(desk):
    job_id = desk.admit(urls=2).job_id

    work = desk.store.batch.take_job(job_id)

    assert (work.caller, work.caller_class, len(work.targets)) == ("ann", "standard", 2)
    assert desk.store.batch.take_job(job_id) is None
    assert desk.look(job_id).job.status == "running"


def test_a_target_starts_only_while_its_job_is_live(desk, hand):
    job_id = desk.running(urls=2)
    assert desk.store.batch.start_target(job_id, 0)
    assert not desk.store.batch.start_target(job_id, 0)

    desk.store.batch.cancel("ann", job_id, now=hand.wall, ttl_s=3600)

    assert not desk.store.batch.start_target(job_id, 1)
    assert [target.status for target in desk.look(job_id).targets] == ["running", "pending"]


def test_finishing_moves_done_bytes_and_lease_exactly_once(desk, hand):
    job_id = desk.running(urls=2)
    before = desk.column(job_id, "nbytes")
    hand.pass_s(5)
    desk.run_target(job_id, 0, Finish(result=b"x" * 100))
    hand.pass_s(5)

    again = desk.store.batch.finish_target(job_id, 0, Finish(result=b"y" * 999), now=hand.wall)

    assert again is None
    assert desk.column(job_id, "targets_done") == 1
    assert desk.column(job_id, "nbytes") == before + 100
    assert desk.column(job_id, "lease") == hand.wall - 5
    assert desk.look(job_id).targets[0].result == b"x" * 100


def test_a_pending_target_cannot_be_finished(desk, hand):
    job_id = desk.running()

    assert desk.store.batch.finish_target(job_id, 0, FAILED, now=hand.wall) is None
    assert desk.look(job_id).targets[0].status == "pending"


@pytest.mark.parametrize(
    ("finishes", "status"),
    [
        ((Finish(result=b"{}"), Finish(result=b"{}")), "done"),
        ((Finish(result=b"{}"), FAILED), "partial"),
        ((FAILED, FAILED), "failed"),
    ],
)
def test_the_last_write_sets_the_final_status(desk, finishes, status):
    job_id = desk.running(urls=2)

    assert desk.run_target(job_id, 0, finishes[0]) is None
    assert desk.run_target(job_id, 1, finishes[1]) == status
    assert desk.look(job_id).job.status == status


def test_a_failed_target_keeps_error_reason_and_hint(desk):
    job_id = desk.running()
    desk.run_target(job_id, 0, FAILED)

    target = desk.look(job_id).targets[0]

    assert (target.status, target.result) == ("failed", None)
    assert (target.error, target.reason, target.hint) == (FAILED.error, "blocked", "browser")


def test_bytes_count_url_options_result_error_and_a_kibibyte_a_target(desk):
    job_id = desk.running(urls=2)
    desk.run_target(job_id, 0, Finish(result=b"x" * 100))
    desk.run_target(job_id, 1, FAILED)

    urls = 2 * len("http://site.test/0")
    assert desk.column(job_id, "nbytes") == urls + 2 * len("{}") + 2 * 1024 + 100 + len(FAILED.error)
    assert desk.store.batch.nbytes() == desk.column(job_id, "nbytes")


def test_cancel_flips_a_live_job_frees_the_caller_and_counts_what_never_began(desk, hand):
    job_id = desk.running(urls=3)
    desk.store.batch.start_target(job_id, 0)
    hand.pass_s(10)

    cancellation = desk.store.batch.cancel("ann", job_id, now=hand.wall, ttl_s=3600)

    assert (cancellation.status, cancellation.flipped, cancellation.pending) == ("cancelled", True, 2)
    assert desk.column(job_id, "lease") == hand.wall - 10
    assert desk.admit().verdict is Verdict.CREATED


def test_the_target_in_flight_of_a_cancelled_job_is_stored_and_the_status_stays(desk, hand):
    job_id = desk.running()
    desk.store.batch.start_target(job_id, 0)
    desk.store.batch.cancel("ann", job_id, now=hand.wall, ttl_s=3600)

    finished = desk.store.batch.finish_target(job_id, 0, Finish(result=b"{}"), now=hand.wall)

    assert finished.ended is None
    snapshot = desk.look(job_id)
    assert (snapshot.job.status, snapshot.job.targets_done, snapshot.targets[0].status) == ("cancelled", 1, "done")


def test_a_second_cancel_changes_nothing_and_says_what_the_job_is(desk, hand):
    job_id = desk.ended()

    cancellation = desk.store.batch.cancel("ann", job_id, now=hand.wall, ttl_s=3600)

    assert (cancellation.status, cancellation.flipped, cancellation.pending) == ("done", False, 0)


def test_cancelling_a_job_that_was_live_past_its_lease_does_not_make_it_vanish(desk, hand):
    job_id = desk.admit().job_id
    hand.pass_s(7200)

    desk.store.batch.cancel("ann", job_id, now=hand.wall, ttl_s=3600)

    assert desk.look(job_id).job.status == "cancelled"


def test_nobody_cancels_or_reads_another_callers_job(desk, hand):
    job_id = desk.admit(caller="ann").job_id

    assert desk.look(job_id, caller="bob") is None
    assert desk.store.batch.cancel("bob", job_id, now=hand.wall, ttl_s=3600) is None
    assert desk.look(job_id).job.status == "queued"


def test_restart_fails_live_jobs_and_running_targets_and_keeps_the_rest(desk, hand):
    live = desk.running(urls=3, caller="ann")
    desk.run_target(live, 0)
    desk.store.batch.start_target(live, 1)
    cancelled = desk.running(caller="bob")
    desk.store.batch.start_target(cancelled, 0)
    desk.store.batch.cancel("bob", cancelled, now=hand.wall, ttl_s=3600)
    done = desk.ended(caller="cid")
    hand.pass_s(10)

    restarted = desk.store.batch.mark_in_flight_failed("restart", "restart: gone")

    assert (restarted.jobs, restarted.targets) == (1, 2)
    assert (desk.column(live, "status"), desk.column(live, "error")) == ("failed", "restart")
    assert desk.column(live, "lease") == hand.wall - 10
    assert desk.column(live, "targets_done") == 2
    assert [target.status for target in desk.look(live).targets] == ["done", "failed", "pending"]
    assert desk.look(live).targets[1].reason == "restart"
    assert desk.look(live).targets[2].error is None
    assert desk.column(cancelled, "status") == "cancelled"
    assert desk.look(cancelled, caller="bob").targets[0].reason == "restart"
    assert desk.column(done, "status") == "done"


def test_a_running_target_of_an_ended_job_is_failed_by_restart_too(desk):
    job_id = desk.ended()
    with sqlite3.connect(desk.path) as outside:
        outside.execute("UPDATE batch_target SET status = 'running', result = NULL")
    outside.close()

    assert desk.store.batch.mark_in_flight_failed("restart", "restart: gone").targets == 1
    assert desk.look(job_id).targets[0].reason == "restart"
