"""The config: frozen dataclasses, one a table of `sift.toml`, and the one reader of file and environment.

A default is written here or nowhere.
"""

from sift.config.kinds import Allow
from sift.config.load import check_callers, is_loopback, load, need_restart, parse, read_secret, show
from sift.config.tables import (
    BatchConfig,
    CacheConfig,
    CallerConfig,
    Config,
    DigestConfig,
    FetchConfig,
    GateConfig,
    GuardConfig,
    LogConfig,
    RecoverConfig,
    ServerConfig,
    WorkersConfig,
)
from sift.home import default_data_dir, find

__all__ = [
    "Allow",
    "BatchConfig",
    "CacheConfig",
    "CallerConfig",
    "Config",
    "DigestConfig",
    "FetchConfig",
    "GateConfig",
    "GuardConfig",
    "LogConfig",
    "RecoverConfig",
    "ServerConfig",
    "WorkersConfig",
    "check_callers",
    "default_data_dir",
    "find",
    "is_loopback",
    "load",
    "need_restart",
    "parse",
    "read_secret",
    "show",
]
