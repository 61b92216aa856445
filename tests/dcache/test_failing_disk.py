"""A store that cannot write: what is refused, what still works, and that nothing is half done."""

import os
import sqlite3
import subprocess
import time
from contextlib import closing, contextmanager, suppress

import pytest

from sift.dcache import Finish, Store
from sift.errors import Stopping, StorageFailed


@contextmanager
def full(store):
    """The file may not grow any more."""
    with store._database.alone() as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        (most,) = connection.execute("PRAGMA max_page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
    yield
    with store._database.alone() as connection:
        connection.execute(f"PRAGMA max_page_count = {most}")


@contextmanager
def read_only(store):
    with store._database.alone() as connection:
        connection.execute("PRAGMA query_only = 1")
    yield
    with store._database.alone() as connection:
        connection.execute("PRAGMA query_only = 0")


def test_a_submit_on_a_full_disk_fails_whole_and_says_what_is_wrong(desk):
    with full(desk.store), pytest.raises(StorageFailed, match="the disk is full; try again when"):
        desk.admit(urls=500)

    assert desk.store.batch.nbytes() == 0
    assert desk.admit(urls=500).job_id


def test_a_finish_on_a_full_disk_leaves_the_target_running_and_can_be_tried_again(desk, hand):
    job_id = desk.running()
    desk.store.batch.start_target(job_id, 0)
    finish = Finish(result=b"x" * 200_000)
    before = desk.store.batch.nbytes()

    with full(desk.store), pytest.raises(StorageFailed):
        desk.store.batch.finish_target(job_id, 0, finish, now=hand.wall)

    assert desk.look(job_id).targets[0].status == "running"
    assert desk.store.batch.nbytes() == before
    assert desk.store.batch.finish_target(job_id, 0, finish, now=hand.wall).ended == "done"
    assert desk.look(job_id).job.targets_done == 1


def test_reads_go_on_without_their_bump(desk, hand):
    job_id = desk.ended()
    hand.pass_s(100)

    with read_only(desk.store):
        snapshot = desk.look(job_id)

    assert snapshot.targets[0].result == b"{}"
    assert snapshot.job.lease == hand.wall - 100
    assert desk.column(job_id, "lease") == hand.wall - 100


def test_a_read_only_store_says_so(desk):
    with read_only(desk.store), pytest.raises(StorageFailed, match="the store is read-only"):
        desk.admit()


def test_a_store_held_by_another_program_refuses_writes_and_reads_on(desk, hand):
    job_id = desk.ended()
    hand.pass_s(100)
    with desk.store._database.alone() as connection:
        connection.execute("PRAGMA busy_timeout = 10")
    with closing(sqlite3.connect(desk.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageFailed, match="held by another program"):
            desk.admit()
        assert desk.look(job_id).job.lease == hand.wall - 100


def test_damage_found_on_the_way_is_a_storage_failure_not_a_crash(desk):
    job_id = desk.ended(result=b"x" * 100_000)
    desk.store._database.untidy = True
    desk.store.tidy()
    with desk.store._database.alone() as connection:
        connection.execute("PRAGMA shrink_memory")
    descriptor = desk.store._scrubber._file
    for page in range(1, os.fstat(descriptor).st_size // 4096):
        os.pwrite(descriptor, b"\xff" * 4096, page * 4096)

    with pytest.raises(StorageFailed, match="the store is damaged; tell the operator"):
        desk.look(job_id)


def test_a_closed_store_is_stopping(desk):
    desk.store.close()

    with pytest.raises(Stopping):
        desk.admit()
    with pytest.raises(Stopping):
        desk.look("j_0")
    desk.store.close()


def test_a_sound_store_has_nothing_to_say_to_a_probe(store):
    assert store.probe(2.0) is None


def test_a_probe_names_a_silent_store(store):
    with store._database.read():
        ends = time.monotonic() + 10
        while store.probe(0.01) is None:
            assert time.monotonic() < ends
        assert store.probe(0.01) == "the store has been silent for 0.01 s"


def test_a_probe_does_not_wait_for_a_store_at_work(store):
    with store._database.read():
        assert store.probe(60.0) is None


def test_a_probe_names_a_store_that_cannot_be_written_until_it_can(desk):
    with read_only(desk.store):
        with pytest.raises(StorageFailed):
            desk.admit()
        assert desk.store.probe(2.0) == "the store is not writable: the store is read-only; tell the operator"

    assert desk.store.probe(2.0) is None


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 2 MiB."""
    ran = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", tmp_path], capture_output=True)
    if ran.returncode:
        pytest.skip("mounting a tmpfs takes root")
    yield tmp_path
    subprocess.run(["umount", "--lazy", tmp_path], check=True)


def fill(path):
    """Write until nothing more goes in."""
    with open(path, "wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"x" * 1024)


def test_on_a_disk_that_is_really_full_nothing_is_lost_and_all_comes_back(small_disk, hand, at_desk):
    store = Store.open(small_disk / "data" / "dcache.sqlite3", cache_bytes=1 << 20)
    desk = at_desk(store, hand)
    done = desk.ended(result=b"x" * 100_000)
    job_id = desk.running(urls=2)
    desk.store.batch.start_target(job_id, 0)
    ballast = small_disk / "ballast"
    fill(ballast)
    finish = Finish(result=b"y" * 300_000)

    with pytest.raises(StorageFailed, match="the disk is full"):
        store.batch.finish_target(job_id, 0, finish, now=hand.wall)
    hand.pass_s(10)

    assert desk.look(done).targets[0].result == b"x" * 100_000
    assert desk.look(job_id).targets[0].status == "running"
    assert store.probe(2.0) == "the store is not writable: the disk is full"

    ballast.unlink()
    assert store.batch.finish_target(job_id, 0, finish, now=hand.wall)
    assert store.probe(2.0) is None
    store.close()
    again = Store.open(small_disk / "data" / "dcache.sqlite3", cache_bytes=1 << 20)
    assert again.batch.snapshot("ann", job_id, now=hand.wall, ttl_s=3600).targets[0].result == b"y" * 300_000
    again.close()
