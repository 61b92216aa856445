"""4. The p99 of `/v1/fetch` of a small local page while eight batches drain, against the same on an idle server."""

from __future__ import annotations

from itertools import count

from tests.bench.load import load
from tests.bench.polls import draining
from tests.bench.rounds import Options, p99, paired, row, seconds, show
from tests.bench.serving import serving
from tests.bench.site import site

MOST = 2.5
SAMPLES = 200


def main(options: Options) -> None:
    """Prints the table. Every fetch is of another URL, so that none comes from the cache."""
    number = count()
    with (
        site(options.shared) as port,
        serving(port) as server,
        load(server.port, port) as batches,
        server.line() as line,
    ):

        def sample() -> float:
            samples = []
            for _ in range(SAMPLES):
                body = f'{{"url": "http://127.0.0.1:{port}/small?{next(number)}"}}'.encode()
                request = line.request("POST", "/v1/fetch", body)
                samples.append(seconds(lambda request=request: line.answer(request)))
            return p99(samples)

        sample()
        pair = paired(options.rounds, lambda: draining(batches, sample), sample)
    show("4. p99 of a small fetch while eight batches drain", [row("p99 of /v1/fetch of 2 kB", pair, "idle", MOST)])
