"""`sift serve` with one route more, `POST /v1/nothing`, which does nothing.

python -m tests.bench.nothing serve --config FILE
"""

from __future__ import annotations

import sys

from flask import Flask, Response

from sift import server
from sift.cli import main
from sift.cli import serve as _serve  # noqa: F401 (the command imports it late; here it is there for the patch below)


def _with_nothing(services: server.Services) -> Flask:
    app = _create_app(services)
    app.add_url_rule(
        "/v1/nothing", "nothing", lambda: Response(b"{}", 202, mimetype="application/json"), methods=["POST"]
    )
    return app


if __name__ == "__main__":
    _create_app = server.create_app
    server.create_app = _with_nothing
    sys.argv[0] = "sift"
    main()
