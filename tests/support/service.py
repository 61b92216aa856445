"""The real service in this process, on a free port and a directory of its own, and a plain client for it."""

from __future__ import annotations

import dataclasses
import http.client
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sift.auth import digest_of
from sift.config import CallerConfig, Config, LogConfig, parse
from sift.logs import Log
from sift.server import Server, build

TOKENS = {"alice": "alice-token", "bob": "bob-token", "vault": "vault-token"}


@dataclasses.dataclass(frozen=True)
class Reply:
    """An answer: status, lower-case headers, the bytes, and the JSON in them."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def config_of(directory: Path, document: Mapping[str, Any] | None = None) -> Config:
    """A config with the callers of `TOKENS` (`vault` is restricted); `document` is as in `sift.toml`."""
    found = parse(dict(document or {}), None, {"HOME": str(directory)})
    callers = [
        CallerConfig(name, (digest_of(token),), "restricted" if name == "vault" else "standard")
        for name, token in TOKENS.items()
    ]
    server = dataclasses.replace(found.server, port=0, data_dir=str(directory / "data"))
    return dataclasses.replace(found, server=server, callers=tuple(callers))


class Service:
    """A started server; `close` stops it. `log` is all that it has written."""

    def __init__(self, config: Config, **inject: Any) -> None:
        self.log = io.StringIO()
        self.config = config
        self.server: Server = build(config, log=Log(LogConfig(level="debug"), self.log), **inject)
        self.server.start()
        self._closed = False

    def close(self, grace_s: float = 5.0) -> None:
        if not self._closed:
            self._closed = True
            self.server.stop(grace_s)

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        caller: str | None = "alice",
        headers: Mapping[str, str] | None = None,
        timeout_s: float = 70,
    ) -> Reply:
        """One request on a connection of its own; `body` is JSON, or bytes as they are."""
        host, port = self.server.address
        connection = http.client.HTTPConnection(host, port, timeout=timeout_s)
        sent = dict(headers or {})
        if caller is not None:
            sent["Authorization"] = f"Bearer {TOKENS.get(caller, caller)}"
        raw = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        try:
            connection.request(method, path, raw, sent)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, found, answer.read())
        finally:
            connection.close()

    def fetch(self, url: str, *, caller: str = "alice", **options: Any) -> Reply:
        return self.ask("POST", "/v1/fetch", {"url": url, **options}, caller=caller)

    def submit(self, *urls: str, caller: str = "alice", fresh: bool = False) -> Reply:
        return self.ask("POST", "/v1/batch", {"targets": [{"url": url} for url in urls], "fresh": fresh}, caller=caller)

    def wait(self, job_id: str, *, caller: str = "alice") -> Any:
        """The status body once the job has ended."""
        while True:
            body = self.ask("GET", f"/v1/batch/{job_id}?wait=30", caller=caller).json
            if body["status"] not in ("queued", "running"):
                return body


__all__ = ["TOKENS", "Reply", "Service", "config_of"]
