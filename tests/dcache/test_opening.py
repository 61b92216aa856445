"""Opening: modes, versions, and leaving alone what is not to be touched."""

import os
import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from sift.dcache import Store, schema
from sift.errors import StoreError

VERSIONS = Path(__file__).parent / "versions"
BUDGET = 1 << 20


def files(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir())}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def refused(path: Path, match: str) -> None:
    """Opening is refused in words that match, and every byte of the directory is as it was."""
    before = files(path.parent)
    with pytest.raises(StoreError, match=match):
        Store.open(path, cache_bytes=BUDGET)
    assert files(path.parent) == before


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A sound database, closed."""
    path = tmp_path / "data" / "dcache.sqlite3"
    Store.open(path, cache_bytes=BUDGET).close()
    return path


def left_behind(path: Path, statement: str) -> Path:
    """The database as a killed process leaves it: with `statement` in the WAL alone."""
    copy = path.parent.parent / "killed" / path.name
    copy.parent.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)
        for file in path.parent.iterdir():
            shutil.copy(file, copy.parent / file.name)
    return copy


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_files_are_0600_and_the_directory_0700_whatever_the_umask(tmp_path, umask):
    path = tmp_path / "new" / "dcache.sqlite3"
    old = os.umask(umask)
    try:
        store = Store.open(path, cache_bytes=BUDGET)
    finally:
        os.umask(old)

    modes = {file.name: mode(file) for file in path.parent.iterdir()}
    store.close()

    assert modes == {"dcache.sqlite3": 0o600, "dcache.sqlite3-wal": 0o600, "dcache.sqlite3-shm": 0o600}
    assert mode(path.parent) == 0o700


def test_modes_that_were_widened_are_narrowed_again(path):
    path.chmod(0o644)

    Store.open(path, cache_bytes=BUDGET).close()

    assert mode(path) == 0o600


def test_a_directory_that_is_there_keeps_its_mode(tmp_path):
    tmp_path.chmod(0o750)

    Store.open(tmp_path / "dcache.sqlite3", cache_bytes=BUDGET).close()

    assert mode(tmp_path) == 0o750


def test_wal_full_sync_and_secure_delete_are_on_where_something_is_finished(path):
    store = Store.open(path, cache_bytes=BUDGET)
    with store._database.read() as transaction:
        assert transaction.value("PRAGMA journal_mode") == "wal"
        assert transaction.value("PRAGMA secure_delete") == 1
    with store._database.write() as transaction:
        assert transaction.value("PRAGMA synchronous") == 2
    with store._database.write(durable=False) as transaction:
        assert transaction.value("PRAGMA synchronous") == 1
    store.close()


def test_a_newer_version_is_refused_and_left_alone(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")

    refused(path, f"of schema version {schema.VERSION + 1}, this Sift knows {schema.VERSION}; run the newer Sift")


def test_a_newer_version_that_stands_in_the_wal_alone_is_refused_and_left_alone(path):
    killed = left_behind(path, f"PRAGMA user_version = {schema.VERSION + 7}")
    (killed.parent / "dcache.sqlite3-shm").unlink()

    refused(killed, f"of schema version {schema.VERSION + 7}")


@pytest.mark.parametrize("length", [1, 50, 100, 4096, 30_000])
def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path, length):
    path = tmp_path / "dcache.sqlite3"
    path.write_bytes(b"not a database, whatever its name says. "[: length % 40] + b"x" * length)

    refused(path, "damaged; restore it from a backup, or move it away")


@pytest.mark.parametrize("place", [0, 20, 100, 4096, 3 * 4096 + 5])
def test_a_database_with_overwritten_bytes_is_refused_and_left_alone(path, place):
    with path.open("r+b") as file:
        file.seek(place)
        file.write(b"\xde\xad\xbe\xef" * 16)

    refused(path, "damaged")


def test_a_database_that_was_cut_off_is_refused_and_left_alone(path):
    os.truncate(path, path.stat().st_size - 4096)

    refused(path, "damaged")


def test_damage_beside_a_wal_is_refused_and_left_alone(path):
    killed = left_behind(path, "DELETE FROM batch_job")
    with killed.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 4096)
    (killed.parent / "dcache.sqlite3-shm").unlink()

    refused(killed, "damaged")


@pytest.mark.parametrize("version", [0, 1, schema.VERSION])
def test_another_programs_database_is_refused_and_left_alone(tmp_path, version):
    path = tmp_path / "dcache.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE theirs (x)")
        connection.execute(f"PRAGMA user_version = {version}")

    refused(path, "not one of Sift's; point data_dir elsewhere")


def test_a_sqlite_that_is_too_old_is_refused_before_anything_is_made(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))

    with pytest.raises(StoreError, match="too old"):
        Store.open(tmp_path / "data" / "dcache.sqlite3", cache_bytes=BUDGET)

    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_is_filled(tmp_path):
    path = tmp_path / "dcache.sqlite3"
    path.touch()

    Store.open(path, cache_bytes=BUDGET).close()

    assert path.stat().st_size > 0


def test_a_database_held_by_another_program_is_refused_by_name(path):
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="locked by another program; close that one"):
            Store.open(path, cache_bytes=BUDGET)


def test_a_directory_that_cannot_be_made_is_refused_with_what_to_do(tmp_path):
    (tmp_path / "file").touch()

    with pytest.raises(StoreError, match="data_dir must be a directory that Sift may write in"):
        Store.open(tmp_path / "file" / "data" / "dcache.sqlite3", cache_bytes=BUDGET)


@pytest.mark.parametrize("version", range(1, schema.VERSION))
def test_a_database_of_an_earlier_version_is_brought_forward_with_what_it_holds(tmp_path, version):
    path = tmp_path / "dcache.sqlite3"
    shutil.copy(VERSIONS / f"{version}.sqlite3", path)

    store = Store.open(path, cache_bytes=BUDGET)

    done = store.batch.snapshot("ann", "j_done", now=1.8e9, ttl_s=3600)
    assert [target.result for target in done.targets] == [
        b'{"success": true, "content": "page 0"}',
        b'{"success": true, "content": "page 1"}',
    ]
    assert store.batch.live_counts() == {"queued": 0, "running": 1}
    kept = store.content.get("standard", "http://kept.test/")
    assert (kept and kept.body) == (None if version == 1 else b"<p>kept</p>" * 400)
    with store._database.alone() as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)
    store.close()


def test_every_earlier_version_is_kept():
    assert sorted(file.stem for file in VERSIONS.iterdir()) == [str(number) for number in range(1, schema.VERSION)]


def test_a_migration_that_fails_leaves_the_version_before_it(tmp_path, monkeypatch):
    path = tmp_path / "dcache.sqlite3"
    shutil.copy(VERSIONS / "1.sqlite3", path)
    monkeypatch.setattr(schema, "MIGRATIONS", (schema.MIGRATIONS[0], ("CREATE TABLE half (x)", "NO SQL")))

    with pytest.raises(StoreError):
        Store.open(path, cache_bytes=BUDGET)

    with closing(sqlite3.connect(path)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
        assert "half" not in tables


@pytest.mark.skipif(os.geteuid() != 0, reason="gives up root in a child process")
def test_a_read_only_directory_is_refused_with_what_to_do(path, tmp_path):
    for directory in (tmp_path, *tmp_path.parents[:2]):
        directory.chmod(0o755)
    path.parent.chmod(0o555)
    path.chmod(0o444)
    reader, writer = os.pipe()

    if (child := os.fork()) == 0:
        os.setuid(65534)
        try:
            Store.open(path, cache_bytes=BUDGET)
        except StoreError as error:
            os.write(writer, str(error).encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with open(reader) as pipe:
        said = pipe.read()

    assert "Permission denied; data_dir must be a directory that Sift may write in" in said
