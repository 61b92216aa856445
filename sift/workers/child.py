"""What runs in a worker process: one job after another, from a pipe, with nothing within reach.

No environment, no file that could be opened, no core dump, no output; memory bounded by the kernel. What comes
back is bytes behind a mark; nothing is unpickled from here, so that a page that takes a worker over gains a
worker and no more.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import os
import resource
import signal
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection

from sift.logs import where
from sift.target import BATCH

OK = b"o"
MEMORY = b"m"
FAULT = b"f"
READY = b"r"
TAKEN = b"t"
"""Said before a job is begun: one whose worker was gone before that is given to another."""
LAST = b"L"
"""Second byte of an answer after which the worker ends by itself, to be replaced by a fresh one."""
MORE = b"-"

JOBS_A_LIFE = 500
SELF_DESTRUCT_S = 3
"""A worker ends itself so long after a job's deadline: nobody is left to do it where the server was killed."""
NICENESS = 5  # a page that takes long leaves the processor to short requests
BATCH_NICENESS = 15
"""From the first batch job on, for there is no way back; the pool keeps batches to the same workers. Measured: with all
workers alike, the p99 of a small fetch beside eight batches is 1.3 times as long."""
_PR_SET_NO_NEW_PRIVS = 38


def main(conn: Connection, preload: tuple[str, ...], memory_bytes: int) -> None:
    """Serves jobs until the other end of the pipe is closed."""
    for module in preload:
        importlib.import_module(module)
    _confine(memory_bytes)
    gc.collect()
    gc.freeze()
    conn.send_bytes(READY)
    with contextlib.suppress(EOFError, OSError):
        _serve(conn, memory_bytes)
    os._exit(0)  # no clean-up of a process that has seen hostile pages


def _confine(memory_bytes: int) -> None:
    os.environ.clear()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the server decides
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    _be_nice(NICENESS)
    _first_to_die()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    os.close(null)
    sys.setrecursionlimit(1000)
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))  # what is open stays open, nothing can be added


def _be_nice(niceness: int) -> None:
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, max(niceness, os.getpriority(os.PRIO_PROCESS, 0)))


def _first_to_die() -> None:
    """Where the host runs out of memory, a worker goes before the server does."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def _serve(conn: Connection, memory_bytes: int) -> None:
    functions: dict[str, Callable[[bytes], bytes]] = {}
    for count in range(1, JOBS_A_LIFE + 1):
        name, seconds, lane = conn.recv_bytes().decode().rsplit(" ", 2)
        payload = conn.recv_bytes()
        conn.send_bytes(TAKEN)
        signal.setitimer(signal.ITIMER_REAL, float(seconds) + SELF_DESTRUCT_S)
        if lane == BATCH:
            _be_nice(BATCH_NICENESS)
        mark, answer = _answer(functions, name, payload)
        del payload
        signal.setitimer(signal.ITIMER_REAL, 0)
        fat = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 > memory_bytes // 2
        last = count == JOBS_A_LIFE or fat or mark == MEMORY
        conn.send_bytes(mark + (LAST if last else MORE) + answer)
        if last:
            return


def _answer(functions: dict[str, Callable[[bytes], bytes]], name: str, payload: bytes) -> tuple[bytes, bytes]:
    try:
        if name not in functions:
            module, _, function = name.partition(":")
            functions[name] = getattr(importlib.import_module(module), function)
        return OK, functions[name](payload)
    except MemoryError:
        return MEMORY, b""
    except Exception as error:  # whatever a page did to a library: the worker lives, the job has failed
        return FAULT, where(error).encode()
