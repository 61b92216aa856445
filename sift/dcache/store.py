"""The store as a whole: opened once, asked for its parts, kept tidy, closed last.

No table is known here.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from sift.dcache.batch import BatchTables
from sift.dcache.content import BlobCache, ContentCache
from sift.dcache.database import Database
from sift.dcache.lru import LruTable
from sift.dcache.opening import connect
from sift.dcache.scrub import Scrubber
from sift.errors import StorageFailed

# Free pages beyond this share of the file go back to the file system, this many at a time.
_FREE_SHARE = 4
_VACUUM_PAGES = 2000
# With less than this left not even a small result can be written.
_DISK_FULL_BYTES = 64 * 1024


class Store:
    """The database in `data_dir`: `batch` holds the jobs, `content` pages, `digest` what was made of them.

    Every method of these parts is one transaction. Any thread may call; one at a time gets through.
    """

    def __init__(self, database: Database, path: Path, cache_bytes: int) -> None:
        self._database = database
        self._path = path
        with database.alone() as connection:
            (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
        self._scrubber = Scrubber(path, page_bytes)
        self._caches = LruTable(database, cache_bytes)
        self.batch = BatchTables(database)
        self.content = ContentCache(self._caches)
        self.digest = BlobCache(self._caches)

    @classmethod
    def open(cls, path: Path, *, cache_bytes: int) -> Store:
        """The store in the file `path`, made (0600, its directory 0700) where it is missing.

        `cache_bytes` is the budget that all caches share.

        Raises `StoreError` for what is damaged, newer, not Sift's or not writable; that file is left as it was.
        """
        return cls(Database(connect(path)), path, cache_bytes)

    def close(self) -> None:
        """Write the WAL home and close. Whoever calls later gets `Stopping`."""
        if self._database.closed:
            return
        self._caches.flush()
        self._database.close()
        self._scrubber.close()

    def tidy(self) -> bool:
        """Make what was deleted leave the file and the WAL; true when all that was deleted before has left.

        A large file takes a few calls. Costs nothing where nothing was deleted since the last time.
        """
        self._caches.flush()
        with self._database.alone() as connection:
            if not self._scrubber.midway:
                if not self._database.untidy:
                    return True
                self._database.untidy = _give_back(connection)
            if not _empty_wal(connection) or not self._scrub(connection):
                self._database.untidy = True
                return False
        return not self._scrubber.midway

    def _scrub(self, connection: sqlite3.Connection) -> bool:
        """One slice; false where another program has written in between."""
        connection.execute("BEGIN IMMEDIATE")
        try:
            wal = self._path.with_name(self._path.name + "-wal")
            if wal.stat().st_size:
                return False
            self._scrubber.slice()
        finally:
            connection.execute("ROLLBACK")
        # SQLite's own copies of the wiped pages must go, or the next change of one would bring back what was in it.
        connection.execute("PRAGMA shrink_memory")
        return True

    def disk_free_bytes(self) -> int:
        """What the file system of the store has left for it."""
        free = os.statvfs(self._path.parent)
        return free.f_bavail * free.f_frsize

    def probe(self, timeout_s: float) -> str | None:
        """What is wrong with the store: silent for `timeout_s`, or not writable; `None` where it is well.

        Never waits for who has the store now: one who has had it for less than `timeout_s` shows that it is well.
        """
        if self._database.held_s() > timeout_s:
            return f"the store has been silent for {timeout_s:g} s"
        try:
            if self.disk_free_bytes() < _DISK_FULL_BYTES:
                return "the store is not writable: the disk is full"
            with self._database.write_if_free() as transaction:
                if transaction is not None and self._database.write_failure is not None:
                    # Only a real write shows that the cause of the last failure is gone.
                    version = transaction.value("PRAGMA user_version")
                    transaction.execute(f"PRAGMA user_version = {version}")
        except (StorageFailed, OSError) as error:
            return f"the store is not writable: {error if isinstance(error, StorageFailed) else error.strerror}"
        return None


def _give_back(connection: sqlite3.Connection) -> bool:
    """Return free pages to the file system where they are many; whether there are many left."""
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    if free * _FREE_SHARE <= pages:
        return False
    # As a script: `execute` takes one step of it, which frees one page.
    connection.executescript(f"PRAGMA incremental_vacuum({_VACUUM_PAGES})")
    return bool(free > _VACUUM_PAGES)


def _empty_wal(connection: sqlite3.Connection) -> bool:
    """Write the WAL home and empty it; false where a reader outside stands in the way."""
    (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy
