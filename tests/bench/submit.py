"""9. `POST /v1/batch`, against a POST that does nothing on the same server."""

from __future__ import annotations

import json
import statistics

from tests.bench.rounds import Options, ms, paired, row, seconds, show
from tests.bench.serving import Line, serving
from tests.bench.site import site

MOST, MOST_S = 3.0, 0.003
ASKED = 50
SIZES = (1, 8, 32)


def main(options: Options) -> None:
    """Prints the table: medians of 50 requests a round. Each job is cancelled, and over, before the next request."""
    rows = []
    with site() as port, serving(port, module="tests.bench.nothing") as server, server.line() as line:
        for size in SIZES:
            targets = [{"url": f"http://127.0.0.1:{port}/small?{number}"} for number in range(size)]
            body = json.dumps({"targets": targets, "fresh": True}).encode()
            submit = line.request("POST", "/v1/batch", body)
            nothing = line.request("POST", "/v1/nothing", body)

            def ours(submit: bytes = submit) -> float:
                return statistics.median(_submitted(line, submit) for _ in range(ASKED))

            def theirs(nothing: bytes = nothing) -> float:
                return statistics.median(seconds(lambda: line.answer(nothing)) for _ in range(ASKED))

            assert bytes(line.answer(nothing)).startswith(b"HTTP/1.1 202")
            ours()
            pair = paired(options.rounds, ours, theirs)
            rows.append(row(f"{size} targets", pair, "POST that does nothing", MOST))
            verdict = "met" if pair.ours < MOST_S else "missed"
            rows.append([f"{size} targets, below {ms(MOST_S)}", ms(pair.ours), "", "", "", f"< {ms(MOST_S)}", verdict])
    show("9. POST /v1/batch", rows)


def _submitted(line: Line, request: bytes) -> float:
    """How long one submit took; afterwards the job is cancelled and nothing of it runs any more."""
    took = seconds(lambda: line.answer(request))
    _, found = line.ask("GET", "/v1/batch")
    job = found["jobs"][0]
    line.ask("DELETE", f"/v1/batch/{job['job_id']}")
    while line.ask("GET", f"/v1/batch/{job['job_id']}?results=none")[1]["counts"]["running"]:
        pass
    return took
