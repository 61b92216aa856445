"""`/healthz` and `/metrics`: is it well, and how much of what. No token; both say nothing of anybody's pages."""

from __future__ import annotations

from flask import Blueprint, Response

from sift.api.app import Services
from sift.api.errors import json_response

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def blueprint(services: Services) -> Blueprint:
    """The endpoints over `services`."""
    routes = Blueprint("health", __name__)

    @routes.get("/healthz")
    def healthz() -> Response:
        troubles = ["the server is stopping"] if services.stopping.is_set() else services.troubles()
        if troubles:
            reason = "storage" if troubles[0].startswith("the store") else "internal"
            reason = "stopping" if services.stopping.is_set() else reason
            answer = {"success": False, "error": troubles[0], "reason": reason, "troubles": troubles}
            return json_response(answer, 503)
        return json_response({"success": True, "status": "ok"})

    @routes.get("/metrics")
    def metrics() -> Response:
        return Response(services.metrics.exposition(), mimetype=None, content_type=METRICS_TYPE)

    return routes
