"""`sift serve` as a benchmark sees it: a process with as many callers as it likes, and a client that costs little.

Nothing is timed here.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

START_S = 30


def token(number: int) -> str:
    """The token of the n-th caller."""
    return f"a-token-of-the-benchmarks-{number}"


@dataclass(frozen=True)
class Serving:
    """A running server: its port, its process, its directory."""

    port: int
    pid: int
    directory: Path

    def line(self, caller: int = 0) -> Line:
        """A connection of the n-th caller's."""
        return Line(self.port, token(caller))

    def drained(self, urls: Sequence[str], caller: int = 0) -> str:
        """The id of a new job, once it has ended."""
        with self.line(caller) as line:
            job_id = line.submit([{"url": url} for url in urls])
            line.wait(job_id)
            return job_id


class Line:
    """One connection that is kept, and requests on it one after the other."""

    def __init__(self, port: int, token: str = "") -> None:
        self._sock = socket.create_connection(("127.0.0.1", port), timeout=120)
        self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._head = f"Host: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
        self._buffer = bytearray(4 << 20)

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *_: object) -> None:
        self._sock.close()

    def request(self, method: str, path: str, body: bytes = b"") -> bytes:
        """A request's bytes, to be sent by `answer` as often as wanted."""
        length = f"Content-Length: {len(body)}\r\n" if body else ""
        return f"{method} {path} HTTP/1.1\r\n{self._head}{length}\r\n".encode() + body

    def answer(self, request: bytes) -> memoryview:
        """The whole answer, head and body; good until the next one."""
        self._sock.sendall(request)
        view, had, whole = memoryview(self._buffer), 0, None
        while whole is None or had < whole:
            if had == len(view):
                view.release()
                self._buffer.extend(bytes(len(self._buffer)))
                view = memoryview(self._buffer)
            count = self._sock.recv_into(view[had:])
            assert count, "the server closed the connection"
            had += count
            if whole is None and (end := self._buffer.find(b"\r\n\r\n", 0, had)) >= 0:
                whole = end + 4 + _length(bytes(view[:end]))
        return view[:had]

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and JSON of one request."""
        raw = b"" if body is None else json.dumps(body).encode()
        found = bytes(self.answer(self.request(method, path, raw)))
        return int(found.split(b" ", 2)[1]), json.loads(found.partition(b"\r\n\r\n")[2] or b"null")

    def submit(self, targets: Sequence[dict[str, Any]]) -> str:
        """The id of a new job."""
        status, found = self.ask("POST", "/v1/batch", {"targets": list(targets), "fresh": True})
        assert status == 202, found
        return str(found["job_id"])

    def wait(self, job_id: str) -> Any:
        """The job without its results, once it has ended."""
        while True:
            status, found = self.ask("GET", f"/v1/batch/{job_id}?results=none&wait=60")
            assert status == 200, found
            if found["status"] not in ("queued", "running"):
                return found

    def fetch(self, url: str, **options: Any) -> Any:
        """The envelope of one fetch."""
        status, found = self.ask("POST", "/v1/fetch", {"url": url, **options})
        assert status == 200, found
        return found


def _length(head: bytes) -> int:
    found = head.lower().partition(b"\r\ncontent-length:")[2].partition(b"\r\n")[0]
    return int(found or 0)


@contextlib.contextmanager
def serving(site_port: int, config: str = "", *, callers: int = 9, module: str = "sift.cli") -> Iterator[Serving]:
    """A server that may dial the site, with a fresh data directory; `config` is what else its file holds.

    `module` is what is run, where it is not the command itself.
    """
    with tempfile.TemporaryDirectory(prefix="sift-bench-") as name:
        directory, port = Path(name), free_port()
        write_config(directory, port, site_port, callers=callers, config=config)
        process = started(directory, port, module)
        try:
            yield Serving(port, process.pid, directory)
        finally:
            process.terminate()
            process.wait(30)


def started(directory: Path, port: int, module: str = "sift.cli") -> subprocess.Popen[bytes]:
    """A server over a directory with a config in it, healthy."""
    command = [sys.executable, "-m", module, "serve", "--config", str(directory / "sift.toml")]
    with open(directory / "log", "a") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    _await_healthy(process, port, directory)
    return process


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def write_config(directory: Path, port: int, site_port: int, *, callers: int, config: str = "") -> None:
    """A config file for so many callers, whose server may dial the site."""
    lines = ["[server]", f"port = {port}", f'data_dir = "{directory / "data"}"', 'grace = "1s"']
    lines += ["[guard]", f'allow = ["127.0.0.0/8:{site_port}"]']
    for number in range(callers):
        digest = hashlib.sha256(token(number).encode()).hexdigest()
        lines += ["[[caller]]", f'name = "caller{number}"', f'token_sha256 = "{digest}"']
    (directory / "sift.toml").write_text("\n".join(lines) + "\n" + config)


def _await_healthy(process: subprocess.Popen[bytes], port: int, directory: Path) -> None:
    ends = time.monotonic() + START_S
    while time.monotonic() < ends and process.poll() is None:
        with contextlib.suppress(OSError, AssertionError), Line(port) as line:
            if line.ask("GET", "/healthz")[0] == 200:
                return
        time.sleep(0.05)  # between two looks at another process, which has no way to tell us
    raise SystemExit(f"the server did not start:\n{(directory / 'log').read_text()[-2000:]}")
