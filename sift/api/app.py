"""The app factory: what every request goes through, and the blueprints behind it.

An endpoint's own work is in its blueprint.
"""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from flask import Flask, Request, Response, g, request
from werkzeug.exceptions import HTTPException, InternalServerError, MethodNotAllowed, NotFound

from sift import errors
from sift.api import body
from sift.api.errors import error_response, reason_of, scrape_error_response
from sift.auth import Callers
from sift.batch import MOST_LONG_POLLS, Runner
from sift.clock import Clock
from sift.errors import Busy, Cancelled, RequestError, TargetError
from sift.guard import Guard
from sift.logs import Log
from sift.metrics import ENDPOINTS, OTHER, Metrics
from sift.target import Caller, Lane, Result, Target

SPARE_THREADS = 4
"""Threads that no waiting request may take, so that health, submits and plain reads are answered at once."""
CHECKS = 2
"""Submits that may wait for a worker to compile their jq programs; another one waits `CHECK_WAIT_S` for its turn."""
CHECK_WAIT_S = 0.5
FAULT = "a fault in Sift; the log of the server says where"
_UNHURRIED = frozenset({"/v1/batch", "/v1/batch/{id}", "/metrics"})
"""Nobody waits for these so that batches should make way: who hands in a batch, or waits for one, wants it to go on."""
_SANE_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")


class FetchTarget(Protocol):
    """One target, start to finish; raises `TargetError`."""

    def __call__(self, caller: Caller, target: Target, lane: Lane) -> Result: ...


@dataclass(slots=True)
class Services:
    """What the endpoints call. `callers` and `wait_s` are replaced by a reload; `stopping` is set once, at the end.

    `troubles` answers what is wrong with the server, by name; nothing where it is well.
    """

    fetch_target: FetchTarget
    check_programs: Callable[[list[str]], list[str]]
    runner: Runner
    guard: Guard
    callers: Callers
    metrics: Metrics
    log: Log
    clock: Clock
    wait_s: float
    most_age_s: float
    threads: int
    troubles: Callable[[], list[str]]
    stopping: threading.Event = field(default_factory=threading.Event)
    fetching: threading.BoundedSemaphore = field(init=False)
    checking: threading.BoundedSemaphore = field(default_factory=lambda: threading.BoundedSemaphore(CHECKS))

    def __post_init__(self) -> None:
        # Fetches in hand, waiting at gates and for workers included, leave threads for long polls and for the rest.
        self.fetching = threading.BoundedSemaphore(max(1, self.threads - MOST_LONG_POLLS - SPARE_THREADS))

    @contextmanager
    def one_fetch(self) -> Iterator[None]:
        """Holds one of the places for fetches in hand. Raises `Busy` where there is none."""
        if not self.fetching.acquire(blocking=False):
            raise Busy("as many fetches are in hand as the server has threads for; try again in a moment")
        try:
            yield
        finally:
            self.fetching.release()

    def wrong_programs(self, programs: list[str]) -> list[str]:
        """For each jq program what is wrong with it. Where no worker is to be had soon, the target itself will tell."""
        if not self.checking.acquire(timeout=CHECK_WAIT_S):
            return [""] * len(programs)
        try:
            return self.check_programs(programs)
        finally:
            self.checking.release()

    def check_running(self) -> None:
        """Raises `Stopping` once the server is on its way out."""
        if self.stopping.is_set():
            raise errors.Stopping("the server is stopping; try again in a moment")


def create_app(services: Services) -> Flask:
    """The WSGI app over `services`; builds nothing else and starts nothing."""
    from sift.api import batch, fetch, health, openapi, page, scrape

    app = Flask("sift.api", static_folder=None)
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    app.url_map.strict_slashes = True
    app.url_map.merge_slashes = False
    app.before_request(lambda: _arrive(services))
    app.after_request(lambda response: _leave(services, response))
    app.teardown_request(lambda _error: g.pop("answering", ExitStack()).close())
    app.register_error_handler(RequestError, _refuse)
    app.register_error_handler(TargetError, _refuse)
    app.register_error_handler(HTTPException, _refuse_http)
    app.register_error_handler(Exception, lambda error: _refuse_fault(services, error))
    for room in (fetch, batch, scrape, health):
        app.register_blueprint(room.blueprint(services))
    for room in (openapi, page):
        app.register_blueprint(room.blueprint())
    return app


def _arrive(services: Services) -> None:
    g.began = services.clock.monotonic()
    sent = request.headers.get("X-Request-Id", "")
    g.request_id = sent if _SANE_ID.fullmatch(sent) else secrets.token_hex(8)
    g.endpoint = endpoint_of(request)
    g.caller = None
    g.reason = None
    g.answering = ExitStack()
    if request.path.startswith(("/v1/", "/v2/")):
        g.caller = services.callers.authorize(request.headers.get("Authorization"))
    if g.endpoint not in _UNHURRIED:
        g.answering.enter_context(services.runner.pace.answering())
    is_submit = request.method == "POST" and request.path == "/v1/batch"
    body.check_length(request.content_length or 0, body.BATCH_BODY_BYTES if is_submit else body.FETCH_BODY_BYTES)


def _leave(services: Services, response: Response) -> Response:
    response.headers["X-Request-Id"] = g.request_id
    elapsed_s = services.clock.monotonic() - g.began
    services.metrics.request(g.endpoint, response.status_code, elapsed_s)
    services.log.request(
        g.caller,
        request_id=g.request_id,
        method=request.method if request.method in _METHODS else OTHER,
        endpoint=g.endpoint,
        code=response.status_code,
        reason=g.reason,
        elapsed_ms=int(elapsed_s * 1000),
        nbytes=response.content_length or 0,
    )
    return response


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def endpoint_of(request: Request) -> str:
    """The route of a request, as metrics and log name it, a wrong method's too; `other` for a path that is none."""
    rule = request.url_rule.rule if request.url_rule else ""
    if isinstance(request.routing_exception, MethodNotAllowed):
        rule = "/v1/batch/{id}" if request.path.startswith("/v1/batch/") else request.path
    rule = rule.replace("<path:job_id>", "{id}")
    return rule if rule in ENDPOINTS else OTHER


def note_refused(services: Services, request_id: str, code: int, reason: str, nbytes: int) -> None:
    """Counts and logs a request that was refused before the app saw it; no caller and no route is known of it."""
    services.metrics.request(OTHER, code, 0.0)
    services.log.request(
        None,
        request_id=request_id,
        method=OTHER,
        endpoint=OTHER,
        code=code,
        reason=reason,
        elapsed_ms=0,
        nbytes=nbytes,
    )


def _refuse(error: Exception) -> Response:
    assert isinstance(error, RequestError | TargetError)
    if isinstance(error, Cancelled):  # nothing but a stop takes an interactive fetch from the queue of a gate
        error = errors.Stopping("the server is stopping; try again in a moment")
    g.reason = reason_of(error)
    return scrape_error_response(error) if request.path.startswith("/v2/") else error_response(error)


def _refuse_http(error: Exception) -> Response:
    """What the router itself refuses, in the words and the shape of all other errors."""
    if isinstance(error, MethodNotAllowed):
        allowed = ", ".join(sorted(error.valid_methods or ()))
        response = _refuse(errors.MethodNotAllowed(f"{request.method[:20]} is not for this path; it takes {allowed}"))
        response.headers["Allow"] = allowed
        return response
    if isinstance(error, NotFound):
        return _refuse(errors.NotFound("no such path; GET /openapi.json lists all"))
    if isinstance(error, InternalServerError):  # a fault outside the routes, wrapped by Flask, which has logged it
        return _refuse(RequestError(FAULT))
    return _refuse(errors.Malformed([errors.Place("", "a request that cannot be read; check its head")]))


def _refuse_fault(services: Services, error: Exception) -> Response:
    """The last resort for a fault of ours: its place for the log, nothing for the caller."""
    services.log.fault("api", error, caller=g.get("caller"), request_id=g.get("request_id"))
    return _refuse(RequestError(FAULT))


__all__ = ["FetchTarget", "Services", "create_app", "note_refused"]
