"""The schema and its history: one list of migrations, each run in one transaction.

Never edited backwards: a change of the schema is a new entry at the end, with a database of the version before it
kept under `tests/dcache/`.
"""

from __future__ import annotations

import sqlite3

# `result` stands last: SQLite walks a row from the left, and a column behind a big blob makes every read walk the blob.
# The order of admission is the rowid, so that a wall clock that was set back cannot make an old job the newest.
_BATCH = (
    """
    CREATE TABLE batch_job (
        id TEXT PRIMARY KEY, caller TEXT NOT NULL, caller_class TEXT NOT NULL, idem_key TEXT NOT NULL,
        status TEXT NOT NULL, error TEXT, targets_total INTEGER NOT NULL, targets_done INTEGER NOT NULL DEFAULT 0,
        created_at REAL NOT NULL, lease REAL NOT NULL, nbytes INTEGER NOT NULL
    )
    """,
    """
    CREATE TABLE batch_target (
        job_id TEXT NOT NULL, idx INTEGER NOT NULL, url TEXT NOT NULL, options TEXT NOT NULL,
        status TEXT NOT NULL DEFAULT 'pending', error TEXT, reason TEXT, hint TEXT, result BLOB,
        PRIMARY KEY (job_id, idx)
    )
    """,
    "CREATE INDEX batch_job_caller ON batch_job (caller)",
    "CREATE INDEX batch_job_idem ON batch_job (idem_key)",
    "CREATE INDEX batch_job_live ON batch_job (caller) WHERE status IN ('queued', 'running')",
    "CREATE INDEX batch_job_ended ON batch_job (lease) WHERE status NOT IN ('queued', 'running')",
)

# Bodies lie apart: a hit's bookkeeping and a revalidation rewrite the small row alone.
_CACHES = (
    """
    CREATE TABLE cache_entry (
        id INTEGER PRIMARY KEY, kind TEXT NOT NULL, key BLOB NOT NULL, used INTEGER NOT NULL, nbytes INTEGER NOT NULL,
        fetched_at REAL NOT NULL, meta BLOB NOT NULL, UNIQUE (kind, key)
    )
    """,
    "CREATE TABLE cache_body (id INTEGER PRIMARY KEY, body BLOB NOT NULL)",
    "CREATE INDEX cache_entry_used ON cache_entry (used)",
)

# Whether the body is packed; in the small row, which is read first.
_PACKED = ("ALTER TABLE cache_entry ADD COLUMN packed INTEGER NOT NULL DEFAULT 0",)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_BATCH, _CACHES, _PACKED)
VERSION = len(MIGRATIONS)

# What each version added; a database without the tables of the version that it claims is not ours.
_ADDED: tuple[frozenset[str], ...] = (
    frozenset({"batch_job", "batch_target"}),
    frozenset({"cache_entry", "cache_body"}),
    frozenset(),
)


def tables(version: int) -> frozenset[str]:
    """The tables that a database of `version` has."""
    return frozenset().union(*_ADDED[:version])


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the database forward to `VERSION`, one transaction a step; a step that fails leaves the one before it."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    for number in range(version, VERSION):
        _step(connection, number)


def _step(connection: sqlite3.Connection, number: int) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statement in MIGRATIONS[number]:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {number + 1}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
