"""3. The p99 of `/healthz` and of a status poll while eight batches drain, against the same on an idle server."""

from __future__ import annotations

from collections.abc import Callable

from tests.bench.load import Load, load
from tests.bench.rounds import Options, p99, paired, row, seconds, show
from tests.bench.serving import serving
from tests.bench.site import site

MOST = 2.0
SAMPLES = 400
"""Of each kind a round: fewer than the batches take to drain."""


def main(options: Options) -> None:
    """Prints the table."""
    with site(options.shared) as port, serving(port) as server, load(server.port, port) as batches:
        job_id = server.drained([f"http://127.0.0.1:{port}/page/{page}" for page in range(32)])
        with server.line() as line:
            asked = {
                "/healthz": line.request("GET", "/healthz"),
                "status poll, results=none": line.request("GET", f"/v1/batch/{job_id}?results=none"),
            }
            rows = []
            for what, request in asked.items():

                def sample(request: bytes = request) -> float:
                    return p99([seconds(lambda: line.answer(request)) for _ in range(SAMPLES)])

                sample()
                pair = paired(options.rounds, lambda sample=sample: draining(batches, sample), sample)
                rows.append(row(f"p99 of {what}, 8 batches draining", pair, "idle", MOST))
    show("3. p99 while eight batches drain", rows)


def draining(batches: Load, sample: Callable[[], float]) -> float:
    """What `sample` finds while the batches drain."""
    batches.begin()
    try:
        return sample()
    finally:
        batches.end()
