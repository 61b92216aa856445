"""The shapes in which the store takes and gives a batch's rows.

Values only.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

LIVE = ("queued", "running")


class Verdict(StrEnum):
    """What became of a wish to admit a job."""

    CREATED = "created"
    REUSED = "reused"
    CALLER_BUSY = "caller_busy"
    JOBS_BUSY = "jobs_busy"


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job that asks to be let in. `targets` are (url, options as JSON text) in `idx` order."""

    job_id: str
    caller: str
    caller_class: str
    idem_key: str
    targets: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Caps:
    """How many jobs may be live at once, of one caller and in all."""

    jobs_per_caller: int
    jobs_total: int


@dataclass(frozen=True, slots=True)
class Admission:
    """The verdict, and the job it is about: the new one, the reused one, or (`CALLER_BUSY`) the newest live one.

    `job_id` is empty for `JOBS_BUSY`. `live` is how many jobs were live against the cap that refused.
    `failed` is how many targets of a reused job have failed.
    """

    verdict: Verdict
    job_id: str = ""
    status: str = ""
    targets: int = 0
    failed: int = 0
    live: int = 0


@dataclass(frozen=True, slots=True)
class Work:
    """A job that a thread has taken: whose it is, and its targets as (url, options as JSON text) in `idx` order."""

    job_id: str
    caller: str
    caller_class: str
    targets: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Finish:
    """How a target ended: `result` is the envelope as UTF-8 JSON, or `error`, `reason` and maybe `hint` are set."""

    result: bytes | None = None
    error: str | None = None
    reason: str | None = None
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """What a target's first write did. `ended` is the job's final status where this was its last target."""

    ended: str | None
    created_at: float


@dataclass(frozen=True, slots=True)
class Cancellation:
    """The job's status after a cancel. `flipped` is false where it had ended before; `pending` never began."""

    status: str
    flipped: bool
    pending: int
    created_at: float


@dataclass(frozen=True, slots=True)
class TargetRow:
    """One target as it is stored. `result` is `None` until it is done, and where it was not asked for."""

    idx: int
    url: str
    status: str
    error: str | None
    reason: str | None
    hint: str | None
    result: bytes | None


@dataclass(frozen=True, slots=True)
class JobRow:
    """One job as it is stored; times are epoch seconds."""

    job_id: str
    status: str
    error: str | None
    targets_total: int
    targets_done: int
    created_at: float
    lease: float

    @property
    def live(self) -> bool:
        return self.status in LIVE


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A job and its targets, as they were at one moment."""

    job: JobRow
    targets: tuple[TargetRow, ...]


@dataclass(frozen=True, slots=True)
class Gone:
    """A job that was deleted with its targets."""

    job_id: str
    created_at: float
    lease: float
    nbytes: int


@dataclass(frozen=True, slots=True)
class Restarted:
    """What the restart rule changed: live jobs that were failed, and targets that were in flight."""

    jobs: int
    targets: int
