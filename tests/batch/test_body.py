"""The bodies of answers, and the tag that tells them apart."""

import json
from dataclasses import replace

import pytest

from sift.batch.body import View, etag, list_body, status_body
from sift.dcache import JobRow, Snapshot, TargetRow

JOB = JobRow("j_1", "partial", None, 3, 3, 1_800_000_000.9, 1_800_000_100.0)
DONE = TargetRow(0, "http://a.test/", "done", None, None, None, b'{"content": "\xc3\xa4"}')
FAILED = TargetRow(1, "http://b.test/\u00fc", "failed", "timeout: 30 s", "timeout", "retry", None)
PENDING = TargetRow(2, "http://c.test/", "pending", None, None, None, None)
SNAPSHOT = Snapshot(JOB, (DONE, FAILED, PENDING))


def with_target(target):
    targets = list(SNAPSHOT.targets)
    targets[target.idx] = target
    return replace(SNAPSHOT, targets=tuple(targets))


def test_the_status_body_is_the_contracts_to_the_letter():
    assert json.loads(status_body(SNAPSHOT, ttl_s=60)) == {
        "job_id": "j_1",
        "status": "partial",
        "targets_total": 3,
        "targets_done": 3,
        "counts": {"pending": 1, "running": 0, "done": 1, "failed": 1},
        "created_at": "2027-01-15T08:00:00Z",
        "expires_at": "2027-01-15T08:02:40Z",
        "targets": [
            {"idx": 0, "url": "http://a.test/", "status": "done", "result": {"content": "ä"}},
            {
                "idx": 1,
                "url": "http://b.test/ü",
                "status": "failed",
                "error": "timeout: 30 s",
                "reason": "timeout",
                "hint": "retry",
            },
            {"idx": 2, "url": "http://c.test/", "status": "pending"},
        ],
    }


def test_stored_results_are_spliced_in_byte_by_byte():
    odd = replace(DONE, result=b'{ "kept" :  "as it was" }')

    assert b'"result":{ "kept" :  "as it was" }}' in status_body(with_target(odd), ttl_s=60)


def test_a_job_that_failed_as_a_whole_says_so():
    failed = replace(SNAPSHOT, job=replace(JOB, status="failed", error="restart"))

    assert json.loads(status_body(failed, ttl_s=60))["error"] == "restart"


def test_the_list_has_jobs_without_targets():
    assert json.loads(list_body([JOB], ttl_s=60)) == {
        "jobs": [
            {
                "job_id": "j_1",
                "status": "partial",
                "targets_total": 3,
                "targets_done": 3,
                "created_at": "2027-01-15T08:00:00Z",
                "expires_at": "2027-01-15T08:02:40Z",
            }
        ]
    }


def test_the_tag_is_weak_and_does_not_see_the_lease_or_whether_results_were_read():
    bumped = Snapshot(replace(JOB, lease=JOB.lease + 50), (replace(DONE, result=None), FAILED, PENDING))

    assert etag(SNAPSHOT, View()).startswith('W/"')
    assert etag(bumped, View()) == etag(SNAPSHOT, View())


@pytest.mark.parametrize(
    "changed",
    [
        replace(SNAPSHOT, job=replace(JOB, status="cancelled")),
        replace(SNAPSHOT, job=replace(JOB, error="restart")),
        replace(SNAPSHOT, job=replace(JOB, job_id="j_2")),
        with_target(replace(PENDING, status="running")),
        with_target(replace(PENDING, status="failed", error="x", reason="internal")),
    ],
)
def test_whatever_the_answer_says_changes_the_tag(changed):
    assert etag(changed, View()) != etag(SNAPSHOT, View())


def test_views_that_say_the_same_share_a_tag_and_others_do_not():
    everything, nothing, later = View(), View(results=False), View(since=1)

    assert etag(SNAPSHOT, nothing) == etag(SNAPSHOT, later) == etag(SNAPSHOT, View(since=99))
    assert etag(SNAPSHOT, everything) != etag(SNAPSHOT, nothing)
