"""Reads through the runner: tags, and waits that end when there is something new."""

import json
import threading

import pytest

from sift.batch import View
from sift.errors import NotFound
from sift.target import Caller
from tests.support.waiting import until

ANN = Caller("ann")
BOB = Caller("bob")
URLS = [f"http://site.test/{number}" for number in range(3)]
LONG_S = 10.0


class Waiting:
    """A read in a thread of its own, and its answer."""

    def __init__(self, bench, job_id, caller=ANN, **wishes):
        self.answer = None
        self._thread = threading.Thread(target=self._read, args=(bench, job_id, caller, wishes))
        self._thread.start()

    def _read(self, bench, job_id, caller, wishes):
        self.answer = bench.runner.reader.read(caller, job_id, **wishes)

    def result(self):
        self._thread.join(LONG_S)
        assert self.answer is not None
        return self.answer


@pytest.fixture
def listening(bench):
    """Waits until so many reads wait."""
    return lambda count: until(lambda: bench.runner._bell._waiting.total() == count)


@pytest.fixture
def held(bench):
    """A job whose first target is in flight."""
    bench.site.hold(URLS[0])
    job_id = bench.submit(*URLS)
    bench.site.arrived(URLS[0])
    return job_id


def test_a_known_tag_answers_unchanged(bench):
    job_id = bench.submit(*URLS)
    bench.ended(job_id)
    first = bench.runner.reader.read(ANN, job_id)

    again = bench.runner.reader.read(ANN, job_id, known=[first.etag])
    other = bench.runner.reader.read(ANN, job_id, known=['W/"else"'])

    assert (first.unchanged, again.unchanged, other.unchanged) == (False, True, False)
    assert other.body() == first.body()


def test_a_read_with_a_known_tag_bumps_the_lease_too(bench):
    job_id = bench.submit(URLS[0])
    bench.ended(job_id)
    etag = bench.runner.reader.read(ANN, job_id).etag
    for _ in range(3):
        bench.hand.pass_s(3000)
        assert bench.runner.reader.read(ANN, job_id, known=[etag]).unchanged


def test_a_wait_ends_when_the_job_ends(bench, held, listening):
    waiting = Waiting(bench, held, wait_s=LONG_S)
    listening(1)

    bench.site.let_go(URLS[0])

    assert json.loads(waiting.result().body())["status"] == "done"


def test_a_wait_with_a_known_tag_ends_at_the_first_change(bench, held, listening):
    bench.site.hold(URLS[1])
    tag = bench.runner.reader.read(ANN, held).etag
    waiting = Waiting(bench, held, wait_s=LONG_S, known=[tag])
    listening(1)

    bench.site.let_go(URLS[0])

    answer = waiting.result()
    assert not answer.unchanged
    assert json.loads(answer.body())["status"] == "running"


def test_a_wait_ends_at_a_cancel(bench, held, listening):
    waiting = Waiting(bench, held, wait_s=LONG_S)
    listening(1)

    bench.runner.cancel(ANN, held)

    assert json.loads(waiting.result().body())["status"] == "cancelled"


def test_a_wait_ends_with_its_time(bench, held):
    tag = bench.runner.reader.read(ANN, held).etag

    assert json.loads(bench.runner.reader.read(ANN, held, wait_s=0.02).body())["status"] == "running"
    assert bench.runner.reader.read(ANN, held, wait_s=0.02, known=[tag]).unchanged


def test_a_wait_for_an_ended_job_answers_at_once(bench):
    job_id = bench.submit(URLS[0])
    bench.ended(job_id)

    assert not bench.runner.reader.read(ANN, job_id, wait_s=LONG_S).unchanged


def test_the_view_decides_whether_a_tag_is_known(bench, held):
    none = bench.runner.reader.read(ANN, held, View(results=False))

    assert bench.runner.reader.read(ANN, held, View(since=0), known=[none.etag]).unchanged
    bench.site.let_go(URLS[0])
    bench.ended(held)
    full = bench.runner.reader.read(ANN, held)
    assert not bench.runner.reader.read(ANN, held, View(results=False), known=[full.etag]).unchanged


def test_two_waits_of_one_caller_and_four_in_all(bench, held, listening):
    other = bench.submit(URLS[0], caller=BOB)
    waits = [Waiting(bench, held, wait_s=LONG_S) for _ in range(2)]
    listening(2)
    assert bench.runner.reader.read(ANN, held, wait_s=LONG_S).snapshot.job.live

    waits += [Waiting(bench, other, BOB, wait_s=LONG_S) for _ in range(2)]
    listening(4)
    with pytest.raises(NotFound):
        bench.runner.reader.read(Caller("cid"), held, wait_s=LONG_S)

    bench.site.let_go(URLS[0])
    assert all(not waiting.result().snapshot.job.live for waiting in waits)
    assert bench.runner._bell._waiting.total() == 0


def test_a_live_job_says_when_to_look_again_and_an_ended_one_does_not(bench, held):
    assert bench.runner.reader.read(ANN, held).retry_after_s == 3
    bench.site.let_go(URLS[0])
    bench.ended(held)
    assert bench.runner.reader.read(ANN, held).retry_after_s is None


def test_the_list_is_the_callers_own(bench):
    job_id = bench.submit(URLS[0])
    bench.ended(job_id)

    assert [job["job_id"] for job in json.loads(bench.runner.reader.jobs(ANN))["jobs"]] == [job_id]
    assert json.loads(bench.runner.reader.jobs(BOB)) == {"jobs": []}
