"""Checks and shows `sift.toml`, which `home` finds and reads; nobody else looks at file or environment.

Every mistake is a `ConfigError` of one line that names file, table, key, and what it takes.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from sift.config.tables import LIVE_TABLES, TABLES, CallerConfig, Config
from sift.errors import ConfigError
from sift.home import default_data_dir, find, read_document

MOST_SECRET_CHARS = 4096
WAITERS = 12
"""Threads beyond the global slots: 8 fetches that wait at gates and 4 long polls."""


def load(option: str | None, environ: Mapping[str, str]) -> Config:
    """The config in force; the defaults where there is no file. Raises `ConfigError`."""
    path = find(option, environ)
    document = read_document(path) if path else {}
    return parse(document, path, environ)


def parse(document: Mapping[str, Any], path: str | None, environ: Mapping[str, str]) -> Config:
    """The checked config of a parsed file. `path` gives the messages their first word."""
    name = os.path.basename(path) if path else "defaults"
    known = [*TABLES, "caller"]
    for table, value in document.items():
        if table not in known and not isinstance(value, dict | list):
            raise ConfigError(f"{name}: unknown key {table} outside of any table; tables: {', '.join(sorted(known))}")
        if table not in known:
            raise ConfigError(f"{name}: unknown table [{table}]; known: {', '.join(sorted(known))}")
    tables = {table: _table(name, f"[{table}]", kind, document.get(table, {})) for table, kind in TABLES.items()}
    if not tables["server"].data_dir:
        tables["server"] = dataclasses.replace(tables["server"], data_dir=default_data_dir(environ))
    config = Config(**tables, callers=_callers(name, document.get("caller", [])), path=path)
    _check_together(name, config)
    return config


def _table(name: str, table: str, kind: type, values: Any) -> Any:
    if not isinstance(values, dict):
        raise ConfigError(f"{name}: {table} must be a table of keys")
    fields = {f.metadata["key"]: f for f in dataclasses.fields(kind)}
    found = {}
    for key, value in values.items():
        if key not in fields:
            raise ConfigError(f"{name}: {table} unknown key {key}; known: {', '.join(sorted(fields))}")
        takes = fields[key].metadata["kind"]
        try:
            found[fields[key].name] = takes.read(value)
        except (ValueError, OverflowError):
            raise ConfigError(f"{name}: {table} {key}: {_found(key, value)}; it takes {takes.takes}") from None
    return kind(**found)


def _found(key: str, value: Any) -> str:
    """What was found, short. Of a token's digest nothing is repeated: it may be the token, put in by mistake."""
    if key.startswith("token"):
        return "not a SHA-256 in hex"
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return f"found {text if len(text) <= 60 else text[:57] + '...'}"


def _callers(name: str, blocks: Any) -> tuple[CallerConfig, ...]:
    if not isinstance(blocks, list):
        raise ConfigError(f"{name}: caller must be written as [[caller]], one block each")
    callers: list[CallerConfig] = []
    for number, block in enumerate(blocks, 1):
        callers.append(_caller(name, f"[[caller]] {number}", block))
    names = [caller.name for caller in callers]
    digests = [digest for caller in callers for digest in caller.token_sha256]
    for number, caller in enumerate(callers, 1):
        if names.count(caller.name) > 1:
            raise ConfigError(f"{name}: [[caller]] {number} name: {caller.name!r} is there twice; each takes its own")
        if any(digests.count(digest) > 1 for digest in caller.token_sha256):
            raise ConfigError(f"{name}: [[caller]] {number} token_sha256: a token is there twice; each takes its own")
    return tuple(callers)


def _caller(name: str, table: str, block: Any) -> CallerConfig:
    caller: CallerConfig = _table(name, table, CallerConfig, block)
    for key in ("name", "token_sha256"):
        if key not in block:
            raise ConfigError(f"{name}: {table} {key}: missing; sift token NAME prints a whole block")
    return dataclasses.replace(caller, token_sha256=tuple(digest.lower() for digest in caller.token_sha256))


def _check_together(name: str, config: Config) -> None:
    gate, threads = config.gate, config.server.threads
    if gate.reserve >= gate.global_:
        raise ConfigError(
            f"{name}: [gate] reserve: found {gate.reserve}; it takes less than [gate] global ({gate.global_})"
        )
    if threads < gate.global_ + WAITERS:
        least = gate.global_ + WAITERS
        raise ConfigError(
            f"{name}: [server] threads: found {threads}; it takes at least {least}, [gate] global + {WAITERS}"
        )
    for service in ("llm", "embed"):
        if getattr(config.digest, f"{service}_url") and not getattr(config.digest, f"{service}_model"):
            raise ConfigError(f"{name}: [digest] {service}_model: missing; {service}_url takes a model beside it")


def read_secret(path: str) -> str:
    """The key that a key file holds, without the line's end. Raises `ConfigError`."""
    try:
        with open(path, encoding="ascii") as file:
            secret = file.read(MOST_SECRET_CHARS).strip()
    except (OSError, UnicodeDecodeError):
        raise ConfigError(f"{path}: not a key file that can be read; it takes one line of ASCII") from None
    if not secret.isprintable() or not secret:
        raise ConfigError(f"{path}: not one line with a key")
    return secret


def is_loopback(host: str) -> bool:
    """Whether only this host can reach a server that listens on `host`."""
    return host == "localhost" or host == "::1" or bool(re.fullmatch(r"127\.\d{1,3}\.\d{1,3}\.\d{1,3}", host, re.ASCII))


def check_callers(config: Config, hosts: Sequence[str]) -> None:
    """Raises `ConfigError` where others than this host could ask, and nobody was named who may."""
    for host in hosts:
        if not config.callers and not is_loopback(host):
            raise ConfigError(
                f"[server] host {host} is open to others and there is no [[caller]]; "
                "sift token NAME prints a block for one"
            )


def show(config: Config) -> str:
    """The config in force, as TOML that reads back to the same; unset keys are comments, digests are left out."""
    blocks = [_show_table(f"[{table}]", getattr(config, table), ()) for table in TABLES]
    blocks += [_show_table("[[caller]]", caller, ("token_sha256",)) for caller in config.callers]
    return "\n\n".join(blocks) + "\n"


def _show_table(head: str, table: Any, withheld: tuple[str, ...]) -> str:
    lines = [head]
    for f in dataclasses.fields(table):
        key, value = f.metadata["key"], getattr(table, f.name)
        if key in withheld:
            lines.append(f"# {key}: {len(value)} set, not shown")
        elif isinstance(value, str) and key.endswith("url") and "?" in value:
            lines.append(f"{key} = {f.metadata['kind'].show(value.partition('?')[0])}  # its query is not shown")
        elif value is None:
            lines.append(f"# {key} is unset")
        else:
            lines.append(f"{key} = {f.metadata['kind'].show(value)}")
    return "\n".join(lines)


def need_restart(old: Config, new: Config) -> list[str]:
    """The changed keys that a reload cannot put in force, as `[table] key`."""
    changed = []
    for table, kind in TABLES.items():
        for f in dataclasses.fields(kind):
            if getattr(getattr(old, table), f.name) != getattr(getattr(new, table), f.name):
                changed.append((table, f.metadata["key"]))
    return [
        f"[{table}] {key}" for table, key in changed if table not in LIVE_TABLES and (table, key) != ("log", "level")
    ]
