"""The one connection behind its one lock: transactions, and what SQLite's failures mean to callers.

No table is known here.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sift.errors import Stopping, StorageFailed

_FAILURES = {
    sqlite3.SQLITE_FULL: "the disk is full; try again when the operator has freed some space",
    sqlite3.SQLITE_READONLY: "the store is read-only; tell the operator",
    sqlite3.SQLITE_IOERR: "the disk failed; tell the operator",
    sqlite3.SQLITE_CANTOPEN: "the store cannot be opened; tell the operator",
    sqlite3.SQLITE_BUSY: "the store is held by another program; try again in a while",
    sqlite3.SQLITE_LOCKED: "the store is held by another program; try again in a while",
    sqlite3.SQLITE_PROTOCOL: "the store is held by another program; try again in a while",
    sqlite3.SQLITE_CORRUPT: "the store is damaged; tell the operator",
    sqlite3.SQLITE_NOTADB: "the store is damaged; tell the operator",
}


class Transaction:
    """What a block may do while it has the connection. `then` runs after the commit, still under the lock."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._after: list[Callable[[], None]] = []
        self.deleted = False

    def execute(self, sql: str, parameters: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        return self._connection.execute(sql, parameters)

    def executemany(self, sql: str, rows: Iterator[tuple[Any, ...]]) -> None:
        self._connection.executemany(sql, rows)

    def rows(self, sql: str, parameters: tuple[Any, ...] = ()) -> list[Any]:
        return self._connection.execute(sql, parameters).fetchall()

    def row(self, sql: str, parameters: tuple[Any, ...] = ()) -> Any:
        """The first row, or `None`."""
        cursor = self._connection.execute(sql, parameters)
        row = cursor.fetchone()
        cursor.close()
        return row

    def value(self, sql: str, parameters: tuple[Any, ...] = ()) -> Any:
        """The first column of the first row, or `None`."""
        row = self.row(sql, parameters)
        return None if row is None else row[0]

    def then(self, action: Callable[[], None]) -> None:
        self._after.append(action)

    def run_after(self) -> None:
        for action in self._after:
            action()


class _Lock:
    """A lock that can be asked for how long it has been held, by any thread and without waiting."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._since: float | None = None  # written by who holds the lock

    def acquire(self, blocking: bool = True) -> bool:
        had = self._lock.acquire(blocking)
        if had:
            self._since = time.monotonic()
        return had

    def release(self) -> None:
        self._since = None
        self._lock.release()

    def held_s(self) -> float:
        since = self._since
        return 0.0 if since is None else time.monotonic() - since

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


class Database:
    """The connection, shared by all threads: `read` and `write` are whole transactions, one at a time.

    Both raise `StorageFailed` where the store cannot take or give it now, `Stopping` after `close`; nothing is changed.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._lock = _Lock()  # guards the connection, every count kept beside it, and the three fields below
        self.closed = False
        self._durable = True
        self.untidy = False  # rows were deleted since the last tidying
        self.write_failure: str | None = None  # why the last write failed; None once one has succeeded

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """One consistent view. A small write at its end is allowed; it may be lost by a power cut."""
        with self._lock:
            self._sync(False)
            with self._transaction("BEGIN") as transaction:
                yield transaction

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[Transaction]:
        """All of the block, or nothing. `durable=False` may be lost by a power cut, never by the process's death."""
        with self._lock, self._writing(durable) as transaction:
            yield transaction

    @contextmanager
    def write_if_free(self) -> Iterator[Transaction | None]:
        """As `write`, where nobody has the connection; `None` at once where somebody has."""
        if not self._lock.acquire(blocking=False):
            yield None
            return
        try:
            with self._writing(True) as transaction:
                yield transaction
        finally:
            self._lock.release()

    @contextmanager
    def alone(self) -> Iterator[sqlite3.Connection]:
        """The bare connection, outside any transaction: for pragmas."""
        with self._lock, self._translated():
            yield self._connection

    def close(self) -> None:
        """Close once; whoever comes later gets `Stopping`."""
        with self._lock:
            if not self.closed:
                self.closed = True
                self._connection.close()

    def held_s(self) -> float:
        """For how long one and the same user has had the connection; 0 where nobody has it."""
        return self._lock.held_s()

    @contextmanager
    def _writing(self, durable: bool) -> Iterator[Transaction]:
        self._sync(durable)
        try:
            with self._transaction("BEGIN IMMEDIATE") as transaction:
                yield transaction
        except StorageFailed as failure:
            self.write_failure = str(failure)
            raise
        self.write_failure = None

    def _sync(self, durable: bool) -> None:
        if durable == self._durable or self.closed:
            return
        with self._translated():
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        self._durable = durable

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Transaction]:
        transaction = Transaction(self._connection)
        with self._translated():
            try:
                self._connection.execute(begin)
                yield transaction
                self._connection.execute("COMMIT")
            except BaseException:
                # SQLite ends the transaction by itself on some failures (a full disk is one).
                if not self.closed and self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
        self.untidy = self.untidy or transaction.deleted
        transaction.run_after()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        if self.closed:
            raise Stopping("the server is stopping; try again in a while")
        try:
            yield
        except sqlite3.Error as error:
            failure = _failure(error)
            if failure is None:
                raise
            raise failure from error


def _failure(error: sqlite3.Error) -> StorageFailed | None:
    """What it means to a caller, `None` where it is a fault in our own SQL."""
    text = _FAILURES.get(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF)
    return None if text is None else StorageFailed(text)
