"""HTTP as the client reads it, whole and broken."""

from __future__ import annotations

import socket
import threading
from typing import Any

import pytest

from sift.client import ClientError, NoServer, NotSift, Sift
from tests.support.answers import TOKEN


def _raw_server(answer: bytes) -> tuple[int, threading.Thread]:
    """Answers one connection with `answer`, and hangs up."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with listener:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(answer)

    thread = threading.Thread(target=serve, name="sift-raw")
    thread.start()
    return listener.getsockname()[1], thread


def _ask_raw(answer: bytes) -> Any:
    port, thread = _raw_server(answer)
    try:
        return Sift(f"http://127.0.0.1:{port}", TOKEN, environ={}).list()
    finally:
        thread.join()


@pytest.mark.parametrize(
    "answer",
    [
        b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6;x=y\r\n{"jobs\r\n5\r\n": []\r\n1\r\n}\r\n0\r\n\r\n',
        b'HTTP/1.0 200 OK\r\n\r\n{"jobs": []}',
        b'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\ncontent-LENGTH:12\n\n{"jobs": []}rest',
    ],
)
def test_an_answer_is_read_however_it_is_framed(answer: bytes) -> None:
    assert _ask_raw(answer) == []


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (b"", NoServer),
        (b"HTTP/1.1 200 OK\r\nContent-Le", NoServer),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{", NoServer),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n{", NoServer),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-6\r\n{", NotSift),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1_0\r\n\r\n{", NotSift),
        (b"SSH-2.0-OpenSSH_9.2\r\n", NotSift),
        (b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 20000 + b"\r\n", NotSift),
        (b"x" * 200000, NotSift),
    ],
)
def test_a_broken_answer_is_an_error_and_not_a_result(answer: bytes, kind: type[ClientError]) -> None:
    with pytest.raises(kind):
        _ask_raw(answer)
