"""From a name to a connection: look-ups in their pool, every answer judged, a few addresses in turn, TLS."""

import gc
import select
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from ipaddress import ip_network
from typing import Any

import pytest

from sift.clock import Clock, Deadline
from sift.config import Allow, FetchConfig, GuardConfig
from sift.errors import Blocked, Cancelled, TimedOut, Unreachable
from sift.fetch import Fetcher
from sift.fetch.lookup import Lookups, system_resolve
from sift.fetch.wire import Wire, dial, is_local, tls_context
from sift.guard import Guard
from tests.support.hostile import CA_FILE, Hostile, always, reply

Serve = Callable[..., Hostile]
GOOD, OTHER = "93.184.216.34", "93.184.216.35"


def lookup_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("sift-lookup-")]


@pytest.fixture
def stuck() -> Iterator[Lookups]:
    """Two look-up threads over a resolver that says nothing until the test is over."""
    over = threading.Event()
    lookups = Lookups(lambda host, port: [GOOD] if over.wait(10) else [], most_threads=2)
    yield lookups
    over.set()
    lookups.close()


class TestLookups:
    def test_a_resolver_that_hangs_costs_the_deadline_and_no_more(self, stuck: Lookups) -> None:
        began = Clock().monotonic()

        with pytest.raises(TimedOut):
            stuck.addresses("site.example.org", 80, Deadline(0.2))
        assert Clock().monotonic() - began < 0.7

    def test_there_are_never_more_threads_than_the_pool_has(self, stuck: Lookups) -> None:
        for _ in range(5):
            with pytest.raises(TimedOut):
                stuck.addresses("site.example.org", 80, Deadline(0.02))
        assert lookup_threads() == ["sift-lookup-1", "sift-lookup-2"]

    def test_a_stop_is_noticed_while_looking_up(self, stuck: Lookups) -> None:
        with pytest.raises(Cancelled):
            stuck.addresses("site.example.org", 80, Deadline(30, stopped=lambda: True))

    def test_an_idle_thread_takes_the_next_question(self) -> None:
        lookups = Lookups(lambda host, port: [GOOD])
        done = [lookups.addresses("site.example.org", 80, Deadline(2)) for _ in range(20)]
        count = len(lookup_threads())
        lookups.close()

        assert done == [[GOOD]] * 20
        assert count <= 2

    def test_questions_nobody_waits_for_any_more_are_not_asked(self) -> None:
        free, asked = threading.Event(), []

        def resolve(host: str, port: int) -> list[str]:
            asked.append(host)
            free.wait(10)
            return [GOOD]

        lookups = Lookups(resolve, most_threads=1)
        for host, patience_s in (("first", 1.0), ("second", 0.02), ("third", 0.02)):
            with pytest.raises(TimedOut):
                lookups.addresses(host, 80, Deadline(patience_s))
        free.set()
        lookups.addresses("last", 80, Deadline(2))
        lookups.close()

        assert asked == ["first", "last"]

    @pytest.mark.parametrize("error", [OSError("x"), UnicodeError("x"), RuntimeError("x")])
    def test_a_resolver_that_fails_is_a_name_that_does_not_resolve(self, error: Exception) -> None:
        def resolve(host: str, port: int) -> list[str]:
            raise error

        lookups = Lookups(resolve)
        for _ in range(3):
            with pytest.raises(Unreachable, match="does not resolve"):
                lookups.addresses("site.example.org", 80, Deadline(2))
        lookups.close()

    def test_close_leaves_no_thread(self) -> None:
        lookups = Lookups(lambda host, port: [GOOD])
        lookups.addresses("site.example.org", 80, Deadline(2))
        lookups.close()

        assert lookup_threads() == []

    def test_the_systems_resolver_gives_addresses_as_text(self) -> None:
        assert system_resolve("127.0.0.1", 80) == ["127.0.0.1"]


class TestAddresses:
    def test_one_bad_address_refuses_them_all(self, get: Any, net: Any) -> None:
        net.answers["site.example.org"] = [GOOD] * 8 + ["10.0.0.1"]

        with pytest.raises(Blocked):
            get(None)
        assert net.dialled == []

    def test_the_name_is_looked_up_once_and_a_judged_address_is_dialled(self, get: Any, net: Any, serve: Serve) -> None:
        answers = iter([[GOOD], ["127.0.0.1"]])
        net.resolve = lambda host, port: next(answers)

        assert get(serve(always(reply(b"x")))).body == b"x"
        assert net.dialled == [GOOD]

    def test_the_next_address_is_tried_where_one_refuses(self, get: Any, net: Any, serve: Serve) -> None:
        net.answers["site.example.org"] = [OTHER, GOOD]
        site = serve(always(reply(b"x")))
        reachable = net.dial

        def only_good(address: str, port: int, timeout_s: float) -> socket.socket:
            if address == OTHER:
                net.dialled.append(address)
                raise ConnectionRefusedError
            return reachable(address, port, timeout_s)

        net.dial = only_good

        assert get(site).body == b"x"
        assert net.dialled == [OTHER, GOOD]

    def test_a_few_are_tried_the_families_in_turn(self, get: Any, net: Any) -> None:
        v6 = [f"2606:4700::{n}" for n in range(1, 6)]
        net.answers["site.example.org"] = [*v6, v6[0], GOOD, OTHER]

        with pytest.raises(Unreachable):
            get(None)
        assert net.dialled == [v6[0], GOOD, v6[1], OTHER]

    def test_a_mapped_answer_is_dialled_as_ipv4(self, get: Any, net: Any, serve: Serve) -> None:
        net.answers["site.example.org"] = [f"::ffff:{GOOD}"]

        get(serve(always(reply(b"x"))))

        assert net.dialled == [GOOD]

    def test_a_literal_is_never_looked_up(self, get: Any, net: Any, serve: Serve) -> None:
        get(serve(always(reply(b"x"))), f"http://{GOOD}/")

        assert (net.asked, net.dialled) == ([], [GOOD])

    def test_a_connection_that_does_not_come_about_is_given_up_after_its_own_time(self, get: Any, net: Any) -> None:
        with full_listener() as port:
            net.dial = lambda address, _, timeout_s: dial("127.0.0.1", port, timeout_s)
            began = Clock().monotonic()
            with pytest.raises(TimedOut, match=r"no connection within 0\.2 s"):
                get(None, connect_timeout_s=0.2, seconds=5)
        assert Clock().monotonic() - began < 1

    def test_the_deadline_ends_connecting_too(self, get: Any, net: Any) -> None:
        with full_listener() as port:
            net.dial = lambda address, _, timeout_s: dial("127.0.0.1", port, timeout_s)
            with pytest.raises(TimedOut):
                get(None, connect_timeout_s=5.0, seconds=0.2)

    def test_a_stop_ends_connecting_too(self, get: Any, net: Any, slots: Any) -> None:
        with full_listener() as port:
            net.dial = lambda address, _, timeout_s: dial("127.0.0.1", port, timeout_s)
            stop = threading.Timer(0.1, lambda: None)
            deadline = Deadline(30, stopped=lambda: not stop.is_alive())
            fetcher = net.fetcher(connect_timeout_s=20.0)
            stop.start()
            began = Clock().monotonic()
            with pytest.raises(Cancelled):
                fetcher.get("http://site.example.org/", deadline=deadline, slots=slots)
        assert Clock().monotonic() - began < 0.7

    def test_refused_is_said(self, get: Any, net: Any) -> None:
        with socket.create_server(("127.0.0.1", 0)) as closed:
            port = closed.getsockname()[1]
        net.dial = lambda address, _, timeout_s: dial("127.0.0.1", port, timeout_s)

        with pytest.raises(Unreachable, match=r"^unreachable: the connection was refused$"):
            get(None)


class FullListener:
    """A listener whose queue is full: whoever connects next waits."""

    def __enter__(self) -> int:
        self._listener = socket.socket()
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(0)
        address = self._listener.getsockname()
        self._clients = [socket.socket() for _ in range(4)]
        for client in self._clients:
            client.setblocking(False)
            client.connect_ex(address)
        port: int = address[1]
        return port

    def __exit__(self, *_: object) -> None:
        for sock in [*self._clients, self._listener]:
            sock.close()


full_listener = FullListener


class TestOverTheRealDialler:
    """The system's sockets on loopback, which an exception of the operator opens."""

    def fetcher(self, *networks: str, own: tuple[tuple[str, int], ...] = (), port: int) -> Fetcher:
        allow = tuple(Allow(ip_network(network), None, port) for network in networks)
        return Fetcher(FetchConfig(), Guard(GuardConfig(allow=allow), own=own))

    @pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
    def test_both_families_are_spoken(self, address: str, serve: Serve, slots: Any) -> None:
        if address == "::1" and not is_local("::1"):
            pytest.skip("this machine has no IPv6 loopback")
        site = serve(always(reply(b"x")), address=address)
        fetcher = self.fetcher("127.0.0.0/8", "::1/128", port=site.port)

        page = fetcher.get(site.url, deadline=Deadline(2), slots=slots)
        fetcher.close()

        assert (page.body, page.final_url) == (b"x", site.url)

    def test_sifts_own_address_is_not_dialled_whatever_covers_it(self, serve: Serve, slots: Any) -> None:
        site = serve(always(reply(b"x")))
        fetcher = self.fetcher("127.0.0.0/8", own=(("127.0.0.1", site.port),), port=site.port)

        with pytest.raises(Blocked, match="Sift's own address"):
            fetcher.get(site.url, deadline=Deadline(2), slots=slots)
        fetcher.close()
        assert site.connections == 0

    @pytest.mark.parametrize("own", ["0.0.0.0", "::"])
    def test_listening_everywhere_means_every_local_address(self, own: str, serve: Serve, slots: Any) -> None:
        site = serve(always(reply(b"x")))
        fetcher = self.fetcher("0.0.0.0/0", own=((own, site.port),), port=site.port)

        for host in ("127.0.0.1", "127.9.9.9", "0.0.0.0"):
            with pytest.raises(Blocked):
                fetcher.get(f"http://{host}:{site.port}/", deadline=Deadline(2), slots=slots)
        fetcher.close()
        assert site.connections == 0

    def test_a_local_address_is_told_from_a_foreign_one(self) -> None:
        assert is_local("127.0.0.1")
        assert not is_local("192.0.2.1")


class TestTls:
    @pytest.fixture
    def fetch(self, get: Any, serve: Serve) -> Callable[..., Any]:
        def fetch(certificate: str, host: str = "site.example.org", **config: object) -> Any:
            return get(serve(always(reply(b"x")), certificate=certificate), f"https://{host}/", **config)

        return fetch

    @pytest.mark.parametrize("host", ["site.example.org", "SITE.example.org.", GOOD])
    def test_a_certificate_for_the_asked_host_passes(self, host: str, fetch: Any) -> None:
        assert fetch("site.pem", host).body == b"x"

    @pytest.mark.parametrize(
        ("certificate", "fault"),
        [("elsewhere.pem", "not for this name"), ("expired.pem", "expired"), ("selfsigned.pem", "self-signed")],
    )
    def test_a_bad_certificate_is_named(self, certificate: str, fault: str, fetch: Any) -> None:
        with pytest.raises(Unreachable) as caught:
            fetch(certificate)

        assert str(caught.value) == f"unreachable: bad TLS: the certificate is {fault}"

    def test_a_literal_must_be_in_the_certificate(self, fetch: Any) -> None:
        with pytest.raises(Unreachable, match="not for this address"):
            fetch("site.pem", OTHER)

    def test_without_the_operators_ca_the_same_certificate_is_not_trusted(self, fetch: Any) -> None:
        with pytest.raises(Unreachable, match="bad TLS: the certificate is of an unknown issuer"):
            fetch("site.pem", ca_file=None)

    def test_the_environments_ca_files_have_no_say(self, fetch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
            monkeypatch.setenv(name, CA_FILE)

        with pytest.raises(Unreachable, match="bad TLS"):
            fetch("site.pem", ca_file=None)


def test_a_reset_before_tls_begins_leaves_no_descriptor() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ours = socket.create_connection(listener.getsockname())
        theirs, _ = listener.accept()
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        theirs.close()
        poll = select.poll()
        poll.register(ours, select.POLLIN)
        poll.poll(5000)
        wire = Wire(ours, Deadline(1))

        with pytest.raises(Unreachable, match="bad TLS: the handshake failed"):
            wire.secure(tls_context(None), "site.example.org")

        wire.close()
        gc.collect()  # what was lost would be said now
