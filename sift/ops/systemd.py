"""The talk with systemd: the sockets it passes, what it is told (ready, status, reload, stop), and its watchdog.

Nothing is dialled: one datagram socket of this host's, to the one who started us. Without systemd all of it is silent.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import MutableMapping
from dataclasses import dataclass

from sift.errors import StartError

FIRST_DESCRIPTOR = 3  # sd_listen_fds(3)
BEATS_A_TIMEOUT = 3
"""How often the watchdog is fed in the time after which it bites; sd_watchdog_enabled(3) asks for two."""


@dataclass(frozen=True, slots=True)
class Systemd:
    """What the service manager wants to know. `watchdog_s` is how long it waits for a sign of life, `None` for ever."""

    sockets: tuple[socket.socket, ...] = ()
    notify_address: str | None = None
    watchdog_s: float | None = None

    @classmethod
    def of(cls, environ: MutableMapping[str, str]) -> Systemd:
        """What the environment says, which is taken out of it: it is meant for this process alone.

        Raises `StartError` for a passed socket that is not TCP.
        """
        ours = environ.pop("LISTEN_PID", "") == str(os.getpid())
        count = environ.pop("LISTEN_FDS", "0")
        environ.pop("LISTEN_FDNAMES", None)
        timeout_us = environ.pop("WATCHDOG_USEC", "")
        watched = environ.pop("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        return cls(
            sockets=_sockets(int(count)) if ours and count.isdecimal() else (),
            notify_address=environ.pop("NOTIFY_SOCKET", None),
            watchdog_s=int(timeout_us) / 1e6 if watched and timeout_us.isdecimal() else None,
        )

    @property
    def beat_s(self) -> float | None:
        """How often to call `alive`; `None` where nobody listens."""
        return self.watchdog_s / BEATS_A_TIMEOUT if self.watchdog_s and self.notify_address else None

    def ready(self, status: str) -> None:
        """The service answers; `status` is what `systemctl status` shows."""
        self._tell("READY=1", f"STATUS={_line(status)}")

    def alive(self, status: str) -> None:
        """Feeds the watchdog."""
        self._tell("WATCHDOG=1", f"STATUS={_line(status)}")

    def ailing(self, status: str) -> None:
        """Says what is wrong, and does not feed the watchdog."""
        self._tell(f"STATUS={_line(status)}")

    def reloading(self) -> None:
        """The config is read again; `ready` says when that is over."""
        self._tell("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def stopping(self) -> None:
        """The service is on its way out."""
        self._tell("STOPPING=1", "STATUS=stopping")

    def _tell(self, *lines: str) -> None:
        if self.notify_address is None:
            return
        address = self.notify_address
        if address.startswith("@"):  # the abstract namespace
            address = "\0" + address[1:]
        # A manager that does not listen must not stop the service.
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as telling:
            telling.settimeout(1.0)
            telling.sendto("\n".join(lines).encode(), address)


def _sockets(count: int) -> tuple[socket.socket, ...]:
    return tuple(_socket(descriptor) for descriptor in range(FIRST_DESCRIPTOR, FIRST_DESCRIPTOR + count))


def _socket(descriptor: int) -> socket.socket:
    try:
        os.set_inheritable(descriptor, False)
        passed = socket.socket(fileno=descriptor)
        is_tcp = passed.family in (socket.AF_INET, socket.AF_INET6) and passed.type == socket.SOCK_STREAM
        if is_tcp and passed.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            return passed
        passed.detach()
    except OSError:
        pass  # no socket at all, or no descriptor
    raise StartError(f"descriptor {descriptor} from systemd is no listening TCP socket; see ListenStream=")


def _line(text: str) -> str:
    return " ".join(text.split())
