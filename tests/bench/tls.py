"""8. A guarded https fetch of a host not seen before, against a raw TLS socket."""

from __future__ import annotations

import socket
import ssl

from sift.clock import Deadline
from sift.config import FetchConfig, GuardConfig
from sift.fetch import Fetcher
from sift.fetch.wire import dial
from sift.guard import Guard
from tests.bench.rounds import Options, median_s, paired, row, show
from tests.bench.site import site
from tests.support.hostile import CA_FILE

MOST = 2.0
ASKED = 100
NBYTES = 2_000  # at least, with the head
HOST, ADDRESS = "site.example.org", "93.184.216.34"


class _Free:
    """No gate: what is measured is the wire."""

    def at(self, host: str) -> None:
        pass

    def free(self) -> None:
        pass


def main(options: Options) -> None:
    """Prints the table: medians of 100 fetches of 2 kB a round, each a name looked up, a connection and a handshake."""
    with site(is_tls=True) as port:
        fetcher = Fetcher(
            FetchConfig(ca_file=CA_FILE),
            Guard(GuardConfig()),
            resolve=lambda host, port: [ADDRESS],
            dial=lambda address, _port, timeout_s: dial("127.0.0.1", port, timeout_s),
        )
        context = ssl.create_default_context()
        context.load_verify_locations(CA_FILE)
        try:
            pair = paired(
                options.rounds,
                lambda: median_s(ASKED, lambda: _fetch(fetcher)),
                lambda: median_s(ASKED, lambda: _raw(context, port)),
            )
        finally:
            fetcher.close()
    show("8. A guarded https fetch of a new host, 2 kB", [row("Fetcher.get", pair, "raw TLS socket", MOST)])


def _fetch(fetcher: Fetcher) -> None:
    page = fetcher.get(f"https://{HOST}/small", deadline=Deadline(30), slots=_Free())
    assert page.status == 200


def _raw(context: ssl.SSLContext, port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as plain:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with context.wrap_socket(plain, server_hostname=HOST) as sock:
            sock.sendall(f"GET /small HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n".encode())
            body = b""
            while len(body) < NBYTES:
                body += sock.recv(65536)
    assert body.startswith(b"HTTP/1.1 200")
