"""2. CPU a page of the whole tree of processes, against crawl4ai without a browser and mcp-server-fetch."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count

from tests.bench.pages import some
from tests.bench.peering import Peer, peer
from tests.bench.processes import cpu_s
from tests.bench.rounds import Options, leave_out, paired, row, show
from tests.bench.serving import Serving, serving
from tests.bench.site import site

PAGES = 32
PEERS = {"crawl4ai": (0.4, 32), "mcp-server-fetch": (0.02, 4), "trafilatura": (None, 32)}
"""Each with its target, and how many of the pages are read by it and by Sift: one takes seconds a page."""
READ = 96
"""Pages that Sift reads a round, the same ones again: the kernel counts CPU by ticks of 10 ms."""
TITLE = "2. CPU a page, whole tree of processes, {}"


def main(options: Options) -> None:
    """Prints the table. All read the same pages, after a first time that does not count."""
    what = some(options.shared, PAGES)[1]
    rows = []
    number = count()
    with site(options.shared) as port, serving(port) as server:

        def urls(pages: int) -> list[str]:
            at = next(number)
            return [f"http://127.0.0.1:{port}/page/{page * PAGES // pages}?{at}" for page in range(pages)]

        for name, (most, pages) in PEERS.items():
            with peer(name, options.peers) as other:
                if other is None:
                    leave_out(TITLE.format(what), name)
                    continue
                ours = partial(_ours, server, urls, pages)
                theirs = partial(_theirs, other, urls, pages)
                ours()
                theirs()
                rows.append(row("a batch", paired(options.rounds, ours, theirs), f"{name}, {pages} pages", most))
    show(TITLE.format(what), rows)


def _ours(server: Serving, urls: Callable[[int], list[str]], pages: int) -> float:
    """CPU seconds a page, of server and workers."""
    before = cpu_s(server.pid)
    for _ in range(READ // pages):
        server.drained(urls(pages))
    return (cpu_s(server.pid) - before) / READ


def _theirs(other: Peer, urls: Callable[[int], list[str]], pages: int) -> float:
    before = cpu_s(other.pid)
    other.read(urls(pages))
    return (cpu_s(other.pid) - before) / pages
