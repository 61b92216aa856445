"""What systemd passes and what it is told, without systemd: the environment it sets, and the socket it listens on."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from sift.ops.systemd import Systemd


class Manager:
    """Where a service's messages arrive."""

    def __init__(self, address: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind("\0" + address[1:] if address.startswith("@") else address)
        self._socket.settimeout(5)
        self.address = address

    def heard(self) -> list[str]:
        return self._socket.recv(4096).decode().split("\n")

    def close(self) -> None:
        self._socket.close()


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Manager]:
    found = Manager(str(tmp_path / "notify") if request.param == "path" else f"@sift-test-{os.getpid()}")
    yield found
    found.close()


def test_without_systemd_nothing_is_said_and_nothing_is_passed() -> None:
    systemd = Systemd.of({})

    systemd.ready("well")
    systemd.stopping()
    assert (systemd.sockets, systemd.notify_address, systemd.beat_s) == ((), None, None)


def test_what_it_is_told(manager: Manager) -> None:
    systemd = Systemd.of({"NOTIFY_SOCKET": manager.address})

    systemd.ready("answering\nREADY=0")
    assert manager.heard() == ["READY=1", "STATUS=answering READY=0"]
    systemd.alive("well")
    assert manager.heard() == ["WATCHDOG=1", "STATUS=well"]
    systemd.ailing("thread x is dead")
    assert manager.heard() == ["STATUS=thread x is dead"]
    systemd.stopping()
    assert manager.heard()[0] == "STOPPING=1"
    systemd.reloading()
    reloading, at = manager.heard()
    assert reloading == "RELOADING=1"
    assert int(at.removeprefix("MONOTONIC_USEC=")) > 0


def test_a_manager_that_is_gone_stops_nothing(tmp_path: Path) -> None:
    Systemd(notify_address=str(tmp_path / "gone")).ready("well")


def test_the_watchdog_is_fed_three_times_as_often_as_it_asks(manager: Manager) -> None:
    environ = {"NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(os.getpid())}

    assert Systemd.of(environ).beat_s == 10
    assert environ == {}


@pytest.mark.parametrize("environ", [{"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}, {"WATCHDOG_USEC": "soon"}])
def test_a_watchdog_that_is_not_ours_is_not_fed(environ: dict[str, str]) -> None:
    assert Systemd.of({"NOTIFY_SOCKET": "/x", **environ}).beat_s is None


def test_sockets_for_another_process_are_not_ours() -> None:
    assert Systemd.of({"LISTEN_PID": "1", "LISTEN_FDS": "1"}).sockets == ()
