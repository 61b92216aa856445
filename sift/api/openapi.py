"""`GET /openapi.json`: the interface, described; a file of this package, held to the code by a test. No token."""

from __future__ import annotations

from importlib.resources import files

import msgspec
from flask import Blueprint, Response

from sift import __version__


def description() -> bytes:
    """The OpenAPI document of this version."""
    found = msgspec.json.decode(files("sift.api").joinpath("openapi.json").read_bytes())
    found["info"]["version"] = __version__
    return msgspec.json.encode(found)


def blueprint() -> Blueprint:
    """The endpoint; the document is read once."""
    routes = Blueprint("openapi", __name__)
    answer = description()

    @routes.get("/openapi.json")
    def openapi() -> Response:
        return Response(answer, mimetype="application/json")

    return routes
