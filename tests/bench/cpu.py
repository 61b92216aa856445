"""2. CPU a page of the whole tree of processes, against crawl4ai without a browser and mcp-server-fetch."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from tests.bench.pages import some
from tests.bench.peering import peer
from tests.bench.processes import cpu_s
from tests.bench.rounds import Options, leave_out, paired, row, show
from tests.bench.serving import Serving, serving
from tests.bench.site import site

PAGES = 32
PEERS = {"crawl4ai": 0.4, "mcp-server-fetch": 0.02, "trafilatura": None}
TITLE = "2. CPU a page, whole tree of processes, {}"


def main(options: Options) -> None:
    """Prints the table. All read the same pages, after a first time that does not count."""
    what = some(options.shared, PAGES)[1]
    rows = []
    number = count()
    with site(options.shared) as port, serving(port) as server:

        def urls() -> list[str]:
            at = next(number)
            return [f"http://127.0.0.1:{port}/page/{page}?{at}" for page in range(PAGES)]

        for name, most in PEERS.items():
            with peer(name, options.peers) as other:
                if other is None:
                    leave_out(TITLE.format(what), name)
                    continue
                read, pid = other.read, other.pid
                server.drained(urls())
                read(urls())
                pair = paired(
                    options.rounds,
                    lambda: _spent(server.pid, lambda: _thrice(server, urls)),
                    lambda read=read, pid=pid: _spent(pid, lambda: [read(urls()) for _ in range(3)]),
                )
                rows.append(row("a batch", pair, name, most))
    show(TITLE.format(what), rows)


def _thrice(server: Serving, urls: Callable[[], list[str]]) -> None:
    for _ in range(3):
        server.drained(urls())


def _spent(pid: int, work: Callable[[], object]) -> float:
    """CPU seconds a page, for work that goes through all pages three times."""
    before = cpu_s(pid)
    work()
    return (cpu_s(pid) - before) / (3 * PAGES)
