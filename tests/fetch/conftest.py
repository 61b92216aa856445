"""What the tests of the wire share: slots that keep a diary, and fetchers that reach loopback sites by public names."""

import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from functools import cache

import pytest

from sift.clock import Clock, Deadline
from sift.config import FetchConfig, GuardConfig
from sift.fetch import Fetcher
from sift.fetch.connector import Connector
from sift.fetch.lookup import Lookups
from sift.fetch.wire import dial, tls_context
from sift.guard import Guard
from sift.target import Page
from tests.support.hostile import CA_FILE, Hostile

PUBLIC = "93.184.216.34"


@cache
def context_for(ca_file: str | None) -> ssl.SSLContext:
    """Parsing the CA bundle takes longer than most tests."""
    return tls_context(ca_file)


class Diary:
    """Slots that are always free; `events` is what was asked of them, `held` the host of those held."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.held: str | None = None

    def at(self, host: str) -> None:
        self.events.append(host)
        self.held = host

    def free(self) -> None:
        self.events.append("-")
        self.held = None


class Net:
    """A made-up Internet: names resolve by `answers` (else to a public address), ports lead to loopback sites.

    `dialled` lists the addresses, in order; `asked` the names that were looked up.
    """

    def __init__(self) -> None:
        self.answers: dict[str, list[str]] = {}
        self.sites: dict[int, Hostile] = {}
        self.asked: list[str] = []
        self.dialled: list[str] = []
        self._fetchers: list[Fetcher] = []

    def resolve(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        return self.answers.get(host, [PUBLIC])

    def dial(self, address: str, port: int, timeout_s: float) -> socket.socket:
        self.dialled.append(address)
        if port not in self.sites:
            raise ConnectionRefusedError
        return dial(self.sites[port].address, self.sites[port].port, timeout_s)

    def fetcher(self, site: Hostile | None = None, *, guard: Guard | None = None, **config: object) -> Fetcher:
        """A fetcher on this net; `site` answers on port 443 where it speaks TLS, else on port 80."""
        if site is not None:
            self.sites[443 if site.url.startswith("https") else 80] = site
        values = FetchConfig(**{"ca_file": CA_FILE, "connect_timeout_s": 1.0, **config})  # type: ignore[arg-type]
        connector = Connector(values, Lookups(self.resolve), self.dial, context_for(values.ca_file))
        fetcher = Fetcher(values, guard or Guard(GuardConfig()), connector=connector)
        self._fetchers.append(fetcher)
        return fetcher

    def close(self) -> None:
        for fetcher in self._fetchers:
            fetcher.close()


@pytest.fixture
def net() -> Iterator[Net]:
    net = Net()
    yield net
    net.close()


@pytest.fixture
def slots() -> Diary:
    return Diary()


@pytest.fixture
def serve() -> Iterator[Callable[..., Hostile]]:
    """Starts hostile servers that end with the test."""
    servers: list[Hostile] = []

    def start(*args: object, **kwargs: object) -> Hostile:
        servers.append(Hostile(*args, **kwargs))  # type: ignore[arg-type]
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def get(net: Net, slots: Diary) -> Callable[..., Page]:
    """Fetches `http://site.example.org/` from the script's site, within two seconds."""

    def fetch(
        site: Hostile | None,
        url: str = "http://site.example.org/",
        *,
        known: Page | None = None,
        refresh: Callable[[Page], str | None] | None = None,
        seconds: float = 2.0,
        **config: object,
    ) -> Page:
        fetcher = net.fetcher(site, **config)
        return fetcher.get(url, deadline=Deadline(seconds), slots=slots, known=known, refresh=refresh)

    return fetch


@pytest.fixture
def page() -> Callable[..., Page]:
    def make(
        body: bytes = b"old", headers: Mapping[str, str] | None = None, url: str = "http://site.example.org/"
    ) -> Page:
        return Page(url, url, 200, headers or {}, body, Clock().now() - 1000)

    return make
