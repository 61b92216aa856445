"""11. `sift batch status`, start to end, against `python -c pass`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.bench.rounds import Options, median_s, ms, paired, row, show
from tests.bench.serving import serving, token
from tests.bench.site import site

MOST, MOST_S = 8.0, 0.150
ASKED = 10


def main(options: Options) -> None:
    """Prints the table: medians of 10 runs a round."""
    sift = Path(sys.executable).with_name("sift")
    with site() as port, serving(port) as server:
        job_id = server.drained([f"http://127.0.0.1:{port}/small?{number}" for number in range(3)])
        environ = {**os.environ, "SIFT_URL": f"http://127.0.0.1:{server.port}", "SIFT_TOKEN": token(0)}

        def run(*command: str) -> None:
            subprocess.run(command, env=environ, stdout=subprocess.DEVNULL, check=True)

        pair = paired(
            options.rounds,
            lambda: median_s(ASKED, lambda: run(str(sift), "batch", "status", job_id)),
            lambda: median_s(ASKED, lambda: run(sys.executable, "-c", "pass")),
        )
    verdict = "met" if pair.ours < MOST_S else "missed"
    bound = [f"below {ms(MOST_S)}", ms(pair.ours), "", "", "", f"< {ms(MOST_S)}", verdict]
    show("11. The command", [row("sift batch status", pair, "python -c pass", MOST), bound])
