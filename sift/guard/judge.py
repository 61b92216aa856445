"""The guard: the pre-check of a URL, and the check of a host, an address and a port before they are dialled.

Nothing is resolved and nothing is dialled here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ipaddress import ip_network

from sift.config import Allow, GuardConfig
from sift.errors import Blocked
from sift.guard.address import BENCHMARKING, UNSPECIFIED, Address, behind_nat64, read_address, special_kind
from sift.guard.host import BadHost, read_host
from sift.guard.url import BadUrl, CheckedUrl, read_url

# Names that never mean a host of the public Internet: RFC 6761, 6762, 8375; the private names that ICANN
# will not delegate (internal, home, corp, mail); what routers, distributions and container hosts use.
_LOCAL_SUFFIXES = (
    "localhost", "localdomain", "localdomain4", "localdomain6", "local", "internal", "intranet", "private",
    "lan", "home", "corp", "mail", "home.arpa", "svc",
)  # fmt: skip
_LOCAL_NAMES = ("metadata.goog",)


class Guard:
    """Says no by raising `Blocked`; immutable, for any thread.

    `own` are the addresses and ports that Sift itself listens on, as the bound sockets name them. They are never
    dialled, whatever the `allow` entries of the config say.
    """

    def __init__(
        self, config: GuardConfig, *, own: Iterable[tuple[str, int]] = (), service: Allow | None = None
    ) -> None:
        self._config = config
        self._own_given = tuple(own)
        self._own = tuple((_bound(text), port) for text, port in self._own_given)
        self._allow = tuple(_canonical(entry) for entry in config.allow) + ((service,) if service else ())

    def check_url(self, url: str) -> CheckedUrl:
        """The pre-check, from the URL alone: what it refuses is refused at submit already."""
        try:
            checked = read_url(url)
        except BadUrl as error:
            raise Blocked(str(error)) from None
        if checked.port not in self._config.ports and all(entry.port != checked.port for entry in self._allow):
            raise self._bad_port(checked.port)
        return checked

    def check_host(self, checked: CheckedUrl) -> None:
        """The part of the connect check that needs no DNS: literals, and names of this host or its network."""
        if checked.literal is not None:
            self.check_address(checked.literal, checked.port, checked.host)
        elif _is_local_name(checked.host) and not self._names(checked.host, checked.port):
            raise Blocked(f"local name {checked.host} (only names of the public DNS)")

    def check_address(self, address: str, port: int, host: str, *, local: bool = False) -> str:
        """Judges one address of the answer for `host`, together with the port; returns the address to dial.

        `local`: the address is known to be this machine's. It matters where `listens_everywhere`.
        """
        shown = address if host == address else None
        plain = read_address(address)
        if plain is None:
            raise _not_public(shown)
        judged = behind_nat64(plain) if self._config.nat64 else plain
        if self._is_own(judged, port, local):
            raise Blocked(f"Sift's own address {shown}") if shown else _not_public(None)
        if not self._names(host, port) and not self._covers(judged, port):
            self._check_public(judged, port, shown)
        return str(plain)

    def listens_everywhere(self, port: int) -> bool:
        """Whether Sift listens on this port of every address of the machine (`0.0.0.0`, `::`)."""
        return any(own_port == port and int(address) == 0 for address, own_port in self._own)

    def for_service(self, url: str) -> Guard:
        """A guard for one configured service: its host and port pass as configured, all else is judged as ever."""
        checked = read_url(url)
        network = ip_network(checked.literal) if checked.literal else None
        service = Allow(network, None if network else checked.host, checked.port)
        return Guard(self._config, own=self._own_given, service=service)

    def _check_public(self, address: Address, port: int, shown: str | None) -> None:
        kind = special_kind(address)
        if kind is not None:
            raise _not_public(shown, kind)
        if port not in self._config.ports:
            raise self._bad_port(port)

    def _names(self, host: str, port: int) -> bool:
        return any(entry.name == host and self._opens(entry, port) for entry in self._allow)

    def _covers(self, address: Address, port: int) -> bool:
        return any(
            entry.network is not None and address in entry.network and self._opens(entry, port)
            for entry in self._allow
        )  # fmt: skip

    def _opens(self, entry: Allow, port: int) -> bool:
        return port in self._config.ports if entry.port is None else entry.port == port

    def _is_own(self, address: Address, port: int, local: bool) -> bool:
        """The unspecified address leads to loopback, so it counts as every own address of that port."""
        unspecified = special_kind(address) == UNSPECIFIED
        for own, own_port in self._own:
            same = own == address or unspecified or (int(own) == 0 and (local or address.is_loopback))
            if own_port == port and same:
                return True
        return False

    def _bad_port(self, port: int) -> Blocked:
        return Blocked(f"port {port} (only {_listed(self._config.ports)})")


def _bound(text: str) -> Address:
    """An address that Sift listens on; a name here would protect nothing, so it is a mistake of the caller's."""
    address = read_address(text)
    if address is None:
        raise ValueError(f"not an address that a socket is bound to: {text}")
    return address


def _canonical(entry: Allow) -> Allow:
    """A name as `check_url` spells hosts, so that the two can be compared."""
    if entry.name is None:
        return entry
    try:
        return Allow(None, read_host(entry.name)[0], entry.port)
    except BadHost:
        return entry


def _is_local_name(host: str) -> bool:
    return "." not in host or host in _LOCAL_NAMES or any(host.endswith("." + end) for end in _LOCAL_SUFFIXES)


def _not_public(shown: str | None, kind: str | None = None) -> Blocked:
    """The verdict on an address: a literal is repeated, what a name resolved to is not told."""
    if shown is not None:
        return Blocked(f"{kind or 'unknown'} address {shown}")
    if kind == BENCHMARKING:
        return Blocked(
            "the name resolves into 198.18.0.0/15, where the fake-IP DNS of a VPN answers; see [guard] allow"
        )
    return Blocked("the name does not resolve to public addresses alone")


def _listed(ports: Sequence[int]) -> str:
    words = [str(port) for port in ports]
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]
