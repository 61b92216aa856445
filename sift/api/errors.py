"""The one table from errors to HTTP: status, reason, and the JSON that says what to do.

Whoever raises does not know these numbers; whoever answers knows no others.
"""

from __future__ import annotations

from typing import Any

import msgspec
from flask import Response

from sift.errors import Busy, RequestError, TargetError, UpstreamStatus
from sift.target import Outcome

STATUS_OF_REASON = {
    "malformed": 400,
    "invalid": 400,
    "unauthorized": 401,
    "not_found": 404,
    "method": 405,
    "body_too_large": 413,
    "refused": 422,
    "too_many_targets": 422,
    "caller_busy": 429,
    "jobs_busy": 429,
    "internal": 500,
    "storage": 503,
    "stopping": 503,
}
STATUS_OF_OUTCOME = {
    Outcome.OK: 200,
    Outcome.INVALID: 400,
    Outcome.TOO_LONG: 413,
    Outcome.UNSUPPORTED: 415,
    Outcome.BLOCKED: 422,
    Outcome.BUSY: 429,
    Outcome.INTERNAL: 500,
    Outcome.UPSTREAM_4XX: 502,
    Outcome.UPSTREAM_5XX: 502,
    Outcome.UNREACHABLE: 502,
    Outcome.CANCEL: 503,
    Outcome.TIMEOUT: 504,
}

STATUS_OF_SCRAPE = STATUS_OF_OUTCOME | {
    Outcome.TIMEOUT: 408,
    Outcome.UPSTREAM_4XX: 424,
    Outcome.UPSTREAM_5XX: 424,
    Outcome.UNREACHABLE: 424,
}
"""Firecrawl's clients ask again at once, three times in all, on a 502 and on nothing else; 408 is their timeout."""


def json_response(value: Any, status: int = 200) -> Response:
    """`value` as a JSON answer."""
    return Response(msgspec.json.encode(value), status, mimetype="application/json")


def error_response(error: RequestError | TargetError) -> Response:
    """The answer to a request that ended in `error`."""
    status, reason = status_of(error), reason_of(error)
    body: dict[str, Any] = {"success": False, "error": str(error), "reason": reason}
    if error.hint is not None:
        body["hint"] = error.hint
    if isinstance(error, UpstreamStatus):
        body["status"] = error.status
    if isinstance(error, RequestError):
        body |= _details(error)
    wait_s = error.retry_after_s if isinstance(error, RequestError | Busy) else None
    if status == 429:
        body["retry_after_s"] = wait_s
    response = json_response(body, status)
    if wait_s is not None:
        response.headers["Retry-After"] = str(wait_s)
    if status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def scrape_error_response(error: RequestError | TargetError) -> Response:
    """As `error_response`, with the `code` that Firecrawl's clients look for, and no status that they would repeat."""
    response = error_response(error)
    if isinstance(error, TargetError):
        response.status_code = STATUS_OF_SCRAPE[error.outcome]
    body = msgspec.json.decode(response.get_data())
    response.set_data(msgspec.json.encode(body | {"code": reason_of(error).upper()}))
    return response


def _details(error: RequestError) -> dict[str, Any]:
    details: dict[str, Any] = {}
    if error.places:
        details["errors"] = [{"at": place.at, "error": place.error} for place in error.places]
    if error.job_id is not None:
        details["job_id"] = error.job_id
    return details


def status_of(error: RequestError | TargetError) -> int:
    """The HTTP status of an error."""
    if isinstance(error, TargetError):
        return STATUS_OF_OUTCOME[error.outcome]
    return STATUS_OF_REASON[error.reason]


def reason_of(error: RequestError | TargetError) -> str:
    """The fixed word for an error: an outcome, or a request's reason."""
    return error.outcome.value if isinstance(error, TargetError) else error.reason
