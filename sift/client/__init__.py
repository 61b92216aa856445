"""The typed client: what Sift's HTTP interface offers, as one Python class. Speaks HTTP and nothing else.

    from sift.client import Sift

    sift = Sift()  # $SIFT_URL and $SIFT_TOKEN or $SIFT_TOKEN_FILE; else what the local sift.toml says
    job = sift.submit(["https://example.com/", {"url": "https://example.org/", "mode": "links"}])
    for entry in sift.wait(job["job_id"])["targets"]:
        print(entry["url"], entry.get("reason", "ok"))

The service is never imported here; of the package's other rooms only `home` is, to find a local server.
"""

from sift.client.errors import (
    Answered,
    Blocked,
    BodyTooLarge,
    Busy,
    CallerBusy,
    Cancelled,
    ClientError,
    Internal,
    Invalid,
    JobsBusy,
    Malformed,
    MethodNotAllowed,
    NoPlace,
    NoServer,
    NotFound,
    NoToken,
    NotSift,
    Refused,
    RequestRefused,
    Stopping,
    StorageFailed,
    TargetFailed,
    TimedOut,
    TooLong,
    TooManyTargets,
    Unauthorized,
    Unreachable,
    Unsupported,
    Upstream4xx,
    Upstream5xx,
)
from sift.client.service import AWAY_S, LIVE, Sift, may_change
from sift.client.shapes import Cancellation, Entry, Envelope, Job, JobLine, Submitted

__all__ = [
    "AWAY_S",
    "LIVE",
    "Answered",
    "Blocked",
    "BodyTooLarge",
    "Busy",
    "CallerBusy",
    "Cancellation",
    "Cancelled",
    "ClientError",
    "Entry",
    "Envelope",
    "Internal",
    "Invalid",
    "Job",
    "JobLine",
    "JobsBusy",
    "Malformed",
    "MethodNotAllowed",
    "NoPlace",
    "NoServer",
    "NoToken",
    "NotFound",
    "NotSift",
    "Refused",
    "RequestRefused",
    "Sift",
    "Stopping",
    "StorageFailed",
    "Submitted",
    "TargetFailed",
    "TimedOut",
    "TooLong",
    "TooManyTargets",
    "Unauthorized",
    "Unreachable",
    "Unsupported",
    "Upstream4xx",
    "Upstream5xx",
    "may_change",
]
