"""Large answers on their way out: whole and in order, however slowly they are read."""

import http.client
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from waitress.channel import HTTPChannel

from sift.api.outgoing import LARGE_BYTES, Lying, uncopied
from sift.api.wsgi import HttpServer
from sift.config import ServerConfig

ANSWER = bytes(range(256)) * (40 * LARGE_BYTES // 256)


class Shell:
    """An app's answer that wants to be closed."""

    def __init__(self, *pieces: bytes) -> None:
        self.pieces = pieces
        self.closed = False

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.pieces)

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def server() -> Iterator[HttpServer]:
    def app(environ: dict[str, Any], start_response: Any) -> Shell:
        start_response("200 OK", [("Content-Length", str(len(ANSWER))), ("Content-Type", "application/json")])
        return Shell() if environ["REQUEST_METHOD"] == "HEAD" else Shell(ANSWER)

    found = HttpServer.bind(ServerConfig(port=0))
    found.start(app, lambda *_: None)
    yield found
    # A thread that has just answered still wakes the loop, whose pipe must not be closed by then.
    found._listeners[0].task_dispatcher.shutdown(timeout=5)
    found.stop()


def connected(server: HttpServer) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(*server.addresses()[0], timeout=20)


def test_a_large_answer_is_not_copied_and_its_shell_is_closed() -> None:
    shell = Shell(ANSWER)

    found = uncopied(shell)

    assert isinstance(found, Lying)
    assert found.get(1000).obj is ANSWER
    assert shell.closed


@pytest.mark.parametrize("pieces", [(), (b"small",), (b"a" * LARGE_BYTES, b"b")])
def test_other_answers_stay_as_they_are(pieces: tuple[bytes, ...]) -> None:
    assert list(uncopied(Shell(*pieces))) == list(pieces)


def test_what_was_sent_is_not_sent_again() -> None:
    lying = Lying(b"abcdef")

    assert bytes(lying.get(4)) == b"abcd"
    lying.skip(2)
    assert (bytes(lying.get(4, skip=True)), len(lying), bytes(lying.get())) == (b"cdef", 0, b"")


def test_a_large_answer_arrives_whole_on_a_connection_that_is_kept(server: HttpServer) -> None:
    connection = connected(server)
    for _ in range(3):
        connection.request("GET", "/")
        assert connection.getresponse().read() == ANSWER
    connection.close()


def test_a_large_answer_arrives_whole_at_a_reader_with_a_small_window(server: HttpServer) -> None:
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.settimeout(20)
    sock.connect(server.addresses()[0])
    sock.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    received = bytearray()
    while data := sock.recv(2048):
        received += data
    sock.close()

    assert bytes(received).partition(b"\r\n\r\n")[2] == ANSWER


def test_a_head_has_the_length_and_nothing_else(server: HttpServer) -> None:
    connection = connected(server)
    connection.request("HEAD", "/")
    answer = connection.getresponse()

    assert (answer.headers["Content-Length"], answer.read()) == (str(len(ANSWER)), b"")
    connection.close()


def test_a_reader_who_leaves_costs_nobody_else_anything(server: HttpServer) -> None:
    with socket.create_connection(server.addresses()[0]) as sock:
        sock.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        sock.recv(100)
    connection = connected(server)
    connection.request("GET", "/")

    assert connection.getresponse().read() == ANSWER
    connection.close()


@pytest.mark.parametrize(("body", "is_watched"), [(b"small", False), (ANSWER, True)])
def test_the_loop_leaves_small_answers_alone_to_who_sends_them(
    server: HttpServer, monkeypatch: pytest.MonkeyPatch, body: bytes, is_watched: bool
) -> None:
    flush, seen = HTTPChannel._flush_some, []

    def watched(channel: HTTPChannel, do_close: bool = True) -> bool:
        if threading.current_thread().name.startswith("waitress"):
            seen.append((channel.total_outbufs_len, bool(channel.writable())))
        return bool(flush(channel, do_close))

    def app(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        start_response("200 OK", [("Content-Length", str(len(body)))])
        return [body]

    monkeypatch.setattr(HTTPChannel, "_flush_some", watched)
    server._listeners[0].application = app
    connection = connected(server)
    connection.request("GET", "/")
    assert connection.getresponse().read() == body
    connection.close()

    assert {writable for length, writable in seen if length >= len(body)} == {is_watched}
