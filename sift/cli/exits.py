"""The exit codes of the command, and which of them an error or a job's status earns. Prints nothing."""

from __future__ import annotations

from sift.client import (
    Busy,
    CallerBusy,
    ClientError,
    JobsBusy,
    NoPlace,
    NotFound,
    NoToken,
    Unauthorized,
)

OK = 0
ERROR = 1
USAGE = 2
PARTIAL = 3
NOT_LET_IN = 4
JOB_FAILED = 5
NOT_FOUND = 6
BUSY = 7
WAIT_OVER = 8
INTERRUPTED = 130

MEANINGS = {
    OK: "all ok",
    ERROR: "error",
    USAGE: "usage",
    PARTIAL: "partial: some targets failed",
    NOT_LET_IN: "not let in: no token, or not the right one",
    JOB_FAILED: "the job failed or was cancelled",
    NOT_FOUND: "no such job",
    BUSY: "busy",
    WAIT_OVER: "the wait ran out, the job lives",
    INTERRUPTED: "interrupted; the job is not cancelled",
}
_OF_STATUS = {"done": OK, "partial": PARTIAL, "failed": JOB_FAILED, "cancelled": JOB_FAILED}
_OF_ERROR: tuple[tuple[type[ClientError], int], ...] = (
    (NoPlace, USAGE),
    (NoToken, NOT_LET_IN),
    (Unauthorized, NOT_LET_IN),
    (NotFound, NOT_FOUND),
    (Busy, BUSY),
    (CallerBusy, BUSY),
    (JobsBusy, BUSY),
)


def code_of_status(status: str) -> int:
    """What `wait`, `--wait` and `results` end with; a live job is a wait that ran out."""
    return _OF_STATUS.get(status, WAIT_OVER)


def code_of_error(error: ClientError) -> int:
    return next((code for kind, code in _OF_ERROR if isinstance(error, kind)), ERROR)
