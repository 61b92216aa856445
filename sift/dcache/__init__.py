"""All SQL: the batch's jobs and the caches, in one SQLite file behind one lock.

No threads, no HTTP, no cap written in the code.
"""

from sift.dcache.batch import BatchTables
from sift.dcache.records import (
    Admission,
    Cancellation,
    Caps,
    Finish,
    Finished,
    Gone,
    JobRow,
    NewJob,
    Restarted,
    Snapshot,
    TargetRow,
    Verdict,
    Work,
)
from sift.dcache.store import Store

__all__ = [
    "Admission",
    "BatchTables",
    "Cancellation",
    "Caps",
    "Finish",
    "Finished",
    "Gone",
    "JobRow",
    "NewJob",
    "Restarted",
    "Snapshot",
    "Store",
    "TargetRow",
    "Verdict",
    "Work",
]
