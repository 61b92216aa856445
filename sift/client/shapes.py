"""The shapes of Sift's answers, for type checkers and readers; at run time they are plain dicts. No behaviour."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict


class Envelope(TypedDict):
    """What a fetched target gives. `content_bytes` is the whole before the cut that `truncated` tells of."""

    success: bool
    url: str
    final_url: str
    status: int
    content_type: str
    mode: str
    title: str | None
    content: str
    truncated: bool
    content_bytes: int
    approx_tokens: int
    source: str
    cached: bool
    fetched_at: str
    elapsed_ms: int
    pages: NotRequired[dict[str, Any]]
    grep: NotRequired[dict[str, Any]]
    digest: NotRequired[dict[str, Any]]
    context: NotRequired[dict[str, Any]]
    archive: NotRequired[dict[str, Any]]
    hint: NotRequired[str]
    withheld: NotRequired[list[str]]


class Submitted(TypedDict):
    """A job that was made or reused. `hint` is `fresh` where a reused job has failed targets."""

    success: bool
    job_id: str
    status: str
    targets: int
    reused: bool
    hint: NotRequired[str]


class Entry(TypedDict):
    """One target of a job. `result` is there where it is done, `error` and `reason` where it failed."""

    idx: int
    url: str
    status: str
    result: NotRequired[Envelope]
    error: NotRequired[str]
    reason: NotRequired[str]
    hint: NotRequired[str]


class JobLine(TypedDict):
    """A job as a list shows it. `targets_done` counts the failed ones too; times are RFC 3339, UTC."""

    job_id: str
    status: str
    targets_total: int
    targets_done: int
    created_at: str
    expires_at: str
    error: NotRequired[str]


class Job(JobLine):
    """A job with its targets, as of one moment. `counts` is by the targets' status, `pending` to `failed`."""

    counts: dict[str, int]
    targets: list[Entry]


class Cancellation(TypedDict):
    """`status` is `cancelled`, or what the job had ended as before."""

    success: bool
    status: str
