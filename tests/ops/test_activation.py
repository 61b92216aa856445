"""The service as systemd runs it: a socket that was passed, a manager that is told, a watchdog that is fed."""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sift.auth import digest_of

CALLER = f"[[caller]]\nname = 'alice'\ntoken_sha256 = '{digest_of('t')}'\n"
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as found:
        found.bind(str(tmp_path / "notify"))
        found.settimeout(20)
        yield found


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts `sift serve` with sockets passed as descriptors 3 and on; the config's own port is taken."""
    running: list[subprocess.Popen[str]] = []

    def run(*sockets: socket.socket, config: str = "", **environ: str) -> subprocess.Popen[str]:
        file = tmp_path / "sift.toml"
        file.write_text(f"[server]\nport = 1\ndata_dir = '{tmp_path / 'data'}'\n[workers]\ncount = 1\n{config}")
        # As systemd does it: the descriptors in place, LISTEN_PID set in the process itself, then the program.
        script = (
            "import fcntl,os,sys; fds=[int(w) for w in sys.argv[1].split(',') if w]\n"
            "moved=[fcntl.fcntl(fd, fcntl.F_DUPFD, 40) for fd in fds]\n"
            "for n,fd in enumerate(moved): os.dup2(fd,3+n)\n"
            "os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(fds)))\n"
            "os.execv(sys.executable, [sys.executable, *sys.argv[2:]])"
        )
        fds = [each.fileno() for each in sockets]
        command = [sys.executable, "-c", script, ",".join(map(str, fds)), "-m", "sift.cli", "serve", "--config"]
        running.append(
            subprocess.Popen(
                [*command, str(file)],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                pass_fds=fds,
                env={**os.environ, "NOTIFY_SOCKET": str(tmp_path / "notify"), **environ},
            )
        )
        return running[-1]

    yield run
    for process in running:
        if process.poll() is None:
            process.kill()
            process.wait()
        assert process.stdout is not None
        process.stdout.close()


def listening(address: str = "127.0.0.1") -> socket.socket:
    return socket.create_server((address, 0))


def name_of(sock: socket.socket) -> tuple[str, int]:
    host, port = sock.getsockname()
    return host, port


def health(sock: socket.socket) -> int:
    host, port = name_of(sock)
    connection = http.client.HTTPConnection("127.0.0.1" if host == "0.0.0.0" else host, port, timeout=20)
    connection.request("GET", "/healthz")
    status = connection.getresponse().status
    connection.close()
    return status


def test_passed_sockets_are_answered_and_the_manager_is_told(start: Start, manager: socket.socket) -> None:
    with listening() as one, listening("127.0.0.2") as two:
        process = start(one, two, WATCHDOG_USEC="300000")
        addresses = [f"answering on {host}:{port}, 0 slots in use" for host, port in map(name_of, (one, two))]

        status = manager.recv(4096).decode().removeprefix("READY=1\nSTATUS=")
        assert status in addresses
        assert health(one) == health(two) == 200
        for _ in range(3):
            assert manager.recv(4096).decode() == f"WATCHDOG=1\nSTATUS={status}"
        process.send_signal(signal.SIGTERM)
        while (last := manager.recv(4096)).startswith(b"WATCHDOG=1"):
            pass
        assert last == b"STOPPING=1\nSTATUS=stopping"
        assert process.wait(20) == 0


def test_a_reload_is_told_and_asks_the_passed_sockets_who_may_ask(
    start: Start, manager: socket.socket, tmp_path: Path
) -> None:
    with listening() as sock:
        process = start(sock)
        assert manager.recv(4096).startswith(b"READY=1\n")
        file = tmp_path / "sift.toml"
        file.write_text(file.read_text().replace("port = 1", "host = '0.0.0.0'\nport = 1"))

        process.send_signal(signal.SIGHUP)
        assert manager.recv(4096).startswith(b"RELOADING=1\nMONOTONIC_USEC=")
        assert manager.recv(4096).startswith(b"READY=1\n")
        process.send_signal(signal.SIGTERM)

        said = process.communicate()[0]
        assert "config_refused" not in said
        assert 'needs_restart key="[server] host"' in said


def test_a_passed_sockets_address_decides_who_may_ask(start: Start, manager: socket.socket) -> None:
    with listening("0.0.0.0") as sock:
        refused = start(sock)
        assert refused.wait(20) == 1
        assert "[server] host 0.0.0.0 is open to others and there is no [[caller]]" in refused.communicate()[0]

        start(sock, config=CALLER)
        assert manager.recv(4096).startswith(b"READY=1\n")
        assert health(sock) == 200


def test_a_passed_socket_that_does_not_listen_is_one_line(start: Start, manager: socket.socket) -> None:
    with socket.socket() as sock:
        process = start(sock)

        assert process.wait(20) == 1
        said = process.communicate()[0]
        assert said == "sift: descriptor 3 from systemd is no listening TCP socket; see ListenStream=\n"


@pytest.mark.skipif(
    shutil.which("systemd-socket-activate") is None, reason="systemd-socket-activate is not installed (Debian: systemd)"
)
def test_the_first_request_starts_it_under_systemd_socket_activate(tmp_path: Path) -> None:
    with listening() as free:
        port = free.getsockname()[1]
    (tmp_path / "sift.toml").write_text("[workers]\ncount = 1\n")
    # Only what is named is handed on; STATE_DIRECTORY is what StateDirectory= sets.
    environ = {"PATH": os.environ["PATH"], "STATE_DIRECTORY": str(tmp_path / "state"), "PYTHONPATH": os.getcwd()}
    command = ["systemd-socket-activate", "-l", f"127.0.0.1:{port}", *[f"-E{name}" for name in environ]]
    with subprocess.Popen(
        [*command, sys.executable, "-m", "sift.cli", "serve", "--config", str(tmp_path / "sift.toml")],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environ,
    ) as process:
        answers: list[object] = []
        for line in process.stdout or ():
            if line.startswith("Listening on"):
                asking = threading.Thread(target=lambda: answers.append(ask(port)))
                asking.start()
            if re.search(rf"started version=\S+ host=127.0.0.1 port={port}", line):
                asking.join(20)
                process.send_signal(signal.SIGTERM)

    assert answers == [{"success": True, "status": "ok"}]
    assert process.returncode == 0
    assert (tmp_path / "state" / "dcache.sqlite3").exists()


def ask(port: int) -> object:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", "/healthz")
    answer: object = json.loads(connection.getresponse().read())
    connection.close()
    return answer
