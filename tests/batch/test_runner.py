"""The runner: order, isolation, reuse, caps, cancel, stop and restart."""

import json
import threading
from dataclasses import replace

import pytest

from sift.batch import View
from sift.errors import (
    Blocked,
    Busy,
    CallerBusy,
    Internal,
    JobsBusy,
    NotFound,
    Stopping,
    StoreError,
    TimedOut,
    TooManyTargets,
    UpstreamStatus,
)
from sift.target import Caller, Result, Target

ANN = Caller("ann")
BOB = Caller("bob", restricted=True)
URLS = [f"http://site.test/{number}" for number in range(5)]


def states(body):
    return [target["status"] for target in body["targets"]]


def test_a_job_drains_serially_in_order(bench):
    job_id = bench.submit(*URLS)

    body = bench.ended(job_id)

    assert body["status"] == "done"
    assert bench.site.asked == [(job_id, url) for url in URLS]
    assert bench.site.peak == {job_id: 1}
    assert [target["result"]["content"] for target in body["targets"]] == [f"page of {url}" for url in URLS]


def test_one_targets_failure_is_its_own(bench):
    bench.site.doing[URLS[1]] = Blocked("private address 10.0.0.1")

    body = bench.ended(bench.submit(*URLS[:3]))

    assert (body["status"], states(body)) == ("partial", ["done", "failed", "done"])
    assert body["targets"][1] == {
        "idx": 1,
        "url": URLS[1],
        "status": "failed",
        "error": "blocked: private address 10.0.0.1",
        "reason": "blocked",
        "hint": "browser",
    }
    assert body["targets_done"] == 3


@pytest.mark.parametrize("fault", [ValueError("secret.test"), SystemExit(3), MemoryError(), RecursionError()])
def test_a_fault_inside_a_fetch_fails_that_target_and_says_nothing(bench, fault):
    bench.site.doing[URLS[0]] = fault

    body = bench.ended(bench.submit(*URLS[:2]))

    assert (body["status"], states(body)) == ("partial", ["failed", "done"])
    assert body["targets"][0]["error"] == str(Internal())
    assert body["targets"][0]["reason"] == "internal"
    assert bench.runner.dead_threads() == []
    assert type(fault).__name__ in bench.log.getvalue()
    assert "secret" not in bench.log.getvalue()


def test_an_envelope_that_is_no_json_is_an_internal_fault(bench):
    bench.site.doing[URLS[0]] = lambda *_: Result({"content": object()})

    assert bench.ended(bench.submit(URLS[0]))["targets"][0]["reason"] == "internal"


def test_a_target_that_fails_before_its_slots_is_started_and_stored(bench):
    bench.site.before[URLS[0]] = Blocked("no address")

    body = bench.ended(bench.submit(URLS[0]))

    assert (body["status"], body["targets"][0]["reason"]) == ("failed", "blocked")
    assert bench.series("targets_inflight") == 0


def test_an_equal_submit_gets_the_same_job_and_drains_nothing_twice(bench):
    job_id = bench.submit(*URLS[:2])
    bench.ended(job_id)

    again = bench.runner.submit(ANN, [Target(url) for url in URLS[:2]])

    assert (again.job_id, again.reused, again.status, again.hint) == (job_id, True, "done", None)
    assert len(bench.site.asked) == 2


def test_a_reused_job_with_failed_targets_hints_at_fresh(bench):
    bench.site.doing[URLS[0]] = TimedOut("30 s")
    bench.ended(bench.submit(URLS[0]))

    assert bench.runner.submit(ANN, [Target(URLS[0])]).hint == "fresh"


def test_fresh_never_reuses(bench):
    first = bench.submit(URLS[0])
    bench.ended(first)

    assert bench.submit(URLS[0], fresh=True) != first


def test_ten_equal_submits_at_once_make_one_job_drained_once(bench):
    ready, answers = threading.Barrier(10), []

    def submit():
        ready.wait()
        answers.append(bench.runner.submit(ANN, [Target(url) for url in URLS]))

    threads = [threading.Thread(target=submit) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    (job_id,) = {answer.job_id for answer in answers}
    bench.ended(job_id)
    assert sum(not answer.reused for answer in answers) == 1
    assert len(bench.site.asked) == len(URLS)


def test_too_many_targets_are_refused_with_what_to_do(bench):
    with pytest.raises(TooManyTargets, match="targets: 33 given, at most 32 a job; split the list") as refused:
        bench.runner.submit(ANN, [Target(f"http://site.test/{number}") for number in range(33)])

    assert refused.value.places[0].at == "targets"
    assert bench.series("refused_total", cap="targets") == 1


def test_a_caller_at_its_cap_is_told_the_live_job(bench):
    bench.site.hold(URLS[0])
    job_id = bench.submit(URLS[0])

    with pytest.raises(CallerBusy, match=f"you already have a live job \\({job_id}\\); wait for it, or cancel") as busy:
        bench.submit(URLS[1])

    assert busy.value.job_id == job_id
    assert bench.series("refused_total", cap="caller") == 1


def test_eight_jobs_run_beside_each_other_and_the_ninth_is_refused(bench):
    callers = [Caller(f"caller{number}") for number in range(9)]
    for number in range(8):
        bench.site.hold(f"http://site.test/held{number}")
        bench.submit(f"http://site.test/held{number}", caller=callers[number])
    for number in range(8):
        bench.site.arrived(f"http://site.test/held{number}")

    with pytest.raises(JobsBusy, match="8 jobs are live, at most 8 at a time"):
        bench.submit(URLS[0], caller=callers[8])

    assert bench.series("targets_inflight") == 8
    assert bench.series("refused_total", cap="jobs") == 1


def test_cancel_stores_what_is_in_flight_and_leaves_the_rest_pending(bench):
    bench.site.hold(URLS[1])
    job_id = bench.submit(*URLS[:4])
    bench.site.arrived(URLS[1])

    assert bench.runner.cancel(ANN, job_id) == "cancelled"
    assert bench.status(job_id)["status"] == "cancelled"
    bench.site.let_go(URLS[1])

    body = bench.until(job_id, lambda body: body["targets_done"] == 2)
    assert (body["status"], states(body)) == ("cancelled", ["done", "done", "pending", "pending"])
    assert "error" not in body["targets"][2]
    assert bench.series("targets_total", outcome="cancel") == 2
    assert [url for _, url in bench.site.asked] == URLS[:2]


def test_a_cancelled_callers_slot_is_free_at_once(bench):
    bench.site.hold(URLS[0])
    job_id = bench.submit(*URLS[:2])
    bench.site.arrived(URLS[0])
    bench.runner.cancel(ANN, job_id)

    assert bench.ended(bench.submit(URLS[2]))["status"] == "done"


def test_cancelling_an_ended_job_says_what_it_is(bench):
    job_id = bench.submit(URLS[0])
    bench.ended(job_id)

    assert bench.runner.cancel(ANN, job_id) == "done"
    assert bench.series("jobs_total", outcome="cancelled") == 0


def test_a_busy_target_waits_and_tries_again(bench):
    answers = [Busy("no slot"), Busy("no slot")]

    def busy_twice(caller, target, lane):
        if answers:
            raise answers.pop()
        return Result({"success": True})

    bench.site.doing[URLS[0]] = busy_twice

    body = bench.ended(bench.submit(URLS[0]))

    assert (body["status"], body["targets_done"]) == ("done", 1)
    assert bench.series("targets_total", outcome="busy") == 0
    assert bench.series("targets_inflight") == 0


def test_a_target_that_waits_at_a_gate_notices_a_cancel(bench):
    waiting, noticed = threading.Event(), threading.Event()

    def gate(_caller, _target, lane):
        waiting.set()
        while not lane.stopped():
            noticed.wait(0.01)
        noticed.set()

    bench.site.before[URLS[0]] = gate
    job_id = bench.submit(*URLS[:2])
    assert waiting.wait(5)

    bench.runner.cancel(ANN, job_id)

    assert noticed.wait(0.5)
    assert states(bench.status(job_id)) == ["pending", "pending"]
    assert bench.series("targets_total", outcome="cancel") == 2


def test_a_job_that_waits_because_all_is_busy_ends_at_once_with_a_stop(bench):
    busy = threading.Event()

    def always_busy(_caller, _target, _lane):
        busy.set()
        raise Busy("no slot")

    bench.site.before[URLS[0]] = always_busy
    job_id = bench.submit(URLS[0])
    assert busy.wait(5)

    assert bench.runner.stop(5.0)
    assert states(bench.status(job_id)) == ["pending"]


def test_a_target_in_flight_is_not_told_to_stop_by_a_cancel(bench):
    told = []
    bench.site.hold(URLS[0])
    bench.site.doing[URLS[0]] = lambda _caller, _target, lane: told.append(lane.stopped()) or Result({})
    job_id = bench.submit(URLS[0])
    bench.site.arrived(URLS[0])

    bench.runner.cancel(ANN, job_id)
    bench.site.let_go(URLS[0])

    assert states(bench.until(job_id, lambda body: body["targets_done"] == 1)) == ["done"]
    assert told == [False]


def test_another_callers_job_is_not_found(bench):
    job_id = bench.submit(URLS[0])

    for act in (bench.runner.cancel, bench.runner.reader.read):
        with pytest.raises(NotFound):
            act(BOB, job_id)


def test_a_restricted_caller_is_rebuilt_for_the_fetch(bench):
    seen = []
    bench.site.doing[URLS[0]] = lambda caller, *_: seen.append(caller) or Result({})

    bench.ended(bench.submit(URLS[0], caller=BOB), caller=BOB)

    assert seen == [BOB]


def test_a_targets_options_reach_the_fetch(bench):
    target = Target(URLS[0], mode="full", grep="a+", context=True, max_age_s=0.0)
    seen = []
    bench.site.doing[URLS[0]] = lambda _caller, target, _lane: seen.append(target) or Result({})

    bench.ended(bench.runner.submit(ANN, [target]).job_id)

    assert seen == [target]


def test_stop_wakes_who_waits_starts_nothing_more_and_stores_what_is_in_flight(bench):
    bench.site.hold(URLS[0])
    job_id = bench.submit(*URLS[:3])
    bench.site.arrived(URLS[0])

    stopper = threading.Thread(target=bench.runner.stop, args=(5.0,))
    stopper.start()
    bench.runner.reader.read(ANN, job_id, wait_s=10)
    with pytest.raises(Stopping):
        bench.submit(URLS[3], caller=BOB)
    bench.site.let_go(URLS[0])
    stopper.join()

    assert (bench.status(job_id)["status"], states(bench.status(job_id))) == ("running", ["done", "pending", "pending"])


def test_stop_does_not_wait_longer_than_its_grace(build):
    bench = build()
    bench.site.hold(URLS[0])
    job_id = bench.submit(URLS[0])
    bench.site.arrived(URLS[0])

    assert bench.runner.stop(0.05) is False
    assert states(bench.status(job_id)) == ["running"]


def test_the_next_start_fails_what_was_live_and_resumes_nothing(build):
    first = build()
    first.site.hold(URLS[1])
    job_id = first.submit(*URLS[:3])
    first.site.arrived(URLS[1])
    first.runner.stop(0.05)
    first.store.close()
    first.site.let_go(URLS[1])

    second = build()

    body = second.status(job_id)
    assert (body["status"], body["error"], states(body)) == ("failed", "restart", ["done", "failed", "pending"])
    assert (body["targets"][1]["reason"], body["targets_done"]) == ("restart", 2)
    assert second.site.asked == []
    assert second.series("jobs_total", outcome="restart") == 1
    assert second.runner.submit(ANN, [Target(url) for url in URLS[:3]]).reused is False


def test_a_smaller_cap_is_in_force_at_once_and_a_larger_one_brings_threads(build, config):
    bench = build(jobs_total=1)
    bench.site.hold(URLS[0])
    bench.submit(URLS[0])
    bench.site.arrived(URLS[0])
    with pytest.raises(JobsBusy):
        bench.submit(URLS[1], caller=BOB)

    bench.runner.configure(replace(config, jobs_total=2))

    assert bench.ended(bench.submit(URLS[1], caller=BOB), caller=BOB)["status"] == "done"
    bench.runner.configure(replace(config, targets_per_job=1))
    with pytest.raises(TooManyTargets):
        bench.submit(*URLS[:2], caller=BOB)


def test_a_removed_callers_live_jobs_are_cancelled(bench):
    bench.site.hold(URLS[0])
    job_id = bench.submit(*URLS[:2])
    bench.site.arrived(URLS[0])

    bench.runner.cancel_callers(["ann", "nobody"])

    assert bench.status(job_id)["status"] == "cancelled"


def test_a_dead_thread_is_named(build, monkeypatch):
    bench = build(jobs_total=1)
    died = threading.Event()
    monkeypatch.setattr(threading, "excepthook", lambda _args: died.set())
    monkeypatch.setattr(bench.store.batch, "take_job", lambda _job_id: 1 / 0)

    bench.submit(URLS[0])

    assert died.wait(5)
    bench.runner._threads[0].join(5)
    assert bench.runner.dead_threads() == ["sift-batch-1"]


def test_a_dead_collector_is_named(bench, monkeypatch, config):
    died = threading.Event()
    monkeypatch.setattr(threading, "excepthook", lambda _args: died.set())
    monkeypatch.setattr(bench.store.batch, "sweep", lambda **_wishes: 1 / 0)

    bench.runner.configure(config)

    assert died.wait(5)
    bench.runner._collector.thread.join(5)
    assert bench.runner.dead_threads() == ["sift-collector"]


def test_a_start_over_a_store_that_cannot_be_written_is_refused(build):
    bench = build(start=False)
    with bench.store._database.alone() as connection:
        connection.execute("PRAGMA query_only = 1")

    with pytest.raises(StoreError, match="the restart rule could not be written: the store is read-only"):
        bench.runner.start()


def test_a_poll_through_a_whole_job_never_sees_a_contradiction(bench):
    job_id = bench.submit(*[f"http://site.test/{number}" for number in range(32)])
    seen = []

    while not seen or seen[-1]["status"] in ("queued", "running"):
        seen.append(bench.status(job_id))

    done_before = 0
    for body in seen:
        found = states(body)
        counts = {state: found.count(state) for state in ("pending", "running", "done", "failed")}
        assert body["counts"] == counts
        assert body["targets_done"] == counts["done"] + counts["failed"] >= done_before
        assert found == sorted(found, key=["done", "running", "pending"].index)
        assert counts["running"] <= 1
        assert (body["status"] == "done") == (counts["done"] == 32)
        assert all(("result" in target) == (target["status"] == "done") for target in body["targets"])
        assert not (body["status"] == "queued" and found != ["pending"] * 32)
        done_before = body["targets_done"]


def test_the_upstreams_answer_keeps_its_own_word(bench):
    bench.site.doing[URLS[0]] = UpstreamStatus(404)

    target = bench.ended(bench.submit(URLS[0]))["targets"][0]

    assert (target["reason"], target["hint"]) == ("upstream_4xx", "recover")
    assert bench.series("targets_total", outcome="upstream_4xx") == 1


def test_results_can_be_left_out_or_start_later(bench):
    bench.site.doing[URLS[1]] = TimedOut("30 s")
    job_id = bench.submit(*URLS[:3])
    bench.ended(job_id)

    none = json.loads(bench.runner.reader.read(ANN, job_id, View(results=False)).body())
    later = json.loads(bench.runner.reader.read(ANN, job_id, View(since=2)).body())

    assert ["result" in target for target in none["targets"]] == [False, False, False]
    assert ["result" in target for target in later["targets"]] == [False, False, True]
    assert none["targets"][1]["error"] == later["targets"][1]["error"] == "timeout: 30 s"
