"""Where this host's own server is at home: its config file, found and read, and of it the address and data directory.

All that a client needs to know, so that it need not load every table; what the file may say is `config`'s to judge.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from sift.errors import ConfigError

HOST = "127.0.0.1"
PORT = 8642
MAX_FILE_BYTES = 1 << 20


class Home(NamedTuple):
    """`[server]` as far as a client needs it. `port` may be 0: any that was free when the server started."""

    host: str
    port: int
    data_dir: str


def find(option: str | None, environ: Mapping[str, str]) -> str | None:
    """The path of the config file: the option, `$SIFT_CONFIG`, `./sift.toml`, `/etc/sift/sift.toml`; `None` if none."""
    named = option or environ.get("SIFT_CONFIG")
    if named:
        return named
    return next((path for path in ("sift.toml", "/etc/sift/sift.toml") if os.path.exists(path)), None)


def local_server(option: str | None, environ: Mapping[str, str]) -> Home:
    """The home of the server that `sift serve` would start here. Raises `ConfigError`.

    Judges no other table: a key file that the service alone may read is none of a client's business.
    """
    path = find(option, environ)
    table = read_document(path).get("server", {}) if path else {}
    table = table if isinstance(table, dict) else {}
    host, port = table.get("host", HOST), table.get("port", PORT)
    data_dir = table.get("data_dir") or default_data_dir(environ)
    if not isinstance(host, str) or type(port) is not int or not isinstance(data_dir, str):
        raise _wrong(f"{os.path.basename(path or '')}: [server] is not right; sift config says what is wrong")
    return Home(host, port, data_dir)


def read_document(path: str) -> dict[str, Any]:
    """The file, parsed and not judged. Raises `ConfigError`."""
    name = os.path.basename(path) or path
    try:
        with open(path, "rb") as file:
            text = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise _wrong(f"{path}: cannot be read ({(os.strerror(error.errno or 0)).lower()})") from None
    if len(text) > MAX_FILE_BYTES:
        raise _wrong(f"{name}: over 1 MiB; this is not a config file")
    try:
        return tomllib.loads(text.decode())
    except UnicodeDecodeError:
        raise _wrong(f"{name}: not UTF-8; save it as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        place = re.search(r"\(at (line \d+, column \d+|end of document)\)", str(error))
        raise _wrong(f"{name}: not valid TOML{f' at {place[1]}' if place else ''}; mend the syntax there") from None


def _wrong(text: str) -> ConfigError:
    from sift.errors import ConfigError  # a client's start pays for the tree of errors only where there is one

    return ConfigError(text)


def default_data_dir(environ: Mapping[str, str]) -> str:
    """`$STATE_DIRECTORY` (the first, as systemd may give several), `$XDG_STATE_HOME/sift`, `~/.local/state/sift`."""
    state = environ.get("STATE_DIRECTORY", "").split(":")[0]
    if state:
        return state
    base = environ.get("XDG_STATE_HOME") or os.path.join(
        environ.get("HOME") or os.path.expanduser("~"), ".local", "state"
    )
    return os.path.join(base, "sift")
