"""The one factory of outgoing connections: resolve once, judge every address, dial a judged one, TLS.

What is said on the connection is not known here.
"""

from __future__ import annotations

import errno
import ssl

from sift.clock import Deadline
from sift.config import FetchConfig
from sift.errors import TimedOut, Unreachable
from sift.fetch.lookup import Lookups
from sift.fetch.wire import ConnectTimeout, Dial, Wire, is_local, tls_context
from sift.guard import CheckedUrl, Guard

MOST_DIALLED = 4
_FAULTS = {
    errno.ECONNREFUSED: "the connection was refused",
    errno.ECONNRESET: "the connection was reset",
    errno.ENETUNREACH: "there is no route to the host",
    errno.EHOSTUNREACH: "there is no route to the host",
}


class Connector:
    """Opens connections for any thread; owns the look-up threads. `context` is made from the config where not given."""

    def __init__(
        self, config: FetchConfig, lookups: Lookups, dial: Dial, context: ssl.SSLContext | None = None
    ) -> None:
        self._connect_timeout_s = config.connect_timeout_s
        self._lookups = lookups
        self._dial = dial
        self._context = context or tls_context(config.ca_file)

    def open(self, guard: Guard, checked: CheckedUrl, deadline: Deadline) -> Wire:
        """A connection to the URL's host, which the caller closes. Raises Blocked, TimedOut, Unreachable."""
        guard.check_host(checked)
        addresses = self._judged(guard, checked, deadline)
        wire = self._dialled(addresses, checked.port, deadline)
        try:
            if checked.scheme == "https":
                wire.secure(self._context, checked.host)
        except BaseException:
            wire.close()
            raise
        return wire

    def close(self) -> None:
        self._lookups.close()

    def _judged(self, guard: Guard, checked: CheckedUrl, deadline: Deadline) -> list[str]:
        """Every address of the host, all judged; what is dialled comes from here, there is no second look-up."""
        if checked.literal is not None:
            found = [checked.literal]
        else:
            found = self._lookups.addresses(checked.host, checked.port, deadline)
        everywhere = guard.listens_everywhere(checked.port)
        return [
            guard.check_address(address, checked.port, checked.host, local=everywhere and is_local(address))
            for address in found
        ]

    def _dialled(self, addresses: list[str], port: int, deadline: Deadline) -> Wire:
        failures: list[str] = []
        for address in _in_turn(addresses)[:MOST_DIALLED]:
            try:
                return self._connected(address, port, deadline)
            except (ConnectTimeout, TimeoutError):
                failures.append("")
            except OSError as error:
                failures.append(_FAULTS.get(error.errno or 0, "the connection failed"))
        if "" in failures:
            raise TimedOut(f"no connection within {self._connect_timeout_s:g} s")
        raise Unreachable(failures[-1])

    def _connected(self, address: str, port: int, deadline: Deadline) -> Wire:
        timeout_s = min(self._connect_timeout_s, max(0.001, deadline.left()))
        wire = Wire(self._dial(address, port, timeout_s), deadline)
        try:
            wire.finish_connecting(timeout_s)
        except BaseException:
            wire.close()
            raise
        return wire


def _in_turn(addresses: list[str]) -> list[str]:
    """Without repetitions, the two families taking turns, the resolver's first one first."""
    unique = list(dict.fromkeys(addresses))
    first = [address for address in unique if (":" in address) == (":" in unique[0])]
    second = [address for address in unique if address not in first]
    pairs = list(zip(first, second, strict=False))
    rest = first[len(pairs) :] + second[len(pairs) :]
    return [address for pair in pairs for address in pair] + rest
