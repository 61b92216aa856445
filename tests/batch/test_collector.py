"""The collector: leases, bytes, a clock that jumps, and a disk that fails and comes back."""

import threading
from dataclasses import replace

import pytest

from sift.errors import NotFound, StorageFailed
from sift.target import Caller, Result
from tests.support.waiting import until

ANN = Caller("ann")
BOB = Caller("bob")
URLS = [f"http://site.test/{number}" for number in range(3)]
DAY_S = 86_400
TTL_S = 3600


def done(bench, url=URLS[0], size=10, caller=ANN):
    """An ended job whose result has about `size` bytes."""
    bench.site.doing[url] = lambda *_: Result({"content": "x" * size})
    job_id = bench.submit(url, caller=caller, fresh=True)
    bench.ended(job_id, caller)
    return job_id


class Failing:
    """A method of the store that fails until it is let succeed; then it announces its success."""

    def __init__(self, monkeypatch, tables, name):
        self._method = getattr(tables, name)
        self.failed = threading.Event()
        self.mended = threading.Event()
        monkeypatch.setattr(tables, name, self)

    def __call__(self, *arguments, **wishes):
        if not self.mended.is_set():
            self.failed.set()
            raise StorageFailed("the disk is full")
        return self._method(*arguments, **wishes)


def test_an_expired_job_is_collected_and_counted(bench):
    job_id = done(bench)
    bench.hand.pass_s(TTL_S)

    bench.runner.collect()

    assert bench.store.batch.nbytes() == 0
    assert bench.series("evictions_total", cause="lease") == 1
    with pytest.raises(NotFound):
        bench.status(job_id)


def test_a_job_over_the_bytes_goes_at_once_oldest_lease_first(build):
    bench = build(max_bytes=15_000)
    first = done(bench, size=8000)
    bench.hand.pass_s(120)
    second = done(bench, URLS[1], size=8000)

    until(lambda: bench.store.batch.nbytes() <= 15_000)

    assert bench.status(second)["status"] == "done"
    with pytest.raises(NotFound):
        bench.status(first)
    assert bench.series("evictions_total", cause="bytes") == 1
    assert bench.series("evicted_age_seconds_sum") == 120


def test_a_smaller_budget_is_in_force_after_a_reload(bench, config):
    done(bench)
    bench.runner.configure(replace(config, max_bytes=0))

    bench.runner.collect()

    assert bench.store.batch.nbytes() == 0


@pytest.mark.parametrize("jump_s", [DAY_S, -DAY_S, 61])
def test_a_jump_of_the_wall_clock_moves_the_leases_along(bench, jump_s):
    job_id = done(bench)
    bench.hand.wall += jump_s

    bench.runner.collect()

    assert bench.status(job_id)["status"] == "done"
    bench.hand.pass_s(TTL_S - 1)
    bench.runner.collect()
    assert bench.store.batch.nbytes() > 0
    bench.hand.pass_s(TTL_S)
    bench.runner.collect()
    assert bench.store.batch.nbytes() == 0


def test_a_read_right_after_a_jump_finds_its_job_before_any_round(bench):
    job_id = done(bench)
    bench.hand.wall += DAY_S

    assert bench.status(job_id)["status"] == "done"


def test_a_resubmit_right_after_a_jump_reuses_its_job(bench):
    job_id = bench.submit(URLS[0])
    bench.ended(job_id)
    bench.hand.wall += DAY_S

    assert bench.submit(URLS[0]) == job_id


def test_nothing_is_collected_while_a_jump_cannot_be_written_down(bench, monkeypatch):
    job_id = done(bench)
    shift = Failing(monkeypatch, bench.store.batch, "shift_leases")
    bench.runner._leases._shift_leases = shift
    bench.hand.wall += DAY_S

    bench.runner.collect()
    assert bench.status(job_id)["status"] == "done"

    shift.mended.set()
    bench.runner.collect()
    assert bench.status(job_id)["status"] == "done"
    assert bench.status(job_id)["expires_at"] == "2027-01-16T09:00:00Z"


def test_a_drift_of_seconds_moves_nothing(bench):
    job_id = done(bench)
    bench.hand.wall += TTL_S - 30
    bench.hand.steady += TTL_S - 60

    bench.runner.collect()

    bench.hand.pass_s(30)
    with pytest.raises(NotFound):
        bench.status(job_id)


def test_a_round_that_fails_is_logged_by_type_and_the_next_one_succeeds(bench, monkeypatch):
    done(bench)
    bench.hand.pass_s(TTL_S)
    sweep = Failing(monkeypatch, bench.store.batch, "sweep")
    bench.runner.collect()
    assert 'in=collector error="StorageFailed at' in bench.log.getvalue()

    sweep.mended.set()
    bench.runner.collect()

    assert bench.store.batch.nbytes() == 0


def test_deleted_jobs_leave_the_file_within_a_minute(bench):
    bench.site.doing[URLS[0]] = lambda *_: Result({"content": "canary-of-a-page"})
    bench.ended(bench.submit(URLS[0]))
    directory = bench.path.parent
    assert any(b"canary-of-a-page" in file.read_bytes() for file in directory.iterdir())
    bench.hand.pass_s(TTL_S)

    for _ in range(6):
        bench.runner.collect()
        bench.hand.pass_s(10)

    assert not any(b"canary" in file.read_bytes() for file in directory.iterdir())


def test_a_finish_that_cannot_be_written_is_tried_again_while_its_target_runs(bench, monkeypatch):
    finish = Failing(monkeypatch, bench.store.batch, "finish_target")
    job_id = bench.submit(*URLS[:2])
    assert finish.failed.wait(5)

    assert [target["status"] for target in bench.status(job_id)["targets"]] == ["running", "pending"]
    assert bench.series("targets_inflight") == 1
    finish.mended.set()

    assert bench.ended(job_id)["status"] == "done"
    assert bench.series("targets_total", outcome="ok") == 2
    assert bench.series("targets_inflight") == 0
    assert len(bench.site.asked) == 2


@pytest.mark.parametrize("name", ["take_job", "start_target"])
def test_a_job_whose_start_cannot_be_written_waits_for_the_disk(bench, monkeypatch, name):
    failing = Failing(monkeypatch, bench.store.batch, name)
    job_id = bench.submit(URLS[0])
    assert failing.failed.wait(5)
    assert bench.site.asked == []

    failing.mended.set()

    assert bench.ended(job_id)["status"] == "done"
    assert len(bench.site.asked) == 1


def test_a_job_that_waits_for_the_disk_can_be_cancelled(bench, monkeypatch):
    failing = Failing(monkeypatch, bench.store.batch, "start_target")
    job_id = bench.submit(URLS[0])
    assert failing.failed.wait(5)

    bench.runner.cancel(ANN, job_id)
    failing.mended.set()

    assert bench.ended(bench.submit(URLS[1]))["status"] == "done"
    assert [url for _, url in bench.site.asked] == [URLS[1]]


def test_a_stop_waits_for_the_disk_no_longer_than_its_grace(bench, build, monkeypatch):
    finish = Failing(monkeypatch, bench.store.batch, "finish_target")
    job_id = bench.submit(*URLS[:2])
    assert finish.failed.wait(5)

    bench.runner.stop(0.1)
    bench.store.close()

    body = build().status(job_id)
    assert [target["status"] for target in body["targets"]] == ["failed", "pending"]
    assert body["targets"][0]["reason"] == "restart"


def test_a_disk_that_comes_back_within_the_grace_gets_what_was_in_flight(bench, monkeypatch):
    finish = Failing(monkeypatch, bench.store.batch, "finish_target")
    job_id = bench.submit(*URLS[:2])
    assert finish.failed.wait(5)
    threading.Timer(0.1, finish.mended.set).start()

    assert bench.runner.stop(5.0)

    assert [target["status"] for target in bench.status(job_id)["targets"]] == ["done", "pending"]


def test_a_removed_callers_jobs_that_cannot_be_cancelled_are_logged(bench, monkeypatch):
    bench.site.hold(URLS[0])
    bench.submit(URLS[0])
    Failing(monkeypatch, bench.store.batch, "cancel")

    bench.runner.cancel_callers(["ann"])

    assert "in=cancel_callers" in bench.log.getvalue()


def test_a_submit_that_cannot_be_stored_says_so_and_counts_nothing(bench, monkeypatch):
    Failing(monkeypatch, bench.store.batch, "admit")

    with pytest.raises(StorageFailed):
        bench.submit(URLS[0])

    assert bench.series("queue_depth") == 0
    assert bench.series("jobs_total", outcome="created") == 0


def test_a_job_deleted_under_its_target_harms_nobody(bench, monkeypatch):
    monkeypatch.setattr(bench.store.batch, "finish_target", lambda *_arguments, **_wishes: None)

    bench.submit(URLS[0])
    until(lambda: bench.series("targets_total", outcome="ok") == 1)

    assert bench.series("result_bytes_count") == 0
    assert bench.series("targets_inflight") == 0
