"""The tables of `sift.toml` as frozen dataclasses: every key, its default and what it takes, written once.

Reading files is `load`'s; nothing here looks at the environment.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from sift import __version__
from sift.config.kinds import Allow, AllowEntry, Choice, Duration, FilePath, Flag, Kind, ListOf, Size, Text, Whole
from sift.home import HOST, PORT

MIB = 1 << 20
MOST_BUNDLE_BYTES = 16 * MIB
HTTP_URL = Text(
    "an http or https URL without user info; a key belongs into a key file",
    r"https?://[^\s/?#@\x00-\x1f\x7f]+(?:[/?#][^\s\x00-\x1f\x7f]*)?",
)


def _readable(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.R_OK)


def _holds_certificates(path: str) -> bool:
    if not _readable(path):
        return False
    with open(path, "rb") as file:
        return b"-----BEGIN CERTIFICATE-----" in file.read(MOST_BUNDLE_BYTES)


def key(name: str, kind: Kind, default: Any) -> Any:
    """A field that stands under `name` in the file."""
    return field(default=default, metadata={"key": name, "kind": kind})


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """`data_dir` is `None` in the defaults; `load` fills it from the environment."""

    host: str = key("host", Text("an address or a host name", r"[A-Za-z0-9.:_\-]+"), HOST)
    port: int = key("port", Whole(0, 65535), PORT)
    threads: int = key("threads", Whole(1, 1024), 24)
    data_dir: str = key("data_dir", Text("the path of a directory"), "")
    grace_s: float = key("grace", Duration(), 10.0)


@dataclass(frozen=True, slots=True)
class CallerConfig:
    """One `[[caller]]`: `token_sha256` holds lower-case hex digests, one or more."""

    name: str = key("name", Text("1 to 64 of a-z, 0-9, '.', '_', '-'", r"[a-z0-9][a-z0-9._-]{0,63}"), None)
    token_sha256: tuple[str, ...] = key(
        "token_sha256", ListOf(Text("64 hex digits (sift token NAME prints them)", r"[0-9a-fA-F]{64}"), 1, True), ()
    )
    caller_class: str = key("class", Choice(("standard", "restricted")), "standard")


@dataclass(frozen=True, slots=True)
class GuardConfig:
    ports: tuple[int, ...] = key("ports", ListOf(Whole(1, 65535), least=1), (80, 443))
    allow: tuple[Allow, ...] = key("allow", ListOf(AllowEntry()), ())
    nat64: bool = key("nat64", Flag(), False)


@dataclass(frozen=True, slots=True)
class GateConfig:
    """Slots: `global_`, `per_host`, `per_caller` (interactive), `reserve` (global slots that batches leave free)."""

    global_: int = key("global", Whole(1, 512), 8)
    per_host: int = key("per_host", Whole(1, 512), 2)
    per_caller: int = key("per_caller", Whole(1, 512), 4)
    reserve: int = key("reserve", Whole(0, 511), 2)
    wait_s: float = key("wait", Duration(), 2.0)


@dataclass(frozen=True, slots=True)
class FetchConfig:
    timeout_s: float = key("timeout", Duration(above=True), 30.0)
    connect_timeout_s: float = key("connect_timeout", Duration(above=True), 5.0)
    max_bytes: int = key("max_bytes", Size(1), 20 * MIB)
    max_redirects: int = key("max_redirects", Whole(0, 100), 10)
    user_agent: str = key("user_agent", Text("printable ASCII", r"[\x20-\x7e]{1,500}"), f"sift/{__version__}")
    output_cap_bytes: int = key("output_cap", Size(1), 256 << 10)
    ca_file: str | None = key(
        "ca_file", FilePath(_holds_certificates, "the path of a readable bundle of certificates in PEM"), None
    )


@dataclass(frozen=True, slots=True)
class WorkersConfig:
    count: int = key("count", Whole(1, 64), 2)
    timeout_s: float = key("timeout", Duration(above=True), 20.0)
    memory_bytes: int = key("memory", Size(256 * MIB), 1536 * MIB)


@dataclass(frozen=True, slots=True)
class CacheConfig:
    ttl_s: float = key("ttl", Duration(), 900.0)
    max_bytes: int = key("max_bytes", Size(), 256 * MIB)


@dataclass(frozen=True, slots=True)
class DigestConfig:
    """With no URL set, digests are extractive and nothing leaves the host."""

    max_chars: int = key("max_chars", Whole(100, 1_000_000), 4000)
    timeout_s: float = key("timeout", Duration(above=True), 20.0)
    llm_url: str | None = key("llm_url", HTTP_URL, None)
    llm_model: str | None = key("llm_model", Text(), None)
    llm_key_file: str | None = key("llm_key_file", FilePath(_readable), None)
    embed_url: str | None = key("embed_url", HTTP_URL, None)
    embed_model: str | None = key("embed_model", Text(), None)
    embed_key_file: str | None = key("embed_key_file", FilePath(_readable), None)
    restricted: bool = key("restricted", Flag(), False)


@dataclass(frozen=True, slots=True)
class RecoverConfig:
    url: str = key("url", HTTP_URL, "https://web.archive.org")
    restricted: bool = key("restricted", Flag(), False)


@dataclass(frozen=True, slots=True)
class BatchConfig:
    targets_per_job: int = key("targets_per_job", Whole(1, 10_000), 32)
    jobs_per_caller: int = key("jobs_per_caller", Whole(1, 256), 1)
    jobs_total: int = key("jobs_total", Whole(1, 256), 8)
    ttl_s: float = key("ttl", Duration(1.0), 86400.0)
    max_bytes: int = key("max_bytes", Size(), 64 * MIB)


@dataclass(frozen=True, slots=True)
class LogConfig:
    level: str = key("level", Choice(("debug", "info", "warning", "error")), "info")
    format: str = key("format", Choice(("text", "json")), "text")


@dataclass(frozen=True, slots=True)
class Config:
    """The whole file. `path` is where it came from, `None` where there was none."""

    server: ServerConfig = ServerConfig()
    callers: tuple[CallerConfig, ...] = ()
    guard: GuardConfig = GuardConfig()
    gate: GateConfig = GateConfig()
    fetch: FetchConfig = FetchConfig()
    workers: WorkersConfig = WorkersConfig()
    cache: CacheConfig = CacheConfig()
    digest: DigestConfig = DigestConfig()
    recover: RecoverConfig = RecoverConfig()
    batch: BatchConfig = BatchConfig()
    log: LogConfig = LogConfig()
    path: str | None = None


TABLES: dict[str, type] = {
    "server": ServerConfig,
    "guard": GuardConfig,
    "gate": GateConfig,
    "fetch": FetchConfig,
    "workers": WorkersConfig,
    "cache": CacheConfig,
    "digest": DigestConfig,
    "recover": RecoverConfig,
    "batch": BatchConfig,
    "log": LogConfig,
}
LIVE_TABLES = ("callers", "gate", "batch")
"""What a reload changes at once, beside `[log] level`."""
