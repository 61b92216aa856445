"""The batch's series agree with what happened."""

import pytest

from sift.batch.ledger import Ledger
from sift.errors import Blocked, Busy, Internal, Invalid, TimedOut, TooLong, Unreachable, Unsupported, UpstreamStatus
from sift.target import Caller, Result, Target

URLS = [f"http://site.test/{number}" for number in range(9)]
ERRORS = {
    "blocked": Blocked("x"),
    "timeout": TimedOut("x"),
    "upstream_4xx": UpstreamStatus(404),
    "upstream_5xx": UpstreamStatus(503),
    "unsupported": Unsupported("x"),
    "too_long": TooLong("x"),
}


def outcomes(bench):
    samples = next(metric for metric in bench.registry.collect() if metric.name == "sift_batch_targets").samples
    return {sample.labels["outcome"]: sample.value for sample in samples if sample.value}


def test_every_outcome_is_counted_under_its_own_word(bench):
    for url, error in zip(URLS, ERRORS.values(), strict=False):
        bench.site.doing[url] = error

    bench.ended(bench.submit(*URLS))

    assert outcomes(bench) == {**dict.fromkeys(ERRORS, 1), "ok": 3}
    assert bench.series("target_seconds_count") == 9
    assert bench.series("result_bytes_count") == 3


@pytest.mark.parametrize("error", [Unreachable("x"), Invalid("x"), Internal()])
def test_a_word_that_the_counter_does_not_know_folds_to_other(bench, error):
    bench.site.doing[URLS[0]] = error

    bench.ended(bench.submit(URLS[0]))

    assert outcomes(bench) == {"other": 1}


def test_a_target_in_flight_that_stays_busy_through_a_cancel_is_counted_busy(bench):
    caller = Caller("ann")

    def busy_at_a_later_hop(_caller, _target, lane):
        bench.runner.cancel(caller, lane.job_id)
        raise Busy("no slot")

    bench.site.doing[URLS[0]] = busy_at_a_later_hop
    job_id = bench.submit(*URLS[:3])

    body = bench.until(job_id, lambda body: body["targets_done"] == 1)

    assert body["targets"][0]["reason"] == "busy"
    assert outcomes(bench) == {"busy": 1, "cancel": 2}


def test_jobs_are_counted_by_what_became_of_them(bench):
    bench.site.doing[URLS[1]] = TimedOut("x")
    bench.ended(bench.submit(URLS[0]))
    bench.submit(URLS[0])
    bench.ended(bench.submit(URLS[1]))
    bench.ended(bench.submit(*URLS[:2]))
    bench.site.hold(URLS[2])
    bench.runner.cancel(Caller("ann"), bench.submit(URLS[2]))

    words = ("created", "reused", "done", "failed", "partial", "cancelled", "restart")

    assert [bench.series("jobs_total", outcome=word) for word in words] == [4, 1, 1, 1, 1, 1, 0]
    assert bench.series("job_seconds_count") == 4


def test_result_bytes_are_those_that_were_stored(bench):
    bench.site.doing[URLS[0]] = lambda *_: Result({"content": "x" * 988})

    bench.ended(bench.submit(URLS[0]))

    assert bench.series("result_bytes_sum") == 1002
    assert bench.series("result_bytes_bucket", le="1024.0") == 1


def test_seconds_leave_out_the_waits_at_gates(bench):
    def slow(_caller, _target, lane):
        lane.waited_s += 40
        bench.hand.pass_s(42)
        return Result({})

    bench.site.doing[URLS[0]] = slow

    bench.ended(bench.submit(URLS[0]))

    assert bench.series("target_seconds_sum") == 2
    assert bench.series("job_seconds_sum") == 42


def test_gauges_show_what_is_queued_in_flight_stored_and_how_old_the_oldest_is(build):
    bench = build(jobs_total=2, start=False)
    bench.runner.submit(Caller("ann"), [Target(URLS[0])])
    bench.hand.pass_s(30)
    bench.runner.submit(Caller("bob"), [Target(URLS[0])])
    bench.site.hold(URLS[0])

    assert bench.series("queue_depth") == 2
    assert bench.series("oldest_live_seconds") == 30
    assert bench.series("targets_inflight") == 0

    bench.runner._grow()
    bench.site.arrived(URLS[0])
    assert bench.series("targets_inflight") in (1, 2)


def test_cancelled_while_queued_leaves_the_queue(build):
    bench = build(start=False)
    job_id = bench.submit(URLS[0])

    bench.runner.cancel(Caller("ann"), job_id)

    assert bench.series("queue_depth") == 0
    assert bench.series("oldest_live_seconds") == 0
    assert outcomes(bench) == {"cancel": 1}


def test_a_restart_counts_the_jobs_and_targets_it_found(metrics):
    ledger = Ledger(metrics, lambda: 0.0)

    ledger.restarted(2, 3)

    assert metrics.batch_jobs_total.labels("restart")._value.get() == 2
    assert metrics.batch_targets_total.labels("other")._value.get() == 3
