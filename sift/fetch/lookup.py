"""Names to addresses, in a bounded pool of threads: the system's resolver knows no timeout.

No address is judged here.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import SimpleQueue

from sift.clock import Deadline
from sift.errors import Unreachable
from sift.fetch.patience import slice_s

Resolve = Callable[[str, int], list[str]]
"""`resolve(host, port)`: every address of the name as text; `[]` or OSError where there is none."""

MOST_THREADS = 16
CLOSE_S = 1.0


def system_resolve(host: str, port: int) -> list[str]:
    """What the system's resolver says, in its order of preference."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return [str(sockaddr[0]) for *_, sockaddr in found]


@dataclass(slots=True, eq=False)
class _Question:
    host: str
    port: int
    done: threading.Event = field(default_factory=threading.Event)
    addresses: list[str] = field(default_factory=list)
    failed: bool = False
    given_up: bool = False


class Lookups:
    """Asks `resolve`, one question a thread.

    Threads: `sift-lookup-1` to `-16`, daemons, started when there is a question and none is idle. They call
    `resolve` and touch nothing but their question. They stop at `close`; one that hangs inside the system's
    resolver ends with it, or with the process.
    """

    def __init__(self, resolve: Resolve = system_resolve, most_threads: int = MOST_THREADS) -> None:
        self._resolve = resolve
        self._most_threads = most_threads
        self._questions: SimpleQueue[_Question | None] = SimpleQueue()
        self._lock = threading.Lock()  # guards _threads, _open and _closed
        self._threads: list[threading.Thread] = []
        self._open = 0
        self._closed = False

    def addresses(self, host: str, port: int, deadline: Deadline) -> list[str]:
        """Every address of the name, at least one. Raises TimedOut, Cancelled, Unreachable."""
        question = _Question(host, port)
        self._put(question)
        try:
            while not question.done.wait(slice_s(deadline)):
                pass
        finally:
            question.given_up = True
        if question.failed or not question.addresses:
            raise Unreachable("the name does not resolve")
        return question.addresses

    def close(self) -> None:
        """Lets the threads end; waits a second at most for those that are in the midst of a question."""
        with self._lock:
            self._closed = True
            threads, self._threads = self._threads, []
        for _ in threads:
            self._questions.put(None)
        for thread in threads:
            thread.join(CLOSE_S / len(threads))

    def _put(self, question: _Question) -> None:
        with self._lock:
            if self._closed:
                raise Unreachable("Sift is stopping")
            self._open += 1
            if self._open > len(self._threads) and len(self._threads) < self._most_threads:
                name = f"sift-lookup-{len(self._threads) + 1}"
                thread = threading.Thread(target=self._work, name=name, daemon=True)
                self._threads.append(thread)
                thread.start()
        self._questions.put(question)

    def _work(self) -> None:
        while (question := self._questions.get()) is not None:
            if not question.given_up:
                self._answer(question)
            with self._lock:
                self._open -= 1

    def _answer(self, question: _Question) -> None:
        try:
            question.addresses = self._resolve(question.host, question.port)
        except (OSError, UnicodeError):
            question.failed = True
        except Exception:  # an injected resolver's fault must not leave the asker waiting, nor end the thread
            question.failed = True
        question.done.set()
