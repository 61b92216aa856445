"""Every error that Sift raises on purpose. HTTP numbers are not here; `sift.api.errors` maps them.

SiftError
├── ConfigError            the config file, at start or reload
├── StartError             the service cannot start here and now; the text says why and what to do
├── StoreError             the database cannot be used; the text says what to do
├── RequestError           a request that is refused as a whole; has a `reason`
│   ├── Malformed          not JSON, or wrong fields; names every place
│   │   └── InvalidQuery   a bad grep, jq or pages of one fetch, and nothing else
│   ├── Refused            the guard's pre-check said no to targets; names every place
│   ├── TooManyTargets     over the targets-a-job cap
│   ├── Unauthorized       no token, or an unknown one
│   ├── NotFound           no such job for this caller, or no such path
│   ├── MethodNotAllowed   the path exists, the method does not
│   ├── BodyTooLarge       over the endpoint's body cap
│   ├── CallerBusy         the caller has a live job already; names it
│   ├── JobsBusy           the jobs are at their cap
│   ├── StorageFailed      the store cannot take it now (disk full, read-only)
│   └── Stopping           the server is on its way out
└── TargetError            how one target failed; has an `outcome` and maybe a `hint`
    ├── Blocked            the guard said no
    ├── TimedOut           the deadline passed
    ├── Busy               no slot
    ├── UpstreamStatus     the site's own 4xx or 5xx; has `status`
    ├── Unsupported        a type, or a wish about it, that Sift does not serve
    ├── TooLong            over a size or memory limit
    ├── Cancelled          stopped before it began
    ├── Unreachable        no complete answer came
    ├── Invalid            a bad grep, jq or pages
    └── Internal           a fault of Sift's; its text tells nothing
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sift.target import Outcome


class SiftError(Exception):
    """The root: catch this for whatever Sift refuses on purpose."""


class ConfigError(SiftError):
    """One line that names file, table, key, and what it takes."""


class StartError(SiftError):
    """The data directory, its lock or the address cannot be had; nothing was changed."""


class StoreError(SiftError):
    """The database is damaged, of a newer version, or cannot be opened; left as it was."""


@dataclass(frozen=True, slots=True)
class Place:
    """A wrong place in a request: `at` is a path such as `targets[3].mode`. `is_query`: no pattern, or no range."""

    at: str
    error: str
    is_query: bool = False


class RequestError(SiftError):
    """A request refused as a whole. `reason` is its fixed word; `retry_after_s` is set where waiting helps."""

    reason = "internal"
    retry_after_s: int | None = None

    def __init__(
        self, text: str, *, hint: str | None = None, places: Sequence[Place] = (), job_id: str | None = None
    ) -> None:
        super().__init__(text)
        self.hint = hint
        self.places = tuple(places)
        self.job_id = job_id


def _first(places: Sequence[Place]) -> str:
    first = places[0]
    return f"{first.at}: {first.error}" if first.at else first.error


class Malformed(RequestError):
    """Not JSON, or fields that are wrong; every wrong place is named."""

    reason = "malformed"

    def __init__(self, places: Sequence[Place]) -> None:
        super().__init__(_first(places), places=places)


class InvalidQuery(Malformed):
    """Nothing is wrong with the fields of one fetch but a grep, jq or pages that is none; its outcome is the reason."""

    reason = "invalid"

    def __init__(self, places: Sequence[Place]) -> None:
        super().__init__(places)
        self.args = (f"invalid: {self}",)


class Refused(RequestError):
    """Targets that the guard's pre-check refuses; every one is named by its place."""

    reason = "refused"

    def __init__(self, places: Sequence[Place]) -> None:
        super().__init__(_first(places), places=places)


class TooManyTargets(RequestError):
    reason = "too_many_targets"


class Unauthorized(RequestError):
    reason = "unauthorized"


class NotFound(RequestError):
    reason = "not_found"


class MethodNotAllowed(RequestError):
    reason = "method"


class BodyTooLarge(RequestError):
    reason = "body_too_large"


class CallerBusy(RequestError):
    """The caller is at its cap of live jobs; `job_id` is the newest of them."""

    reason = "caller_busy"
    retry_after_s = 5


class JobsBusy(RequestError):
    reason = "jobs_busy"
    retry_after_s = 5


class StorageFailed(RequestError):
    reason = "storage"
    retry_after_s = 10


class Stopping(RequestError):
    reason = "stopping"
    retry_after_s = 5


class TargetError(SiftError):
    """How one target failed. `str(error)` starts with the outcome: `blocked: private address 10.0.0.1`.

    `hint` is what may serve better (`browser`, `retry`, `recover`, `jq`), `None` where nothing would.
    `status` is the site's own answer, set for `upstream_4xx` and `upstream_5xx` alone.
    """

    outcome = Outcome.INTERNAL
    hint: str | None = None
    status: int | None = None

    def __init__(self, text: str, *, hint: str | None = None) -> None:
        super().__init__(f"{self.outcome.value}: {text}")
        if hint is not None:
            self.hint = hint


class Blocked(TargetError):
    outcome = Outcome.BLOCKED
    hint = "browser"


class TimedOut(TargetError):
    outcome = Outcome.TIMEOUT
    hint = "retry"


class Busy(TargetError):
    outcome = Outcome.BUSY
    hint = "retry"
    retry_after_s = 2


_HINT_OF_4XX = {404: "recover", 410: "recover", 451: "recover", 401: "browser", 403: "browser", 429: "browser"}


class UpstreamStatus(TargetError):
    """The site answered 4xx or 5xx; outcome and hint follow from `status`. `retry_after_s` is its own word, if any."""

    def __init__(self, status: int, *, retry_after_s: float | None = None) -> None:
        self.status = status
        self.retry_after_s = retry_after_s
        self.outcome = Outcome.UPSTREAM_5XX if status >= 500 else Outcome.UPSTREAM_4XX
        super().__init__(f"the site answered {status}")
        self.hint = "retry" if status >= 500 else _HINT_OF_4XX.get(status)


class Unsupported(TargetError):
    outcome = Outcome.UNSUPPORTED
    hint = "browser"


class TooLong(TargetError):
    outcome = Outcome.TOO_LONG


class Cancelled(TargetError):
    outcome = Outcome.CANCEL


class Unreachable(TargetError):
    outcome = Outcome.UNREACHABLE
    hint = "recover"


class Invalid(TargetError):
    outcome = Outcome.INVALID


class Internal(TargetError):
    """A fault of Sift's own. What it was is for the log, by type and place; the caller is told no more."""

    outcome = Outcome.INTERNAL

    def __init__(self) -> None:
        super().__init__("a fault in Sift; the log of the server says where")
