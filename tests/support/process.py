"""`sift serve` as a process of its own."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

STARTED = re.compile(r"started version=\S+ host=(\S+) port=(\d+)")


class Process:
    """A server process in `directory`, on a free port. Threads: one that reads its log until it ends."""

    def __init__(self, directory: Path, config: str = "", *, environ: Mapping[str, str] | None = None) -> None:
        self.directory = directory
        self.file = directory / "sift.toml"
        self.data_dir = directory / "data"
        self.write_config(config)
        self.lines: list[str] = []
        self.started = threading.Event()
        self.port = 0
        command = [sys.executable, "-m", "sift.cli", "serve", "--config", str(self.file)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, **(environ or {})}
        )
        self._reader = threading.Thread(target=self._read, name="server-log", daemon=True)
        self._reader.start()

    def write_config(self, config: str) -> None:
        """Writes the config file; tables `[server]` of `config` come as they are."""
        server = "" if "[server]" in config else f'[server]\nport = 0\ndata_dir = "{self.data_dir}"\n'
        self.file.write_text(server + config)

    def wait_started(self) -> Process:
        assert self.started.wait(20), self.lines
        assert self.port, self.lines
        return self

    @property
    def token(self) -> str:
        return (self.data_dir / "token").read_text().strip()

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and JSON of one request as the caller `local`."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=40)
        try:
            connection.request(
                method, path, None if body is None else json.dumps(body), {"Authorization": f"Bearer {self.token}"}
            )
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"null")
        finally:
            connection.close()

    def children(self) -> list[int]:
        """All processes below this one."""
        return _below(self.process.pid)

    def kill(self) -> None:
        """`kill -9`, and waits for the end."""
        self.process.kill()
        self.process.wait(10)
        self._reader.join(10)

    def end(self, number: int = signal.SIGTERM, timeout_s: float = 20) -> int:
        """Sends a signal; the exit status."""
        self.process.send_signal(number)
        status = self.process.wait(timeout_s)
        self._reader.join(10)
        return status

    def close(self) -> None:
        if self.process.poll() is None:
            self.kill()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            if found := STARTED.search(line):
                self.port = int(found[2])
                self.started.set()
        self.started.set()


def children(pid: int) -> list[int]:
    """The direct children of a process."""
    text = "".join(path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children"))
    return [int(word) for word in text.split()]


def _below(pid: int) -> list[int]:
    found: list[int] = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            child = int(path.parent.name)
            found += [child, *_below(child)]
    return found


def alive(pids: Sequence[int]) -> list[int]:
    """Those of `pids` that still run; a zombie does not."""
    living = []
    for pid in pids:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state != "Z":
            living.append(pid)
    return living
