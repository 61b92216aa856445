"""`POST /v2/scrape`: one page in the shape that Firecrawl's clients speak. What a page becomes is not decided here."""

from __future__ import annotations

from flask import Blueprint, Response, g, request

from sift.api.app import Services
from sift.api.errors import json_response
from sift.api.scrape.document import document
from sift.api.scrape.rendering import Renderings
from sift.api.scrape.wish import read_scrape


def blueprint(services: Services) -> Blueprint:
    """The endpoint over `services`."""
    routes = Blueprint("scrape", __name__)

    @routes.post("/v2/scrape")
    def scrape() -> Response:
        services.check_running()
        wish = read_scrape(request.get_data())
        with services.one_fetch():
            found = Renderings(services.fetch_target, g.caller, wish, services.stopping.is_set).all()
        return json_response({"success": True, "data": document(wish, found)})

    return routes
