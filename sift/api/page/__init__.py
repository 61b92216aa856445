"""`GET /`: a page to look at one's own jobs; three files of this package, served as they are. No token, no data.

What the page shows, its script asks of `/v1` with the token that it was given.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from importlib.resources import files

from flask import Blueprint, Response, request

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
FILES = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page/page.css": ("page.css", "text/css; charset=utf-8"),
    "/page/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/page/icon.svg": ("icon.svg", "image/svg+xml"),
}


def blueprint() -> Blueprint:
    """The page and what it loads; read once."""
    routes = Blueprint("page", __name__)
    for path, (name, content_type) in FILES.items():
        routes.add_url_rule(path, name.replace(".", "_"), _serving(name, content_type), methods=["GET"])
    return routes


def _serving(name: str, content_type: str) -> Callable[[], Response]:
    """A view that answers with one file."""
    body = files("sift.api.page").joinpath(name).read_bytes()
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'

    def answer() -> Response:
        known = tag in request.headers.get("If-None-Match", "")
        response = Response(b"" if known else body, 304 if known else 200, content_type=content_type)
        response.headers.update(_HEADERS)
        response.headers["ETag"] = tag
        return response

    return answer
