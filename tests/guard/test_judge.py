"""Ports, the operator's exceptions, Sift's own address, configured services, and the words of a refusal."""

from ipaddress import ip_network

import pytest

from sift.config import Allow, GuardConfig
from sift.errors import Blocked
from sift.guard import Guard


def allow(network: str | None = None, name: str | None = None, port: int | None = None) -> Allow:
    return Allow(ip_network(network) if network else None, name, port)


def guard_with(*entries: Allow, own: tuple[tuple[str, int], ...] = ()) -> Guard:
    return Guard(GuardConfig(allow=entries), own=own)


def connect(guard: Guard, url: str, *addresses: str) -> list[str]:
    """What would be dialled for the URL, where the name resolves to `addresses`."""
    checked = guard.check_url(url)
    guard.check_host(checked)
    found = addresses or (checked.literal or "",)
    return [guard.check_address(address, checked.port, checked.host) for address in found]


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("http://10.0.0.1/", "blocked: private address 10.0.0.1"),
        ("http://127.0.0.1/", "blocked: loopback address 127.0.0.1"),
        ("http://169.254.169.254/latest/", "blocked: link-local address 169.254.169.254"),
        ("http://[fd00::1]/", "blocked: private address fd00::1"),
        ("http://example.com:8443/", "blocked: port 8443 (only 80 and 443)"),
        ("ftp://example.com/", "blocked: scheme ftp (only http and https)"),
        ("http://user:pw@example.com/", "blocked: user info in the URL"),
        ("http://printer.local/", "blocked: local name printer.local (only names of the public DNS)"),
        ("example.com", "blocked: no scheme (http:// or https://)"),
        ("http:///x", "blocked: no host"),
        ("http://0x7f.1/", "blocked: an IP address that is not in its canonical form"),
    ],
)
def test_a_refusal_says_what_was_found(url: str, text: str) -> None:
    with pytest.raises(Blocked) as caught:
        connect(Guard(GuardConfig()), url)

    assert str(caught.value) == text


@pytest.mark.parametrize("address", ["10.0.0.1", "127.0.0.1", "fd00::1", "nonsense"])
def test_what_a_name_resolved_to_is_not_told(address: str) -> None:
    with pytest.raises(Blocked) as caught:
        connect(Guard(GuardConfig()), "http://site.example.org/", address)

    assert str(caught.value) == "blocked: the name does not resolve to public addresses alone"


def test_a_fake_ip_resolver_is_named_as_the_cause() -> None:
    with pytest.raises(Blocked, match=r"198\.18\.0\.0/15, where the fake-IP DNS of a VPN answers"):
        connect(Guard(GuardConfig()), "http://site.example.org/", "198.18.0.7")


def test_a_url_of_8_kib_passes_and_a_byte_more_does_not() -> None:
    url = "http://example.com/" + "x" * (8192 - 19)

    assert Guard(GuardConfig()).check_url(url).host == "example.com"
    with pytest.raises(Blocked, match="more than 8 KiB"):
        Guard(GuardConfig()).check_url(url + "x")


def test_the_limit_counts_bytes_not_characters() -> None:
    with pytest.raises(Blocked, match="more than 8 KiB"):
        Guard(GuardConfig()).check_url("http://example.com/" + "é" * 4100)


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(Blocked, match="not valid Unicode"):
        Guard(GuardConfig()).check_url("http://example.com/\ud800")


@pytest.mark.parametrize(
    ("url", "clean"),
    [
        ("HTTP://EXAMPLE.com:80", "http://example.com/"),
        ("https://example.com.:443/a b?q=é#top", "https://example.com/a%20b?q=%C3%A9"),
        ("http://example.com:443/", "http://example.com:443/"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("http://[2606:4700:0:0:0:0:0:6810]/", "http://[2606:4700::6810]/"),
        ("http://example.com/a/%2e%2e/./b/..", "http://example.com/"),
        ("http://example.com/%zz<>", "http://example.com/%zz%3C%3E"),
    ],
)
def test_the_clean_url_is_what_goes_on_the_wire(url: str, clean: str) -> None:
    assert Guard(GuardConfig()).check_url(url).url == clean


def test_a_clean_url_is_clean_already() -> None:
    guard = Guard(GuardConfig())
    once = guard.check_url("https://bücher.example/a b/../%41?x='y' z").url

    assert guard.check_url(once).url == once


class TestExceptions:
    def test_a_network_opens_its_addresses_on_the_ordinary_ports_alone(self) -> None:
        guard = guard_with(allow("10.1.2.0/24"))

        assert connect(guard, "http://10.1.2.3/") == ["10.1.2.3"]
        assert connect(guard, "http://wiki.example.org/", "10.1.2.3") == ["10.1.2.3"]
        for url in ("http://10.1.3.1/", "http://10.1.2.3:8080/"):
            with pytest.raises(Blocked):
                connect(guard, url)

    def test_a_network_with_a_port_opens_that_port_and_no_other(self) -> None:
        guard = guard_with(allow("10.1.2.0/24", port=8080))

        assert connect(guard, "http://10.1.2.3:8080/") == ["10.1.2.3"]
        with pytest.raises(Blocked):
            connect(guard, "http://10.1.2.3/")

    def test_a_port_of_an_exception_passes_the_pre_check_but_leads_nowhere_else(self) -> None:
        guard = guard_with(allow("10.1.2.0/24", port=8080))

        checked = guard.check_url("http://example.com:8080/")

        with pytest.raises(Blocked, match=r"port 8080 \(only 80 and 443\)"):
            guard.check_address("93.184.216.34", checked.port, checked.host)

    def test_a_name_may_resolve_to_a_private_address_on_its_port(self) -> None:
        guard = guard_with(allow(name="wiki.internal", port=8080))

        assert connect(guard, "http://Wiki.Internal.:8080/", "10.0.0.7") == ["10.0.0.7"]
        with pytest.raises(Blocked):
            connect(guard, "http://wiki.internal/", "10.0.0.7")
        with pytest.raises(Blocked):
            connect(guard, "http://sub.wiki.internal:8080/", "10.0.0.7")

    def test_another_name_of_an_allowed_names_address_stays_refused(self) -> None:
        guard = guard_with(allow(name="wiki.internal"))

        with pytest.raises(Blocked):
            connect(guard, "http://evil.example.org/", "10.0.0.7")

    def test_an_international_name_is_compared_in_its_wire_form(self) -> None:
        guard = guard_with(allow(name="bücher.internal"))

        assert connect(guard, "http://xn--bcher-kva.internal/", "10.0.0.7") == ["10.0.0.7"]

    def test_an_allowed_network_does_not_open_local_names(self) -> None:
        with pytest.raises(Blocked, match="local name localhost"):
            connect(guard_with(allow("127.0.0.0/8")), "http://localhost/", "127.0.0.1")


class TestOwnAddress:
    def test_it_is_refused_although_a_network_covers_it(self) -> None:
        guard = guard_with(allow("127.0.0.0/8", port=8642), own=(("127.0.0.1", 8642),))

        with pytest.raises(Blocked, match=r"Sift's own address 127\.0\.0\.1"):
            connect(guard, "http://127.0.0.1:8642/")
        assert connect(guard, "http://127.0.0.2:8642/") == ["127.0.0.2"]

    @pytest.mark.parametrize("url", ["http://0.0.0.0:8642/", "http://[::ffff:127.0.0.1]:8642/", "http://[::]:8642/"])
    def test_no_other_spelling_of_it_is_dialled(self, url: str) -> None:
        guard = guard_with(allow("0.0.0.0/0", port=8642), allow("::/0", port=8642), own=(("127.0.0.1", 8642),))

        with pytest.raises(Blocked):
            connect(guard, url)

    def test_a_name_that_resolves_to_it_is_refused_even_where_the_name_is_allowed(self) -> None:
        guard = guard_with(allow(name="me.internal", port=8642), own=(("127.0.0.1", 8642),))

        with pytest.raises(Blocked, match="does not resolve to public addresses alone"):
            connect(guard, "http://me.internal:8642/", "127.0.0.1")

    def test_a_name_for_it_is_a_mistake_of_the_program(self) -> None:
        with pytest.raises(ValueError, match="not an address"):
            guard_with(own=(("localhost", 8642),))

    def test_no_entry_opens_it_however_exactly_it_names_it(self) -> None:
        guard = guard_with(allow("127.0.0.1/32", port=8642), own=(("127.0.0.1", 8642),))

        with pytest.raises(Blocked, match=r"Sift's own address 127\.0\.0\.1"):
            connect(guard, "http://127.0.0.1:8642/")

    def test_a_wildcard_means_every_address_of_the_machine_on_that_port(self) -> None:
        guard = Guard(GuardConfig(ports=(80, 443)), own=(("0.0.0.0", 80),))

        assert guard.listens_everywhere(80)
        assert not guard.listens_everywhere(443)
        with pytest.raises(Blocked):
            guard.check_address("93.184.216.34", 80, "site.example.org", local=True)
        assert guard.check_address("93.184.216.34", 80, "site.example.org", local=False) == "93.184.216.34"
        assert guard.check_address("93.184.216.34", 443, "site.example.org", local=True) == "93.184.216.34"


class TestServices:
    def test_its_host_and_port_pass_as_configured(self) -> None:
        guard = Guard(GuardConfig()).for_service("http://127.0.0.1:11434/v1/chat")

        assert connect(guard, "http://127.0.0.1:11434/v1/chat") == ["127.0.0.1"]

    def test_a_named_service_may_be_local(self) -> None:
        guard = Guard(GuardConfig()).for_service("http://localhost:11434/v1/chat")

        assert connect(guard, "http://localhost:11434/v1/chat", "127.0.0.1", "::1") == ["127.0.0.1", "::1"]

    @pytest.mark.parametrize("url", ["http://127.0.0.1/", "http://10.0.0.1:11434/", "http://127.0.0.1:11435/"])
    def test_nothing_else_passes_that_did_not_before(self, url: str) -> None:
        guard = Guard(GuardConfig()).for_service("http://127.0.0.1:11434/")

        with pytest.raises(Blocked):
            connect(guard, url)

    def test_the_guard_it_comes_from_is_unchanged(self) -> None:
        guard = Guard(GuardConfig())
        guard.for_service("http://127.0.0.1:11434/")

        with pytest.raises(Blocked):
            guard.check_url("http://127.0.0.1:11434/")

    def test_sifts_own_address_is_no_service(self) -> None:
        guard = Guard(GuardConfig(), own=(("127.0.0.1", 8642),)).for_service("http://127.0.0.1:8642/")

        with pytest.raises(Blocked):
            connect(guard, "http://127.0.0.1:8642/")
