"""Eight callers whose batches drain, each from a host of its own: a process beside the one that measures.

    python -m tests.bench.load PORT SITE_PORT

For every line on its standard input it submits eight batches of 32 pages, says "draining", and says "done" when the
first of them has ended.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from tests.bench.serving import Line, token

CALLERS = 8
PAGES = 32


@dataclass(frozen=True)
class Load:
    """The process; between `begin` and `is_over` the batches drain."""

    process: subprocess.Popen[str]

    def begin(self) -> None:
        """Returns once all are live."""
        self._say("begin")
        assert self._heard() == "draining"

    def end(self) -> None:
        """Cancels what is left; returns once nothing of it runs."""
        self._say("end")
        assert self._heard() == "ended"

    def _say(self, word: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()

    def _heard(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()


@contextlib.contextmanager
def load(port: int, site_port: int) -> Iterator[Load]:
    """The process, idle."""
    command = [sys.executable, "-m", "tests.bench.load", str(port), str(site_port)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Load(process)
        process.communicate()


def main() -> None:
    """Serves until its input ends. The callers are those from the second on."""
    port, site_port = int(sys.argv[1]), int(sys.argv[2])
    lines = [Line(port, token(number + 1)) for number in range(CALLERS)]
    jobs: list[str] = []
    rounds = count()
    for word in sys.stdin:
        if word.strip() == "begin":
            at = next(rounds)
            jobs = [line.submit(_targets(site_port, number, at)) for number, line in enumerate(lines)]
            print("draining", flush=True)
        else:
            for line, job_id in zip(lines, jobs, strict=True):
                line.ask("DELETE", f"/v1/batch/{job_id}")
            for line, job_id in zip(lines, jobs, strict=True):
                while line.ask("GET", f"/v1/batch/{job_id}?results=none")[1]["counts"]["running"]:
                    pass
            print("ended", flush=True)


def _targets(site_port: int, number: int, at: int) -> list[dict[str, str]]:
    host = f"127.0.0.{number + 2}"
    return [{"url": f"http://{host}:{site_port}/page/{page}?{at}"} for page in range(PAGES)]


if __name__ == "__main__":
    main()
