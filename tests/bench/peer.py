"""The peers, each run by the interpreter of the environment that it is installed in; stands alone.

    VENV/bin/python tests/bench/peer.py NAME

Says "ready", then for every line of JSON, a list of URLs, one line: how many characters came of them. Or "missing".
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable

Work = Callable[[list[str]], int]


def trafilatura() -> Work:
    """requests and trafilatura in a plain loop."""
    import requests
    import trafilatura

    def work(urls: list[str]) -> int:
        size = 0
        for url in urls:
            body = requests.get(url, timeout=30).content
            size += len(trafilatura.extract(body, url=url, output_format="markdown") or "")
        return size

    return work


def crawl4ai() -> Work:
    """Its HTTP strategy, which takes no browser, with the defaults of its Markdown."""
    from crawl4ai import AsyncWebCrawler, CacheMode, CrawlerRunConfig
    from crawl4ai.async_crawler_strategy import AsyncHTTPCrawlerStrategy

    async def crawl(urls: list[str]) -> int:
        config = CrawlerRunConfig(cache_mode=CacheMode.BYPASS, verbose=False)
        size = 0
        async with AsyncWebCrawler(crawler_strategy=AsyncHTTPCrawlerStrategy(), verbose=False) as crawler:
            for url in urls:
                found = await crawler.arun(url, config=config)
                size += len(str(found.markdown or ""))
        return size

    return _run(crawl)


def mcp_server_fetch() -> Work:
    """What its `fetch` tool calls, without the protocol around it."""
    from mcp_server_fetch.server import fetch_url

    async def fetch(urls: list[str]) -> int:
        return sum([len((await fetch_url(url, "bench", allow_private_ips=True))[0]) for url in urls])

    return _run(fetch)


def _run(work: Callable[[list[str]], Awaitable[int]]) -> Work:
    loop = asyncio.new_event_loop()
    return lambda urls: loop.run_until_complete(work(urls))


PEERS: dict[str, Callable[[], Work]] = {
    "trafilatura": trafilatura,
    "crawl4ai": crawl4ai,
    "mcp-server-fetch": mcp_server_fetch,
}


def main() -> None:
    """Serves until standard input ends. What a peer prints by itself goes to stderr."""
    said = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        work = PEERS[sys.argv[1]]()
    except ImportError as error:
        print(f"missing: {error}", file=said, flush=True)
        return
    print("ready", file=said, flush=True)
    for line in sys.stdin:
        print(work(json.loads(line)), file=said, flush=True)


if __name__ == "__main__":
    main()
