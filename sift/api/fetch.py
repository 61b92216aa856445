"""`POST /v1/fetch`: one URL, now."""

from __future__ import annotations

from flask import Blueprint, Response, g, request

from sift.api import body
from sift.api.app import Services
from sift.api.errors import json_response
from sift.target import INTERACTIVE, Lane


def blueprint(services: Services) -> Blueprint:
    """The endpoint over `services`."""
    routes = Blueprint("fetch", __name__)

    @routes.post("/v1/fetch")
    def fetch() -> Response:
        services.check_running()
        target = body.read_fetch(request.get_data(), most_age_s=services.most_age_s)
        body.check_query(target, services.wrong_programs)
        with services.one_fetch():
            lane = Lane(INTERACTIVE, wait_s=services.wait_s, stopped=services.stopping.is_set)
            return json_response(services.fetch_target(g.caller, target, lane).envelope)

    return routes
