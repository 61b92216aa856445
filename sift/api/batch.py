"""`/v1/batch`: submit a list, look at one's jobs, wait for one, cancel one."""

from __future__ import annotations

import re

from flask import Blueprint, Response, g, request

from sift.api import body
from sift.api.app import Services
from sift.api.errors import json_response
from sift.batch import View
from sift.errors import Blocked, Malformed, Place, Refused

LONGEST_WAIT_S = 60
_TAG = re.compile(r'(?:W/)?("[^"]*")')
_WHOLE = re.compile(r"[0-9]{1,9}", re.ASCII)
_SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?", re.ASCII)
_PARAMETERS = ("results", "since", "wait")


def blueprint(services: Services) -> Blueprint:
    """The endpoints over `services`."""
    routes = Blueprint("batch", __name__)

    @routes.post("/v1/batch")
    def submit() -> Response:
        services.check_running()
        wanted = body.read_submit(request.get_data(), most_age_s=services.most_age_s)
        places = [(f"targets[{idx}]", target) for idx, target in enumerate(wanted.targets)]
        body.check_programs(places, services.wrong_programs)
        services.runner.check_size(len(wanted.targets))
        _check_urls(services, wanted)
        submitted = services.runner.submit(g.caller, wanted.targets, fresh=wanted.fresh)
        answer = {
            "success": True,
            "job_id": submitted.job_id,
            "status": submitted.status,
            "targets": submitted.targets,
            "reused": submitted.reused,
        }
        response = json_response(answer | ({"hint": submitted.hint} if submitted.hint else {}), 202)
        response.headers["Location"] = f"/v1/batch/{submitted.job_id}"
        response.headers["Retry-After"] = str(submitted.retry_after_s)
        return response

    @routes.get("/v1/batch")
    def jobs() -> Response:
        return Response(services.runner.reader.jobs(g.caller), mimetype="application/json")

    @routes.get("/v1/batch/<path:job_id>")
    def status(job_id: str) -> Response:
        view, wait_s = _asked()
        answer = services.runner.reader.read(g.caller, job_id, view, known=_known_tags(), wait_s=wait_s)
        unchanged = answer.unchanged or request.headers.get("If-None-Match", "").strip() == "*"
        response = Response(status=304) if unchanged else Response(answer.body(), mimetype="application/json")
        response.headers["ETag"] = answer.etag
        if answer.retry_after_s is not None:
            response.headers["Retry-After"] = str(answer.retry_after_s)
        elif not wait_s:
            services.runner.pace.answered()  # nothing is left to come: he waits for this answer alone
        return response

    @routes.delete("/v1/batch/<path:job_id>")
    def cancel(job_id: str) -> Response:
        return json_response({"success": True, "status": services.runner.cancel(g.caller, job_id)})

    return routes


def _check_urls(services: Services, wanted: body.Submit) -> None:
    """The guard's pre-check of every URL; needs no DNS. Raises `Refused`."""
    places = []
    for idx, target in enumerate(wanted.targets):
        try:
            services.guard.check_url(target.url)
        except Blocked as error:
            places.append(Place(f"targets[{idx}].url", str(error)))
    if places:
        raise Refused(places)


def _asked() -> tuple[View, float]:
    """What the query asks for: which results, and how long to wait. Raises `Malformed`."""
    query = request.args
    places = [
        Place(name[:64], f"unknown; known: {', '.join(_PARAMETERS)}") for name in query if name not in _PARAMETERS
    ]
    places += [Place(name, "given twice") for name in _PARAMETERS if len(query.getlist(name)) > 1]
    results, since, wait = query.get("results"), query.get("since", "0"), query.get("wait", "0")
    if results not in (None, "none"):
        places.append(Place("results", "it takes none, or is left out"))
    if not _WHOLE.fullmatch(since):
        places.append(Place("since", "it takes the idx of a target, a whole number"))
    if not _SECONDS.fullmatch(wait) or float(wait) > LONGEST_WAIT_S:
        places.append(Place("wait", f"it takes seconds, from 0 to {LONGEST_WAIT_S}"))
    if places:
        raise Malformed(places)
    return View(results=results is None, since=int(since)), float(wait)


def _known_tags() -> frozenset[str]:
    """The tags that `If-None-Match` names, all in their weak form, in which they are compared (RFC 9110 13.1.2)."""
    return frozenset(f"W/{tag}" for tag in _TAG.findall(request.headers.get("If-None-Match", "")))
