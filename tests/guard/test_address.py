"""The tables: both edges of every range, one step outside, and every form that hides an IPv4 address."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

import pytest

from sift.config import Allow, GuardConfig
from sift.errors import Blocked
from sift.guard import Guard
from sift.guard.address import read_address, special_kind

REFUSED_IPV4 = [
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16",
    "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
    "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
]  # fmt: skip
REFUSED_IPV6 = [
    "::/128", "::1/128", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64",
    "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "4000::/3", "5f00::/16", "fc00::/7", "fe80::/10",
    "fec0::/10", "ff00::/8",
]  # fmt: skip
PUBLIC_IPV6_EDGES = ["2001:200::", "2001:db7:ffff:ffff::", "2001:db9::", "2003::", "3ffe:ffff::", "3fff:1000::"]
EDGES_IPV4 = [address for network in map(IPv4Network, REFUSED_IPV4) for address in (network[0], network[-1])]
EDGES_IPV6 = [address for network in map(IPv6Network, REFUSED_IPV6) for address in (network[0], network[-1])]
REFUSED_NETWORKS = [IPv4Network(network) for network in REFUSED_IPV4]
OUTSIDE_IPV4 = sorted(
    {
        IPv4Address(number)
        for network in REFUSED_NETWORKS
        for number in (int(network[0]) - 1, int(network[-1]) + 1)
        if 0 <= number < 2**32 and not any(IPv4Address(number) in other for other in REFUSED_NETWORKS)
    }
)


@pytest.mark.parametrize("address", [*EDGES_IPV4, *EDGES_IPV6], ids=str)
def test_both_edges_of_a_special_range_are_refused(address: IPv4Address | IPv6Address) -> None:
    assert special_kind(address) is not None


@pytest.mark.parametrize("address", [*OUTSIDE_IPV4, *map(IPv6Address, PUBLIC_IPV6_EDGES)], ids=str)
def test_one_step_outside_of_a_special_range_is_public(address: IPv4Address | IPv6Address) -> None:
    assert special_kind(address) is None


def embedding(prefix: str, shift: int = 0) -> "tuple[str, int, int]":
    return prefix, int(IPv6Address(prefix)), shift


FORMS = [
    embedding("::ffff:0:0"), embedding("::"), embedding("::ffff:0:0:0"), embedding("64:ff9b::"),
    embedding("64:ff9b:1::"), embedding("2002::", 80), embedding("2001::"), embedding("2a00::5efe:0:0"),
    embedding("2a00::200:5efe:0:0"), embedding("fe80::5efe:0:0"),
]  # fmt: skip


@pytest.mark.parametrize(("prefix", "base", "shift"), FORMS, ids=lambda value: str(value))
@pytest.mark.parametrize("inner", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "192.168.1.1", "0.0.0.0"])
def test_a_special_ipv4_address_inside_an_ipv6_form_is_refused(prefix: str, base: int, shift: int, inner: str) -> None:
    text = str(IPv6Address(base | int(IPv4Address(inner)) << shift))

    with pytest.raises(Blocked):
        Guard(GuardConfig()).check_address(text, 80, "site.example.org")


def test_a_mapped_public_address_is_dialled_as_the_ipv4_address_it_stands_for() -> None:
    assert Guard(GuardConfig()).check_address("::ffff:8.8.8.8", 80, "site.example.org") == "8.8.8.8"


def test_nat64_is_judged_by_the_address_inside_only_where_configured() -> None:
    guard = Guard(GuardConfig(nat64=True))

    assert guard.check_address("64:ff9b::8.8.8.8", 443, "site.example.org") == "64:ff9b::808:808"
    for refused in ("64:ff9b::10.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::8.8.8.8"):
        with pytest.raises(Blocked):
            guard.check_address(refused, 443, "site.example.org")
    with pytest.raises(Blocked):
        Guard(GuardConfig()).check_address("64:ff9b::8.8.8.8", 443, "site.example.org")


def test_an_allowed_network_covers_nat64_and_mapped_forms_of_its_addresses() -> None:
    allow = (Allow(IPv4Network("10.0.0.0/8"), None, None),)
    guard = Guard(GuardConfig(nat64=True, allow=allow))

    assert guard.check_address("::ffff:10.0.0.1", 80, "x.example.org") == "10.0.0.1"
    assert guard.check_address("64:ff9b::10.0.0.1", 80, "x.example.org") == "64:ff9b::a00:1"


@pytest.mark.parametrize("text", ["", "nonsense", "1.2.3", "127.1", "0x7f.0.0.1", "010.0.0.1", "1.2.3.4 ", "::1::"])
def test_what_is_no_canonical_address_is_none(text: str) -> None:
    assert read_address(text) is None


def test_a_zone_does_not_hide_a_link_local_address() -> None:
    address = read_address("fe80::1%eth0")

    assert address is not None
    assert special_kind(address) == "link-local"


def test_every_public_service_that_people_name_is_public() -> None:
    known = ["1.1.1.1", "8.8.8.8", "9.9.9.9", "93.184.216.34", "192.31.196.1", "192.52.193.1", "192.175.48.1"]
    known += ["2606:4700:4700::1111", "2001:4860:4860::8888", "2620:4f:8000::1", "2a00:1450:4001:80b::200e"]

    assert [text for text in known if special_kind(ip_address(text))] == []
