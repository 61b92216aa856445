"""What was deleted leaves the file and the WAL: looked for in the files' own bytes."""

import json
import random
import sqlite3
import subprocess
import sys
from dataclasses import replace

import pytest

from sift.dcache import Caps, Finish, NewJob
from sift.target import Page

TTL_S = 3600


PASSER_BY = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("SELECT count(*) FROM batch_job").fetchone()
connection.close()
"""


def on_disk(store) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(store._path.parent.iterdir()))


def canary(number: int) -> bytes:
    return b"canary-%08d-" % (number * 7919)


def leftovers(store, numbers) -> list[int]:
    data = on_disk(store)
    return [number for number in numbers if canary(number) in data]


def numbers(gone) -> set[int]:
    return {int(job.job_id.removeprefix("j_")) for job in gone}


def store_job(store, number: int, now: float, rng: random.Random, sizes=(1, 30, 200, 3000, 20_000)) -> None:
    """A job whose url, options, result and error all carry its canary; sizes from tiny to many pages."""
    mark = canary(number).decode()
    job_id = f"j_{number}"
    targets = tuple(
        (f"http://site.test/{mark}/{idx}/" + "u" * rng.randrange(300), json.dumps({"question": mark}))
        for idx in range(rng.randrange(1, 6))
    )
    store.batch.admit(
        NewJob(job_id, "ann", "standard", job_id, targets), Caps(10**6, 10**6), reuse=False, now=now, ttl_s=TTL_S
    )
    store.batch.take_job(job_id)
    for idx in range(len(targets)):
        store.batch.start_target(job_id, idx)
        size = rng.choice(sizes)
        finish = Finish(result=canary(number) * size) if rng.random() < 0.7 else Finish(error=mark * min(size, 30))
        store.batch.finish_target(job_id, idx, finish, now=now)


def test_expired_jobs_leave_the_file_and_the_wal(store):
    rng = random.Random(1)
    for number in range(60):
        store_job(store, number, now=float(number), rng=rng)
    assert len(leftovers(store, range(60))) == 60

    while store.batch.sweep(now=TTL_S + 39.0, ttl_s=TTL_S):
        pass
    store.tidy()

    assert leftovers(store, range(40)) == []
    assert leftovers(store, range(40, 60)) == list(range(40, 60))


@pytest.mark.parametrize("seed", [2])
def test_jobs_evicted_in_a_mixed_life_leave_nothing_either(store, seed):
    """Small rows, many of them: pages are split and merged, and SQLite leaves copies of rows in their gaps."""
    rng = random.Random(seed)
    gone: set[int] = set()
    for number in range(300):
        store_job(store, number, now=float(number), rng=rng, sizes=(1, 5, 30))
        if rng.random() < 0.3:
            gone |= numbers(store.batch.evict_bytes(rng.randrange(100_000, 700_000)))
    while evicted := store.batch.evict_bytes(100_000):
        gone |= numbers(evicted)

    store.tidy()

    assert len(gone) > 200
    assert leftovers(store, sorted(gone)) == []


def test_tidying_in_the_middle_of_a_life_harms_nothing(store):
    rng = random.Random(5)
    kept: set[int] = set()
    for number in range(200):
        store_job(store, number, now=float(number), rng=rng)
        kept.add(number)
        if rng.random() < 0.3:
            kept -= numbers(store.batch.evict_bytes(rng.randrange(500_000, 3_000_000)))
        if rng.random() < 0.3:
            store._database.untidy = True
            store.tidy()

    with store._database.alone() as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    for number in kept:
        snapshot = store.batch.snapshot("ann", f"j_{number}", now=200.0, ttl_s=TTL_S)
        for target in snapshot.targets:
            assert canary(number).decode() in target.url
            assert (target.result or target.error.encode()).replace(canary(number), b"") == b""


def test_a_file_of_many_slices_takes_a_few_calls(store, monkeypatch):
    rng = random.Random(6)
    monkeypatch.setattr("sift.dcache.scrub._SLICE_PAGES", 1)
    for number in range(60):
        store_job(store, number, now=float(number), rng=rng)
    gone = numbers(store.batch.evict_bytes(2_000_000))

    calls = 1
    while not store.tidy():
        calls += 1

    assert calls == 4
    assert leftovers(store, sorted(gone)) == []


def test_a_reader_outside_delays_the_tidying_and_does_not_break_it(store):
    rng = random.Random(7)
    store_job(store, 1, now=1.0, rng=rng)
    outside = sqlite3.connect(store._path, isolation_level=None)
    outside.execute("BEGIN")
    outside.execute("SELECT count(*) FROM batch_job").fetchone()
    store.batch.evict_bytes(0)

    assert not store.tidy()
    outside.close()

    assert store.tidy()
    assert leftovers(store, [1]) == []


def test_a_reader_outside_that_leaves_does_not_take_the_wal_along(store):
    """The last one out deletes the WAL; it is told by locks on the file, which a close of any descriptor would drop."""
    rng = random.Random(8)
    store_job(store, 1, now=1.0, rng=rng)

    subprocess.run([sys.executable, "-c", PASSER_BY, store._path], check=True)

    store_job(store, 2, now=2.0, rng=rng)
    assert leftovers(store, [1, 2]) == [1, 2]


def test_evicted_and_replaced_pages_leave_nothing_either(store):
    rng = random.Random(3)
    page = Page("", "", 200, {}, b"", 1.0)
    for number in range(200):
        mark = canary(number)
        full = replace(page, final_url=f"http://{mark.decode()}/", body=mark * rng.choice([1, 50, 2000, 8000]))
        store.content.put("standard", f"http://site.test/{number % 90}", full)

    for number in range(90):
        store.content.delete("standard", f"http://site.test/{number}")
    store.tidy()

    assert leftovers(store, range(200)) == []


def test_a_header_that_a_revalidation_replaced_leaves_too(store):
    page = Page("", "http://site.test/", 200, {"etag": canary(1).decode()}, b"body", 1.0)
    store.content.put("standard", "http://site.test/", page)
    store.content.touch(
        "standard", "http://site.test/", replace(page, headers={"etag": canary(2).decode()}), known=page
    )

    store.tidy()

    assert leftovers(store, [1, 2]) == [2]


def test_the_file_shrinks_after_most_of_it_was_deleted(store):
    rng = random.Random(4)
    for number in range(150):
        store_job(store, number, now=float(number), rng=rng)
    store._database.untidy = True
    store.tidy()
    full = store._path.stat().st_size

    while store.batch.evict_bytes(0):
        pass
    for _ in range(20):
        store.tidy()

    assert store._path.stat().st_size < full / 10
