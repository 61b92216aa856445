"""The server of the soak as a process that is killed and started anew on the same port and directory."""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sift.auth import digest_of
from tests.support.process import children

CALLERS = tuple(f"caller-{number}" for number in range(8))


@dataclass(frozen=True)
class Size:
    """What a server process has at one moment, its workers' memory included."""

    at_s: float
    life: int
    resident_mib: float
    workers_mib: float
    threads: int
    descriptors: int


class Server:
    """One server at a time. `lives` counts the processes that there have been."""

    def __init__(self, directory: Path, site_port: int) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = int(free.getsockname()[1])
        self.log = directory / "log"
        self._site_port = site_port
        self._file = directory / "sift.toml"
        blocks = "".join(f"[[caller]]\nname = '{name}'\ntoken_sha256 = '{digest_of(name)}'\n" for name in CALLERS)
        self._file.write_text(
            f"[server]\nport = {self.port}\ndata_dir = '{directory / 'data'}'\n"
            "[fetch]\ntimeout = '2s'\nmax_bytes = '4MiB'\n[workers]\ntimeout = '3s'\nmemory = '384MiB'\n"
            f"[batch]\nmax_bytes = '4GiB'\njobs_per_caller = 2\njobs_total = 16\n{blocks}"
        )
        self.lives = 0
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "tests.support.serve_world", str(self._file), str(self._site_port)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        self.lives += 1
        while not self._answers():
            assert self.process.poll() is None, self.log.read_text()[-2000:]
            time.sleep(0.05)

    def kill(self) -> None:
        """`kill -9`, and a new one once the workers of the old one are gone."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.start()

    def kill_worker(self, random_: random.Random) -> bool:
        """`kill -9` of one worker process, whatever it is at."""
        workers = [pid for child in children(self.process.pid) for pid in children(child)]
        if workers:
            os.kill(random_.choice(workers), signal.SIGKILL)
        return bool(workers)

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(30)

    def size(self, began_s: float) -> Size | None:
        """What the process has now; `None` where there is none to look at."""
        pid = self.process.pid
        try:
            below = [pid for child in children(pid) for pid in children(child)]
            return Size(
                round(time.monotonic() - began_s, 1),
                self.lives,
                _status(pid, "VmRSS") / 1024,
                sum(_status(worker, "VmRSS") for worker in below) / 1024,
                int(_status(pid, "Threads")),
                len(os.listdir(f"/proc/{pid}/fd")),
            )
        except (OSError, IndexError):
            return None

    def ask(self, method: str, path: str, body: Any = None, *, caller: str = "") -> tuple[int, Any]:
        """Status and JSON of one request; raises OSError or HTTPException where the server was killed meanwhile."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=70)
        try:
            raw = None if body is None else json.dumps(body)
            connection.request(method, path, raw, {"Authorization": f"Bearer {caller}"})
            answer = connection.getresponse()
            data = answer.read()
            return answer.status, data if path == "/metrics" else json.loads(data or b"null")
        finally:
            connection.close()

    def _answers(self) -> bool:
        try:
            return self.ask("GET", "/healthz")[0] == 200
        except (OSError, http.client.HTTPException):
            return False


class Killer:
    """Threads: one that kills, workers every second or two, the server every quarter of a minute, until `stop`."""

    def __init__(self, server: Server, seed: int) -> None:
        self._server = server
        self._random = random.Random(seed)
        self._stopped = threading.Event()
        self.workers_killed = 0
        self._thread = threading.Thread(target=self._run, name="killer")
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        next_s = time.monotonic() + self._random.uniform(8, 20)
        while not self._stopped.wait(self._random.uniform(0.5, 2.5)):
            if time.monotonic() > next_s:
                self._server.kill()
                next_s = time.monotonic() + self._random.uniform(8, 20)
            else:
                self.workers_killed += self._server.kill_worker(self._random)


def _status(pid: int, name: str) -> float:
    return float(Path(f"/proc/{pid}/status").read_text().partition(f"\n{name}:")[2].split()[0])
