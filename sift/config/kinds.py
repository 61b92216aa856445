"""What a config value may be: each kind reads a TOML value, says what it takes, and shows a value again.

No table, no key and no default is known here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any, Protocol

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", re.ASCII)
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)(B|KiB|MiB|GiB)", re.ASCII)
_BYTES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_NAME = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*\.?", re.ASCII)


class Kind(Protocol):
    """One sort of value. `takes` completes the sentence "this key takes …"."""

    @property
    def takes(self) -> str: ...

    def read(self, value: Any) -> Any:
        """The typed value; raises ValueError where `value` is not what this kind takes."""

    def show(self, value: Any) -> str:
        """`value` as TOML, so that `read` gives it back."""


def quoted(text: str) -> str:
    """A TOML basic string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\u{ord(c):04X}" for c in escaped) + '"'


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number within bounds."""

    least: int
    most: int

    @property
    def takes(self) -> str:
        return f"a whole number from {self.least} to {self.most}"

    def read(self, value: Any) -> int:
        if type(value) is not int or not self.least <= value <= self.most:
            raise ValueError
        return value

    def show(self, value: int) -> str:
        return str(value)


@dataclass(frozen=True, slots=True)
class Flag:
    """true or false."""

    takes: str = "true or false"

    def read(self, value: Any) -> bool:
        if type(value) is not bool:
            raise ValueError
        return value

    def show(self, value: bool) -> str:
        return str(value).lower()


@dataclass(frozen=True, slots=True)
class Duration:
    """Seconds, from a string such as "15m" or a bare number; at least `least` seconds, at most a hundred years."""

    least: float = 0.0
    above: bool = False

    @property
    def takes(self) -> str:
        bound = f" above {_spell(self.least, _SECONDS)}" if self.above else ""
        return f'a duration{bound or f" of at least {_spell(self.least, _SECONDS)}"}, such as "30s", "15m" or "24h"'

    def read(self, value: Any) -> float:
        seconds = _measure(value, _DURATION, _SECONDS)
        if seconds < self.least or seconds > 100 * 365 * 86400 or (self.above and seconds == self.least):
            raise ValueError
        return seconds

    def show(self, value: float) -> str:
        return quoted(_spell(value, _SECONDS))


@dataclass(frozen=True, slots=True)
class Size:
    """Bytes, from a string such as "64MiB" or a bare number."""

    least: int = 0

    @property
    def takes(self) -> str:
        return f'a size of at least {_spell(self.least, _BYTES)}, such as "256KiB" or "64MiB"'

    def read(self, value: Any) -> int:
        size = int(_measure(value, _SIZE, _BYTES))
        if not self.least <= size <= 1 << 50:
            raise ValueError
        return size

    def show(self, value: int) -> str:
        return quoted(_spell(value, _BYTES))


def _measure(value: Any, pattern: re.Pattern[str], units: dict[str, float] | dict[str, int]) -> float:
    if isinstance(value, str) and (match := pattern.fullmatch(value)):
        return float(match[1]) * units[match[2]]
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return value
    raise ValueError


def _spell(value: float, units: dict[str, float] | dict[str, int]) -> str:
    """The value in the largest unit that divides it."""
    for unit, factor in sorted(units.items(), key=lambda item: -item[1]):
        count = value / factor
        if unit != "d" and count >= 1 and count == int(count):
            return f"{int(count)}{unit}"
    smallest = min(units, key=lambda unit: units[unit])
    return f"{value:g}s" if "s" in units else f"{int(value)}{smallest}"


@dataclass(frozen=True, slots=True)
class Text:
    """A string on one line; `pattern` narrows it, `what` says to what."""

    what: str = "a string on one line"
    pattern: str = r"[^\x00-\x1f\x7f]+"

    @property
    def takes(self) -> str:
        return self.what

    def read(self, value: Any) -> str:
        if not isinstance(value, str) or not re.fullmatch(self.pattern, value, re.ASCII):
            raise ValueError
        return value

    def show(self, value: str) -> str:
        return quoted(value)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words."""

    words: tuple[str, ...]

    @property
    def takes(self) -> str:
        return "one of " + ", ".join(f'"{word}"' for word in self.words)

    def read(self, value: Any) -> str:
        if value not in self.words or not isinstance(value, str):
            raise ValueError
        return value

    def show(self, value: str) -> str:
        return quoted(value)


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of one kind; `least` entries and more, none twice. With `bare`, one value stands for a list of it."""

    kind: Kind
    least: int = 0
    bare: bool = False

    @property
    def takes(self) -> str:
        return f"a list, each entry {self.kind.takes}"

    def read(self, value: Any) -> tuple[Any, ...]:
        if self.bare and not isinstance(value, list):
            value = [value]
        if not isinstance(value, list) or len(value) < self.least:
            raise ValueError
        entries = tuple(self.kind.read(entry) for entry in value)
        if len(set(entries)) < len(entries):
            raise ValueError
        return entries

    def show(self, value: tuple[Any, ...]) -> str:
        return "[" + ", ".join(self.kind.show(entry) for entry in value) + "]"


@dataclass(frozen=True, slots=True)
class Allow:
    """An exception that the operator makes for a host of his own: a network or a name, and a port of it.

    Exactly one of `network` and `name` is set; the name is lower case, without a trailing dot.
    `port` `None` stands for the ports of `[guard] ports`.
    """

    network: IPv4Network | IPv6Network | None
    name: str | None
    port: int | None


@dataclass(frozen=True, slots=True)
class AllowEntry:
    """`"CIDR"`, `"CIDR:port"`, `"[fd00::/8]:8080"`, `"wiki.internal"` or `"wiki.internal:8080"`."""

    takes: str = 'such as "10.1.2.0/24", "10.1.2.3:8080", "[fd00::/8]:8080", "wiki.internal" or "wiki.internal:8080"'

    def read(self, value: Any) -> Allow:
        if not isinstance(value, str):
            raise ValueError
        if network := _network(value):
            return Allow(network, None, None)
        host, colon, digits = value.rpartition(":")
        if not colon:
            host, port = value, None
        else:
            port = Whole(1, 65535).read(int(digits) if re.fullmatch(r"[0-9]{1,5}", digits, re.ASCII) else None)
        bracketed = host.startswith("[") and host.endswith("]")
        if network := _network(host[1:-1] if bracketed else host):
            if bracketed != (network.version == 6):
                raise ValueError
            return Allow(network, None, port)
        name = host.lower().removesuffix(".")
        if not _NAME.fullmatch(name) or name.rpartition(".")[2].isdigit():
            raise ValueError
        return Allow(None, name, port)

    def show(self, value: Allow) -> str:
        host = value.name or str(value.network)
        if value.network is not None and value.network.version == 6 and value.port:
            host = f"[{host}]"
        return quoted(f"{host}:{value.port}" if value.port else host)


def _network(text: str) -> IPv4Network | IPv6Network | None:
    """A CIDR or a single address; host bits set are a mistake that the operator should see."""
    try:
        return ip_network(text)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class FilePath:
    """A file that exists and can be read when the config is checked."""

    is_good: Callable[[str], bool]
    takes: str = "the path of a readable file"

    def read(self, value: Any) -> str:
        if not isinstance(value, str) or "\0" in value or not self.is_good(value):
            raise ValueError
        return value

    def show(self, value: str) -> str:
        return quoted(value)
