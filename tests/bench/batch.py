"""1. A batch of 32 pages from a local site, from submit to done, against the same pages in a plain loop."""

from __future__ import annotations

from itertools import count

from tests.bench.pages import some
from tests.bench.peering import peer
from tests.bench.rounds import Options, leave_out, paired, row, seconds, show
from tests.bench.serving import serving
from tests.bench.site import site

MOST = 0.5
PAGES = 32


def main(options: Options) -> None:
    """Prints the table. A query that differs in every round keeps the cache out of it."""
    _, what = some(options.shared, PAGES)
    title = f"1. A batch of {what}, submit to done"
    number = count()
    with site(options.shared) as port, serving(port) as server, peer("trafilatura", options.peers) as loop:
        if loop is None:
            leave_out(title, "trafilatura")
            return

        def urls() -> list[str]:
            at = next(number)
            return [f"http://127.0.0.1:{port}/page/{page}?{at}" for page in range(PAGES)]

        server.drained(urls())
        loop.read(urls())
        pair = paired(
            options.rounds, lambda: seconds(lambda: server.drained(urls())), lambda: seconds(lambda: loop.read(urls()))
        )
    show(title, [row("wall", pair, "requests + trafilatura", MOST)])
