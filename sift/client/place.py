"""Where the server is and which token opens it: options, the environment, the `sift.toml` that `serve` would take.

A token is never an argument, and is repeated in no message.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Mapping
from io import FileIO
from typing import TYPE_CHECKING

from sift.client.errors import NoPlace, NoToken
from sift.client.wire import Address

if TYPE_CHECKING:
    from sift.home import Home

MAX_TOKEN_BYTES = 4096
PIPE_S = 3.0
"""How long a token out of a pipe, as a shell's `<(…)` is one, is waited for."""
_ADVICE = "set $SIFT_TOKEN or $SIFT_TOKEN_FILE; sift token NAME makes a token for a caller of sift.toml"


class Place:
    """An address and the token for it."""

    def __init__(self, address: Address, token: str) -> None:
        self.address = address
        self.token = token


def find_place(
    url: str | None,
    token: str | None,
    *,
    token_file: str | None = None,
    config: str | None = None,
    plain_http: bool = False,
    environ: Mapping[str, str],
) -> Place:
    """The place, from the arguments first, then `$SIFT_URL`, `$SIFT_TOKEN`, `$SIFT_TOKEN_FILE`, then `sift.toml`.

    The token that a local server keeps in its data directory goes to the address of the same `sift.toml` alone:
    what else listens on this machine may be somebody else's. Raises `NoPlace`, or `NoToken` where none can be read.
    """
    local = _Local(config, environ)
    url = url or environ.get("SIFT_URL")
    address = Address(url or local.url())
    stays_here = address.is_this_host or not url  # what serve listens on is this host, whatever it is called
    if not (address.tls or stays_here or plain_http):
        raise NoPlace(f"{address}: the token would travel in clear; use https, or say --plain-http to send it anyway")
    given = _checked(token, "the given token") if token else _given_token(token_file, environ)
    return Place(address, given or _local_token(address, local))


def _given_token(token_file: str | None, environ: Mapping[str, str]) -> str | None:
    if token_file:
        return read_token(token_file)
    if environ.get("SIFT_TOKEN"):
        return _checked(environ["SIFT_TOKEN"], "$SIFT_TOKEN")
    named = environ.get("SIFT_TOKEN_FILE")
    return read_token(named) if named else None


def _local_token(address: Address, local: _Local) -> str:
    if not local.is_at(address):
        raise NoToken(f"no token for {address}; that of the local server goes to {local.shown()} alone; {_ADVICE}")
    path = local.token_file()
    if not os.path.lexists(path):
        raise NoToken(f"no token: {path} is not there (sift serve makes it where sift.toml names no caller); {_ADVICE}")
    return read_token(path)


def read_token(path: str, *, pipe_s: float = PIPE_S) -> str:
    """The token in a file that its owner alone may read, or out of a pipe that gives it within `pipe_s`.

    Raises `NoToken`, which says what to do.
    """
    try:
        with open(path, "rb", buffering=0, opener=_open_at_once) as file:
            mode = os.fstat(file.fileno()).st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
                raise NoToken(f"the token file {path} is neither a file nor a pipe; {_ADVICE}")
            text = _read_pipe(file, pipe_s) if stat.S_ISFIFO(mode) else file.read(MAX_TOKEN_BYTES + 1)
    except (OSError, ValueError) as error:
        why = (getattr(error, "strerror", None) or "not a path").lower()
        raise NoToken(f"the token file {path} cannot be read ({why}); {_ADVICE}") from None
    if stat.S_IMODE(mode) & 0o077:
        raise NoToken(f"the token file {path} is open to others (mode {stat.S_IMODE(mode):04o}); run chmod 600 on it")
    return _checked(text.decode("latin-1"), f"the token file {path}")


def _open_at_once(path: str, flags: int) -> int:
    """As `os.open`, but a pipe that nobody writes to does not hold it up for ever."""
    return os.open(path, flags | os.O_NONBLOCK)


def _read_pipe(pipe: FileIO, within_s: float) -> bytes:
    """What comes until its end, a line's end, the most a token may be, or the end of the time."""
    import select

    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    text, ends = b"", time.monotonic() + within_s
    while len(text) <= MAX_TOKEN_BYTES and b"\n" not in text:
        if not poll.poll(max(0.0, ends - time.monotonic()) * 1000):
            raise TimeoutError(0, f"a pipe that gave nothing in {within_s:g} s")
        part = pipe.read(MAX_TOKEN_BYTES)
        if not part:
            break
        text += part
    return text


def _checked(text: str, where: str) -> str:
    token = text.strip()
    if not re.fullmatch(r"[!-~]{1,4096}", token, re.ASCII):
        raise NoToken(f"{where} holds no token: one word of printable ASCII; {_ADVICE}")
    return token


class _Local:
    """The server that `sift serve` would start here. The file is read once, and only when it is asked about."""

    def __init__(self, config: str | None, environ: Mapping[str, str]) -> None:
        self._config = config
        self._environ = environ
        self._found: Home | None = None

    def url(self) -> str:
        home = self._home()
        if not home.port:
            raise NoPlace("sift.toml: [server] port is 0, so the server's port is not known; set $SIFT_URL")
        return _url(home)

    def is_at(self, address: Address) -> bool:
        """Whether the server is what listens there. Of port 0 only the machine is known."""
        home = self._home()
        if not home.port:
            return address.is_this_host
        own = Address(_url(home))
        return (own.host, own.port) == (address.host, address.port)

    def shown(self) -> str:
        home = self._home()
        return f"{_url(home)} of sift.toml" if home.port else "this machine"

    def token_file(self) -> str:
        return os.path.join(self._home().data_dir, "token")

    def _home(self) -> Home:
        if self._found is None:
            self._found = _from_config(self._config, self._environ)
        return self._found


def _from_config(option: str | None, environ: Mapping[str, str]) -> Home:
    from sift.home import local_server  # 3 ms to import, and an environment that says all needs none of it

    try:
        return local_server(option, environ)
    except Exception as error:
        from sift.errors import ConfigError  # loaded where it was raised, and not on the way to a good answer

        if not isinstance(error, ConfigError):
            raise
        raise NoToken(f"{error}; or set $SIFT_URL, and $SIFT_TOKEN or $SIFT_TOKEN_FILE (see sift token)") from None


def _url(home: Home) -> str:
    host = _NAME_OF_ANY.get(home.host, home.host)
    return f"http://{f'[{host}]' if ':' in host else host}:{home.port}"


_NAME_OF_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  (a client turns them into this host)
