"""The table under all caches: entries by kind and hashed key, within one byte budget, least recently used first out.

The budget counts bytes as they were put, though they are stored packed where that is fewer.

What an entry means is not known here. A cache that cannot read or write is a cache that misses: nothing here raises
`StorageFailed`.
"""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from sift.dcache.database import Database, Transaction
from sift.dcache.packing import packed, unpacked
from sift.errors import StorageFailed

# What an entry counts beside its body and meta: two rows, two index entries.
_ENTRY_BYTES = 512


@dataclass(frozen=True, slots=True)
class Entry:
    """What was put: `meta` is small and read with every hit, `fetched_at` is epoch seconds."""

    meta: bytes
    body: bytes
    fetched_at: float


class LruTable:
    """Entries of every kind under one budget of `max_bytes`.

    A hit is noted in memory and written with the next put or `flush`, so that reading costs no write.
    """

    def __init__(self, database: Database, max_bytes: int) -> None:
        self._database = database
        self._max_bytes = max_bytes
        self._hits_lock = threading.Lock()  # guards _hits and _tick
        self._hits: dict[int, int] = {}  # entry id -> tick of its last use
        with database.read() as transaction:
            self._nbytes = Counter(dict(transaction.rows("SELECT kind, sum(nbytes) FROM cache_entry GROUP BY kind")))
            self._tick: int = transaction.value("SELECT coalesce(max(used), 0) FROM cache_entry")

    def nbytes(self, kind: str) -> int:
        """What the entries of `kind` count towards the budget."""
        return self._nbytes[kind]

    def get(self, kind: str, key: bytes) -> Entry | None:
        """The entry whatever its age, `None` where there is none."""
        row = None
        with suppress(StorageFailed), self._database.read() as transaction:
            row = transaction.row(
                """SELECT cache_entry.id, meta, body, fetched_at, packed FROM cache_entry
                JOIN cache_body ON cache_body.id = cache_entry.id WHERE kind = ? AND key = ?""",
                (kind, key),
            )
        if row is None:
            return None
        entry_id, meta, body, fetched_at, is_packed = row
        if is_packed and (body := unpacked(body)) is None:
            self.delete(kind, key)
            return None
        self._hit(entry_id)
        return Entry(meta, body, fetched_at)

    def put(self, kind: str, key: bytes, entry: Entry) -> None:
        """Store or replace the entry; older ones make room for it. One larger than the whole budget is not stored."""
        nbytes = len(entry.meta) + len(entry.body) + _ENTRY_BYTES
        if nbytes > self._max_bytes:
            self.delete(kind, key)
            return
        smaller = packed(entry.body)
        with suppress(StorageFailed), self._database.write(durable=False) as transaction:
            self._flush(transaction)
            gone = self._drop(transaction, kind, key)
            self._make_room(transaction, nbytes - gone)
            self._insert(transaction, kind, key, entry, smaller, nbytes)

    def touch(self, kind: str, key: bytes, meta: bytes, fetched_at: float, *, of: float) -> None:
        """Give the entry that was fetched at `of` a new `meta` and `fetched_at`; its body stays.

        Nothing where it is gone, or another one is in its place.
        """
        with suppress(StorageFailed), self._database.write(durable=False) as transaction:
            row = transaction.row(
                "SELECT id, length(meta) FROM cache_entry WHERE kind = ? AND key = ? AND fetched_at = ?",
                (kind, key, of),
            )
            if row is None:
                return
            entry_id, old = row
            transaction.execute(
                "UPDATE cache_entry SET meta = ?, fetched_at = ?, used = ?, nbytes = nbytes + ? WHERE id = ?",
                (meta, fetched_at, self._next_tick(), len(meta) - old, entry_id),
            )
            transaction.deleted = True  # the old meta must leave the WAL too
            transaction.then(partial(self._count, kind, len(meta) - old))

    def delete(self, kind: str, key: bytes) -> None:
        """Forget the entry; nothing where there is none."""
        with suppress(StorageFailed), self._database.write(durable=False) as transaction:
            self._drop(transaction, kind, key)

    def flush(self) -> None:
        """Write down which entries were used since the last time."""
        if self._hits:
            with suppress(StorageFailed), self._database.write(durable=False) as transaction:
                self._flush(transaction)

    def _hit(self, entry_id: int) -> None:
        tick = self._next_tick()
        with self._hits_lock:
            self._hits[entry_id] = tick

    def _next_tick(self) -> int:
        with self._hits_lock:
            self._tick += 1
            return self._tick

    def _flush(self, transaction: Transaction) -> None:
        with self._hits_lock:
            hits, self._hits = self._hits, {}
        transaction.executemany("UPDATE cache_entry SET used = ? WHERE id = ?", ((t, i) for i, t in hits.items()))

    def _insert(
        self, transaction: Transaction, kind: str, key: bytes, entry: Entry, smaller: bytes | None, nbytes: int
    ) -> None:
        cursor = transaction.execute(
            "INSERT INTO cache_entry (kind, key, used, nbytes, fetched_at, meta, packed) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (kind, key, self._next_tick(), nbytes, entry.fetched_at, entry.meta, smaller is not None),
        )
        body = entry.body if smaller is None else smaller
        transaction.execute("INSERT INTO cache_body (id, body) VALUES (?, ?)", (cursor.lastrowid, body))
        transaction.then(partial(self._count, kind, nbytes))

    def _make_room(self, transaction: Transaction, nbytes: int) -> None:
        over = self._nbytes.total() + nbytes - self._max_bytes
        while over > 0:
            oldest = transaction.row("SELECT kind, key FROM cache_entry ORDER BY used LIMIT 1")
            if oldest is None:
                return
            over -= self._drop(transaction, *oldest)

    def _drop(self, transaction: Transaction, kind: str, key: bytes) -> int:
        """Delete the entry if there is one; what it counted."""
        row = transaction.row("DELETE FROM cache_entry WHERE kind = ? AND key = ? RETURNING id, nbytes", (kind, key))
        if row is None:
            return 0
        entry_id, nbytes = row
        transaction.execute("DELETE FROM cache_body WHERE id = ?", (entry_id,))
        transaction.deleted = True
        transaction.then(partial(self._count, kind, -nbytes))
        return int(nbytes)

    def _count(self, kind: str, nbytes: int) -> None:
        self._nbytes[kind] += nbytes
