"""Every error that the client raises; those that Sift answered mirror its reasons and outcomes, one class each.

ClientError
├── NoPlace                where the server is cannot be told, or the token must not go there
├── NoToken                no token to be had; the text says where one is taken from
├── NoServer               nothing answered, or the answer broke off
├── NotSift                something answered, but not as Sift does
└── Answered               Sift said no; has `status`, `reason`, `hint`, `retry_after_s`, `job_id`, `places`
    ├── RequestRefused     the request as a whole
    │   └── Malformed, Unauthorized, NotFound, MethodNotAllowed, BodyTooLarge, Refused, TooManyTargets,
    │       CallerBusy, JobsBusy, StorageFailed, Stopping
    └── TargetFailed       how a fetched target failed; `reason` is its outcome
        └── Blocked, TimedOut, Busy, Upstream4xx, Upstream5xx, Unsupported, TooLong, Cancelled,
            Unreachable, Invalid, Internal

They are not those of `sift.errors`, which are raised where the work is done and know no HTTP; a test holds
that none is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ClientError(Exception):
    """The root. `str(error)` is one line for people."""


class NoPlace(ClientError):
    """No usable address of a server."""


class NoToken(ClientError):
    """No token could be read."""


class NoServer(ClientError):
    """Nothing came back from the address, or not all of it."""


class NotSift(ClientError):
    """An answer came, but none that Sift gives."""


class Answered(ClientError):
    """An error that Sift answered with.

    `status` is HTTP's number, `reason` Sift's fixed word, `hint` what may serve better (`None` where nothing
    would), `retry_after_s` set where waiting helps, `job_id` the live job of `CallerBusy`, `places` the wrong
    places of a request as `(at, error)`; `body` is the whole error object.
    """

    reason = ""

    def __init__(self, status: int, body: Mapping[str, Any], retry_after_s: float | None = None) -> None:
        super().__init__(str(body.get("error") or f"the server answered {status}"))
        self.status = status
        self.body = body
        self.reason = str(body.get("reason") or self.reason)
        self.hint: str | None = body.get("hint")
        self.job_id: str | None = body.get("job_id")
        said = body.get("retry_after_s")
        self.retry_after_s: float | None = said if isinstance(said, int | float) else retry_after_s
        self.places: tuple[tuple[str, str], ...] = tuple(_places(body.get("errors")))


def _places(errors: Any) -> list[tuple[str, str]]:
    if not isinstance(errors, list):
        return []
    return [(str(place.get("at", "")), str(place.get("error", ""))) for place in errors if isinstance(place, dict)]


class RequestRefused(Answered):
    """The request was refused as a whole, and nothing was started."""


class Malformed(RequestRefused):
    reason = "malformed"


class Unauthorized(RequestRefused):
    reason = "unauthorized"


class NotFound(RequestRefused):
    reason = "not_found"


class MethodNotAllowed(RequestRefused):
    reason = "method"


class BodyTooLarge(RequestRefused):
    reason = "body_too_large"


class Refused(RequestRefused):
    reason = "refused"


class TooManyTargets(RequestRefused):
    reason = "too_many_targets"


class CallerBusy(RequestRefused):
    reason = "caller_busy"


class JobsBusy(RequestRefused):
    reason = "jobs_busy"


class StorageFailed(RequestRefused):
    reason = "storage"


class Stopping(RequestRefused):
    reason = "stopping"


class TargetFailed(Answered):
    """The one target of a fetch failed; `reason` is the outcome, and the text begins with it."""


class Blocked(TargetFailed):
    reason = "blocked"


class TimedOut(TargetFailed):
    reason = "timeout"


class Busy(TargetFailed):
    reason = "busy"


class Upstream4xx(TargetFailed):
    reason = "upstream_4xx"


class Upstream5xx(TargetFailed):
    reason = "upstream_5xx"


class Unsupported(TargetFailed):
    reason = "unsupported"


class TooLong(TargetFailed):
    reason = "too_long"


class Cancelled(TargetFailed):
    reason = "cancel"


class Unreachable(TargetFailed):
    reason = "unreachable"


class Invalid(TargetFailed):
    reason = "invalid"


class Internal(TargetFailed):
    reason = "internal"


_CLASSES: tuple[type[Answered], ...] = (*RequestRefused.__subclasses__(), *TargetFailed.__subclasses__())
_CLASS_OF_REASON: Mapping[str, type[Answered]] = {kind.reason: kind for kind in _CLASSES}


def answered(status: int, body: Mapping[str, Any], retry_after_s: float | None = None) -> Answered:
    """The error for an answer of Sift's that is none of success; an unknown reason makes a plain `Answered`."""
    return _CLASS_OF_REASON.get(str(body.get("reason")), Answered)(status, body, retry_after_s)
