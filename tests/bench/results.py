"""5. `GET` of a done job of 32 results of 50 kB, against nginx sending the same bytes, and against making them anew."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from tests.bench.mirror import NGINX, mirror
from tests.bench.rounds import Options, leave_out, median_s, paired, row, show
from tests.bench.serving import serving
from tests.bench.site import site

MOST_OF_NGINX, MOST_OF_PARSING = 6.0, 0.6
TARGETS, NBYTES = 32, 50_000
ASKED = 30
TITLE = f"5. GET of a done job of {TARGETS} results of {NBYTES // 1000} kB"


def main(options: Options) -> None:
    """Prints the table: medians of 30 requests a round."""
    with site() as port, serving(port) as server:
        job_id = server.drained([f"http://127.0.0.1:{port}/text/{NBYTES}?{n}" for n in range(TARGETS)])
        rows = []
        with server.line() as line:
            request = line.request("GET", f"/v1/batch/{job_id}")
            body = bytes(line.answer(request)).partition(b"\r\n\r\n")[2]
            assert len(body) > TARGETS * NBYTES

            def ours() -> float:
                return median_s(ASKED, lambda: line.answer(request))

            ours()
            if NGINX is None:
                leave_out(TITLE, "nginx")
            else:
                with mirror(body) as other:
                    plain = other.request("GET", "/body")
                    assert len(other.answer(plain)) > len(body)
                    pair = paired(options.rounds, ours, lambda: median_s(ASKED, lambda: other.answer(plain)))
                    rows.append(row("GET", pair, "nginx, the same bytes", MOST_OF_NGINX))
            database = server.directory / "data" / "dcache.sqlite3"
            pair = paired(options.rounds, ours, lambda: median_s(ASKED, lambda: _anew(database, job_id)))
            rows.append(row("GET", pair, "rows parsed and dumped", MOST_OF_PARSING))
    show(f"{TITLE} ({len(body) / 1e6:.2f} MB)", rows)


def _anew(path: Path, job_id: str) -> bytes:
    """The targets of a job as one JSON text, each result parsed and all of them dumped again."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    found = connection.execute("SELECT idx, url, status, result FROM batch_target WHERE job_id = ?", (job_id,))
    targets = [{"idx": i, "url": url, "status": status, "result": json.loads(r)} for i, url, status, r in found]
    connection.close()
    return json.dumps({"job_id": job_id, "targets": targets}).encode()
