"""6. A status poll without results, against nginx sending the job's whole body."""

from __future__ import annotations

from tests.bench.mirror import NGINX, mirror
from tests.bench.results import NBYTES, TARGETS
from tests.bench.rounds import Options, leave_out, median_s, ms, paired, row, show
from tests.bench.serving import serving
from tests.bench.site import site

MOST, MOST_S = 1.0, 0.002
ASKED = 100
TITLE = f"6. Status poll with results=none of a job of {TARGETS} results of {NBYTES // 1000} kB"


def main(options: Options) -> None:
    """Prints the table: medians of 100 requests a round."""
    if NGINX is None:
        leave_out(TITLE, "nginx")
        return
    with site() as port, serving(port) as server, server.line() as line:
        job_id = server.drained([f"http://127.0.0.1:{port}/text/{NBYTES}?{n}" for n in range(TARGETS)])
        body = bytes(line.answer(line.request("GET", f"/v1/batch/{job_id}"))).partition(b"\r\n\r\n")[2]
        request = line.request("GET", f"/v1/batch/{job_id}?results=none")
        line.answer(request)
        with mirror(body) as other:
            plain = other.request("GET", "/body")
            pair = paired(
                options.rounds,
                lambda: median_s(ASKED, lambda: line.answer(request)),
                lambda: median_s(ASKED, lambda: other.answer(plain)),
            )
    verdict = "met" if pair.ours < MOST_S else "missed"
    bound = [f"below {ms(MOST_S)}", ms(pair.ours), "", "", "", f"< {ms(MOST_S)}", verdict]
    show(TITLE, [row("status poll", pair, f"nginx, {len(body) / 1e6:.2f} MB", MOST), bound])
