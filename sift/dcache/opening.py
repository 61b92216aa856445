"""Opening the database file: looked at first without changing a byte, then opened for writing with the right modes.

What is damaged, of a newer version or not Sift's is refused with a line that says what to do.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from sift.dcache import schema
from sift.errors import StoreError

_OLDEST_SQLITE = (3, 35)  # RETURNING
_MODE = 0o600
_BUSY_S = 1.0
_PAGE_BYTES = 4096
# Room for a whole job of ordinary size, so that polling it reads no file.
_CACHE_KIB = 8192
# Whoever commits past this writes the WAL home while all others wait. Measured with eight batches, together 27 targets
# a second, p99 of a poll: every 1000 pages 11 to 27 ms, every 4000 pages 5 ms.
_CHECKPOINT_PAGES = 4000
# After a burst the WAL file shrinks back to this at its next reset.
_WAL_KEPT_BYTES = 16 * 1024 * 1024
_AWAY = "move it away together with its -wal and -shm files to start with an empty one"


def connect(path: Path) -> sqlite3.Connection:
    """The one writing connection, migrated to this version's schema; raises `StoreError`, then nothing was changed."""
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        raise StoreError(f"SQLite {sqlite3.sqlite_version} is too old, 3.35 or newer is needed; take a newer Python")
    with _explained(path):
        _make_directory(path.parent)
        inspect(path)
        _make_file(path)
        connection = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
        try:
            _configure(connection)
            schema.migrate(connection)
            _narrow(path)
        except BaseException:
            connection.close()
            raise
    return connection


def inspect(path: Path) -> None:
    """Raise `StoreError` unless `path` is missing, empty, or a sound Sift database of a version that is known."""
    if not path.exists() or path.stat().st_size == 0:
        return
    with _explained(path), _look(path) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > schema.VERSION:
            raise StoreError(
                f"{path}: of schema version {version}, this Sift knows {schema.VERSION}; run the newer Sift, or {_AWAY}"
            )
        _check_sound(path, connection)
        _check_ours(path, connection, version)


@contextmanager
def _look(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that can only read, the WAL included; the -shm that this takes goes again where there was none."""
    wal, shm = path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")
    made = not shm.exists()
    how = "mode=ro" if wal.exists() and wal.stat().st_size else "mode=ro&immutable=1"
    name = f"file:{quote(str(path.absolute()))}?{how}"
    try:
        with closing(sqlite3.connect(name, uri=True, timeout=_BUSY_S, isolation_level=None)) as connection:
            yield connection
    finally:
        if made:
            shm.unlink(missing_ok=True)


def _check_sound(path: Path, connection: sqlite3.Connection) -> None:
    rows = connection.execute("PRAGMA quick_check(1)").fetchall()
    if rows != [("ok",)]:
        raise StoreError(f"{path}: damaged; restore it from a backup, or {_AWAY}")


def _check_ours(path: Path, connection: sqlite3.Connection, version: int) -> None:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not (tables >= schema.tables(version) if version else not tables):
        raise StoreError(f"{path}: a database, but not one of Sift's; point data_dir elsewhere, or {_AWAY}")


def _make_directory(path: Path) -> None:
    """Made 0700 where it is missing. One that is there is the operator's, and keeps its mode."""
    if path.is_dir():
        return
    path.mkdir(mode=0o700, parents=True)
    path.chmod(0o700)


def _make_file(path: Path) -> None:
    """Before SQLite does, which goes by the umask. Never afterwards: a close drops the locks of the whole process."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _MODE))
    _narrow(path)


def _narrow(path: Path) -> None:
    """0600 for all that is there; a -wal or -shm made later gets the mode of the database."""
    for file in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
        if file.exists() and stat.S_IMODE(file.stat().st_mode) != _MODE:
            file.chmod(_MODE)


def _configure(connection: sqlite3.Connection) -> None:
    for pragma in (f"page_size = {_PAGE_BYTES}", "auto_vacuum = INCREMENTAL", "temp_store = MEMORY"):
        connection.execute(f"PRAGMA {pragma}")
    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal":
        raise sqlite3.OperationalError("no WAL on this file system")
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
    for pragma in ("synchronous = FULL", "secure_delete = ON", f"journal_size_limit = {_WAL_KEPT_BYTES}"):
        connection.execute(f"PRAGMA {pragma}")


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn what SQLite and the system say into a `StoreError` that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(f"{path}: {_meaning(error)}") from None
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}; data_dir must be a directory that Sift may write in") from None


def _meaning(error: sqlite3.Error) -> str:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return f"damaged; restore it from a backup, or {_AWAY}"
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return "locked by another program; close that one and start again"
    if code == sqlite3.SQLITE_FULL:
        return "the disk is full; free some space and start again"
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR):
        return "cannot be opened for writing; give Sift's user the rights to it and its directory"
    return f"cannot be used; {_AWAY}"
