"""10. A `/v1/fetch` that the cache answers, against one that goes to a local site."""

from __future__ import annotations

from itertools import count, cycle

from tests.bench.pages import some
from tests.bench.rounds import Options, median_s, paired, row, show
from tests.bench.serving import serving
from tests.bench.site import site

MOST = 0.2
ASKED = 32


def main(options: Options) -> None:
    """Prints the table: medians of 32 fetches a round, one of each page."""
    what = some(options.shared)[1]
    number, at = count(), cycle(range(32))
    with site(options.shared) as port, serving(port) as server, server.line() as line:

        def request(query: str) -> bytes:
            return line.request(
                "POST", "/v1/fetch", f'{{"url": "http://127.0.0.1:{port}/page/{next(at)}{query}"}}'.encode()
            )

        def cached() -> float:
            return median_s(ASKED, lambda: line.answer(request("")))

        def uncached() -> float:
            return median_s(ASKED, lambda: line.answer(request(f"?{next(number)}")))

        cached()
        assert line.fetch(f"http://127.0.0.1:{port}/page/0")["cached"]
        uncached()
        pair = paired(options.rounds, cached, uncached)
    show(f"10. Cached fetch, {what}", [row("cached /v1/fetch", pair, "uncached, local site", MOST)])
