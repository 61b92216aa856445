"""`Sift`: one method for each thing the service does. Typed errors, plain dicts, one request a call.

Nothing is printed here, and no busy answer is waited for: that is the caller's to decide.
"""

from __future__ import annotations

import json
import math
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from sift.client.errors import ClientError, NoServer, NotSift, Stopping, answered
from sift.client.place import Place, find_place
from sift.client.shapes import Cancellation, Entry, Envelope, Job, JobLine, Submitted
from sift.client.wire import Answer, ask

LIVE = ("queued", "running")
LONG_POLL_S = 60
ANSWER_S = 30.0
FETCH_S = 600.0
AWAY_S = 30.0
"""How long `wait` bears a server that has answered before and is gone: long enough for its restart."""


class Sift:
    """A server and a token. Cheap to make; holds no connection; may be used by several threads.

    `url` and `token` default to `$SIFT_URL`, `$SIFT_TOKEN` or the 0600 file that `$SIFT_TOKEN_FILE` names, then to
    the address and the token file of the `sift.toml` that `sift serve` would take. A token goes in clear to
    another host only with `plain_http=True`. Raises `NoPlace` or `NoToken`.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        token_file: str | None = None,
        config: str | None = None,
        plain_http: bool = False,
        environ: Mapping[str, str] | None = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._place: Place = find_place(
            url,
            token,
            token_file=token_file,
            config=config,
            plain_http=plain_http,
            environ=os.environ if environ is None else environ,
        )
        self._sleep = sleep

    @property
    def url(self) -> str:
        """The address that is spoken to."""
        return str(self._place.address)

    def fetch(
        self,
        url: str,
        *,
        mode: str | None = None,
        question: str | None = None,
        pages: str | None = None,
        grep: str | None = None,
        jq: str | None = None,
        context: bool | None = None,
        recover: bool | None = None,
        max_age: float | None = None,
    ) -> Envelope:
        """The envelope of one page, now. `None` leaves an option out, so that the service's default holds.

        Raises `TargetFailed` by its outcome, `RequestRefused`, `NoServer`.
        """
        options = {
            "mode": mode,
            "question": question,
            "pages": pages,
            "grep": grep,
            "jq": jq,
            "context": context,
            "recover": recover,
            "max_age": max_age,
        }
        body = {"url": url, **{name: value for name, value in options.items() if value is not None}}
        return cast(Envelope, self._call("POST", "/v1/fetch", body, FETCH_S))

    def submit(self, targets: Iterable[str | Mapping[str, Any]], *, fresh: bool = False) -> Submitted:
        """A job for these targets, made or reused. A target is a URL, or a dict of `url` and options.

        Raises `CallerBusy` (with the live `job_id`), `JobsBusy`, `Refused`, `Malformed`, `TooManyTargets`, and
        `TypeError` for a single target that is in no list.
        """
        if isinstance(targets, str | bytes | Mapping):
            raise TypeError("submit takes a list of targets; put the one into a list")
        body: dict[str, Any] = {"targets": [{"url": t} if isinstance(t, str) else dict(t) for t in targets]}
        if fresh:
            body["fresh"] = True
        return self.submit_body(body)

    def submit_body(self, body: Mapping[str, Any]) -> Submitted:
        """As `submit`, with the request's JSON object as it is."""
        return cast(Submitted, self._call("POST", "/v1/batch", body))

    def status(self, job_id: str, *, results: bool = True, since: int | None = None) -> Job:
        """The job as of one moment, with its targets and their results. Raises `NotFound`.

        `results=False` leaves the results out, `since=N` those of the targets before N; entries stay.
        """
        query = ([] if results else ["results=none"]) + ([] if since is None else [f"since={since}"])
        path = _job_path(job_id) + ("?" + "&".join(query) if query else "")
        return cast(Job, self._call("GET", path))

    def wait(
        self,
        job_id: str,
        *,
        timeout_s: float | None = None,
        progress: Callable[[Job], object] | None = None,
        away: Callable[[ClientError], object] | None = None,
    ) -> Job:
        """The job with its results once `may_change` is over, or as it stands when `timeout_s` is: look at `status`.

        Asks by long poll; `progress` gets the job, without results, each time that it has changed. A server
        that goes away in between, as in a restart, is waited for half a minute, and no longer than `timeout_s`;
        `away` gets the error when that begins. Raises `NotFound`, `NoServer`, `Stopping`.
        """
        ends = None if timeout_s is None else time.monotonic() + timeout_s
        watch = _Watch(self._place, job_id, self._sleep, away or (lambda _: None))
        while True:
            job = watch.look(ends)
            if progress is not None and watch.changed:
                progress(job)
            if not may_change(job) or (ends is not None and time.monotonic() >= ends):
                return self.status(job_id)

    def results(self, job_id: str) -> Iterator[Entry]:
        """The targets that have ended, in order: `result` in those that came, `error` and `reason` in the others."""
        for entry in self.status(job_id)["targets"]:
            if entry["status"] in ("done", "failed"):
                yield entry

    def cancel(self, job_id: str) -> Cancellation:
        """Stops the job before its next target. One that has ended keeps its status, which the answer says."""
        return cast(Cancellation, self._call("DELETE", _job_path(job_id)))

    def list(self) -> Sequence[JobLine]:
        """The caller's own jobs, newest first, at most 100."""
        return cast(Sequence[JobLine], self._call("GET", "/v1/batch")["jobs"])

    def _call(self, method: str, path: str, body: Any = None, timeout_s: float = ANSWER_S) -> dict[str, Any]:
        return _json(self._place, _send(self._place, method, path, body, {}, timeout_s))


def may_change(job: Job) -> bool:
    """Whether more may come of the job: it is live, or was cancelled and has a target in flight, which will be kept."""
    return job["status"] in LIVE or job["counts"].get("running", 0) > 0


class _Watch:
    """A job that is looked at until it ends: long polls, each by the ETag of the last."""

    def __init__(
        self,
        place: Place,
        job_id: str,
        sleep: Callable[[float], object],
        away: Callable[[ClientError], object],
    ) -> None:
        self._place = place
        self._path = _job_path(job_id) + "?results=none"
        self._sleep = sleep
        self._away = away
        self._etag: str | None = None
        self._job: Job | None = None
        self.changed = False

    def look(self, ends: float | None) -> Job:
        """The job as it stands: at once the first time, then as soon as it has changed or a minute is over."""
        began = time.monotonic()
        wait_s = self._wait_s(ends)
        answer = self._ask(ends)
        self.changed = answer.status != 304
        if self.changed or self._job is None:
            self._job = cast(Job, _json(self._place, answer))
            self._etag = answer.headers.get("etag")
        elif time.monotonic() - began < wait_s / 2:
            # The server's long polls were all taken, and it answered as if none had been asked for.
            self._sleep(min(_seconds(answer.headers.get("retry-after")) or 1.0, wait_s))
        return self._job

    def _wait_s(self, ends: float | None) -> int:
        if self._job is None:
            return 0
        return LONG_POLL_S if ends is None else min(LONG_POLL_S, max(0, math.ceil(ends - time.monotonic())))

    def _ask(self, ends: float | None) -> Answer:
        borne_until: float | None = None
        while True:
            try:
                return self._ask_once(self._wait_s(ends))
            except (NoServer, Stopping) as error:
                if self._job is None:
                    raise
                now = time.monotonic()
                if borne_until is None:
                    borne_until = now + AWAY_S if ends is None else min(now + AWAY_S, ends)
                    self._away(error)
                if now >= borne_until:
                    raise
                self._sleep(min(getattr(error, "retry_after_s", None) or 1.0, borne_until - now))

    def _ask_once(self, wait_s: int) -> Answer:
        headers = {"If-None-Match": self._etag} if self._etag else {}
        path = f"{self._path}&wait={wait_s}" if wait_s else self._path
        answer = _send(self._place, "GET", path, None, headers, wait_s + ANSWER_S)
        if answer.status == 503:
            _json(self._place, answer)
        return answer


def _send(place: Place, method: str, path: str, body: Any, headers: Mapping[str, str], timeout_s: float) -> Answer:
    sent = {"Authorization": f"Bearer {place.token}", "Accept": "application/json", **headers}
    data = None
    if body is not None:
        data = json.dumps(body).encode()
        sent["Content-Type"] = "application/json"
    return ask(place.address, method, path, sent, data, timeout_s)


def _json(place: Place, answer: Answer) -> dict[str, Any]:
    """The object of an answer of success; the typed error of any other. Raises `NotSift` for what is neither."""
    try:
        body = json.loads(answer.body)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict) or (answer.status >= 300 and "error" not in body):
        raise NotSift(f"{place.address} answered {answer.status}, but not as Sift does; is the address right?")
    if answer.status >= 300:
        raise answered(answer.status, body, _seconds(answer.headers.get("retry-after")))
    return body


def _seconds(header: str | None) -> float | None:
    """A `Retry-After` in seconds; `None` where there is none or it is a date, which Sift never sends."""
    return float(header) if header and re.fullmatch(r"[0-9]{1,9}", header, re.ASCII) else None


def _job_path(job_id: str) -> str:
    """The job's path. An id is opaque: whatever was typed stays one segment, and the server says what it knows."""
    return "/v1/batch/" + re.sub(rb"[^A-Za-z0-9_-]", _percent, job_id.encode("utf-8", "replace")).decode()


def _percent(match: re.Match[bytes]) -> bytes:
    return b"%%%02X" % match[0][0]
