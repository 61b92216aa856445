"""One connection under a deadline: no operation on it outlives the fetch, and every byte taken is counted.

HTTP is not known here; whether an address may be dialled was decided before.

The socket does not block. Each operation is tried, and where it cannot go on, poll waits for it in slices: so a
peer that drips bytes, or TLS records, or nothing, costs no more than the deadline.
"""

from __future__ import annotations

import errno
import os
import select
import socket
import ssl
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import certifi

from sift.clock import Deadline
from sift.errors import ConfigError, Unreachable
from sift.fetch.patience import SLICE_S, check, slice_s

T = TypeVar("T")
Dial = Callable[[str, int, float], socket.socket]
"""`dial(address, port, timeout_s)`: a socket that is connected, or on its way. Raises OSError."""

# Bounds what a peer can push into the kernel beyond what we read (measured: up to 6 MB without it, on loopback).
RECEIVE_BUFFER = 256 * 1024

_CERTIFICATE_FAULTS = {
    9: "not valid yet",
    10: "expired",
    18: "self-signed",
    19: "self-signed",
    20: "of an unknown issuer",
    21: "of an unknown issuer",
    62: "not for this name",
    64: "not for this address",
}


class Lost(Exception):
    """The connection is gone: reset, or dropped by the network."""


class ConnectTimeout(Exception):
    """No connection within `connect_timeout`."""


def dial(address: str, port: int, timeout_s: float) -> socket.socket:
    """A socket on its way to a numeric address; `Wire.finish_connecting` waits for it."""
    sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
        code = sock.connect_ex((address, port))
        if code not in (0, errno.EINPROGRESS):
            raise OSError(code, os.strerror(code))
    except BaseException:
        sock.close()
        raise
    return sock


def is_local(address: str) -> bool:
    """Whether this machine has the address; nothing is sent to find out."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True


class _TlsSocket(ssl.SSLSocket):
    """A connection that was reset before TLS began is not connected: any other error there, and CPython 3.11 forgets
    to close the socket that it has just taken over (seen under load: `ssl.SSLSocket._create`).
    """

    def recv(self, buflen: int = 1024, flags: int = 0) -> bytes:
        try:
            return super().recv(buflen, flags)
        except ConnectionError as error:
            if self._sslobj is not None:  # type: ignore[attr-defined]
                raise
            raise OSError(errno.ENOTCONN, "gone before TLS began") from error


def tls_context(ca_file: str | None) -> ssl.SSLContext:
    """One for all connections, since parsing the CA bundle is what costs; the environment has no say in it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(certifi.where())
    if ca_file is not None:
        try:
            context.load_verify_locations(ca_file)
        except (ssl.SSLError, OSError):
            raise ConfigError(f"[fetch] ca_file: {ca_file} holds no certificates; it takes a bundle in PEM") from None
    context.set_alpn_protocols(["http/1.1"])
    context.sslsocket_class = _TlsSocket
    return context


class Wire:
    """Owns the socket from here on. Every method raises TimedOut or Cancelled by the deadline. One thread uses it.

    `taken` counts the bytes received, after TLS.
    """

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        sock.setblocking(False)
        self._sock = sock
        self._deadline = deadline
        self.taken = 0

    def finish_connecting(self, timeout_s: float) -> None:
        """Waits until the connection stands. Raises ConnectTimeout, OSError."""
        ends = self._deadline.monotonic() + timeout_s
        while not self._ready(select.POLLOUT, ends - self._deadline.monotonic()):
            if self._deadline.monotonic() >= ends:
                raise ConnectTimeout
        code = self._sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            raise OSError(code, os.strerror(code))

    def secure(self, context: ssl.SSLContext, host: str) -> None:
        """TLS from here on, the certificate verified against `host`. Raises Unreachable."""
        try:
            sock = context.wrap_socket(self._sock, server_hostname=host, do_handshake_on_connect=False)
            self._sock = sock
            self._retry(sock.do_handshake)
        except ssl.SSLCertVerificationError as error:
            fault = _CERTIFICATE_FAULTS.get(error.verify_code, "not to be trusted")
            raise Unreachable(f"bad TLS: the certificate is {fault}") from None
        except (OSError, ValueError, Lost):
            raise Unreachable("bad TLS: the handshake failed") from None

    def send(self, data: bytes) -> None:
        """Sends all of it. Raises Lost."""
        view = memoryview(data)
        while view:
            check(self._deadline)
            view = view[self._retry(partial(self._sock.send, view), select.POLLOUT) :]

    def receive(self, most: int) -> bytes:
        """What has come, at least a byte; `b""` at the peer's end. Raises Lost."""
        check(self._deadline)
        data = self._retry(partial(self._sock.recv, most))
        self.taken += len(data)
        return data

    def check(self) -> None:
        """Raises where the fetch must not go on; for work between two reads."""
        check(self._deadline)

    def close(self) -> None:
        self._sock.close()

    def _retry(self, operation: Callable[[], T], event: int = select.POLLIN) -> T:
        """The operation's result, tried again whenever the socket is ready for it."""
        while True:
            try:
                return operation()
            except ssl.SSLWantReadError:
                event = select.POLLIN
            except ssl.SSLWantWriteError:
                event = select.POLLOUT
            except (BlockingIOError, InterruptedError):
                pass
            except ssl.SSLCertVerificationError:
                raise
            except OSError:
                raise Lost from None
            while not self._ready(event, SLICE_S):
                pass

    def _ready(self, event: int, most_s: float) -> bool:
        """Waits for the event for a slice, or `most_s` if that is less."""
        poll = select.poll()
        poll.register(self._sock, event)
        wait_s = max(0.0, min(slice_s(self._deadline), most_s))
        return bool(poll.poll(wait_s * 1000))
