"""All SQL: the batch's jobs and the caches, in one SQLite file behind one lock.

No threads, no HTTP, no cap written in the code.
"""

from sift.dcache.batch import BatchTables
from sift.dcache.content import BlobCache, ContentCache, partition
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
    "BlobCache",
    "Cancellation",
    "Caps",
    "ContentCache",
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
    "partition",
]
