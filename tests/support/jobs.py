"""Jobs for worker processes under test: bytes to bytes, well-behaved and not."""

import ctypes
import os
import signal


def echo(payload: bytes) -> bytes:
    return payload


def pid(payload: bytes) -> bytes:
    return str(os.getpid()).encode()


def niceness(payload: bytes) -> bytes:
    return str(os.getpriority(os.PRIO_PROCESS, 0)).encode()


def environment(payload: bytes) -> bytes:
    getenv = ctypes.CDLL(None).getenv
    getenv.restype = ctypes.c_char_p
    with_c = getenv(b"PATH")
    return repr((dict(os.environ), with_c)).encode()


def open_file(payload: bytes) -> bytes:
    with open(payload.decode(), "rb") as file:
        return file.read()


def spin(payload: bytes) -> bytes:
    while True:
        pass


def hoard(payload: bytes) -> bytes:
    kept = []
    while True:
        kept.append(bytes(1 << 24))


def abort(payload: bytes) -> bytes:
    os.abort()


def kill_self(payload: bytes) -> bytes:
    os.kill(os.getpid(), signal.SIGKILL)
    return b""


def alarm(payload: bytes) -> bytes:
    os.kill(os.getpid(), signal.SIGALRM)
    return b""


def stop_self(payload: bytes) -> bytes:
    os.kill(os.getpid(), signal.SIGSTOP)
    return b""


def fail(payload: bytes) -> bytes:
    raise ValueError("secret of a page")


def shout(payload: bytes) -> bytes:
    os.write(1, b"to stdout")
    os.write(2, b"to stderr")
    return b"done"
