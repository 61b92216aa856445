"""The units: systemd has no complaint, and rates the service as well locked up."""

import re
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from sift.config import Config
from sift.home import HOST, PORT

UNITS = Path(str(files("sift").joinpath("ops", "units")))
WORST_EXPOSURE = 2.0
with_systemd = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed (Debian: systemd)"
)


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The units as `sift unit --install` writes them."""
    command = [sys.executable, "-m", "sift.cli", "unit", "--install", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return tmp_path


def analyze(*words: str) -> str:
    done = subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@with_systemd
@pytest.mark.parametrize("unit", ["sift.service", "sift.socket"])
def test_systemd_has_no_complaint(installed: Path, unit: str) -> None:
    assert analyze("verify", "--man=no", str(installed / unit)) == ""


@with_systemd
def test_the_service_is_well_locked_up(installed: Path) -> None:
    said = analyze("security", "--offline=true", "--no-pager", str(installed / "sift.service"))

    found = re.search(r"Overall exposure level for sift.service: ([0-9.]+)", said)
    assert found
    assert float(found[1]) <= WORST_EXPOSURE


def test_the_unit_runs_the_program_that_wrote_it(installed: Path) -> None:
    program = Path(sys.executable).with_name("sift")

    assert f"\nExecStart={program} serve\n" in (installed / "sift.service").read_text()
    assert {path.name for path in installed.iterdir()} == {"sift.service", "sift.socket"}


def value(unit: str, key: str) -> list[str]:
    return re.findall(rf"^{key}=(.*)$", (UNITS / unit).read_text(), re.MULTILINE)


def test_the_socket_listens_where_the_command_looks() -> None:
    assert value("sift.socket", "ListenStream") == [f"{HOST}:{PORT}"]


def test_the_memory_is_enough_for_all_workers_and_the_server() -> None:
    workers = Config().workers
    mib = 1 << 20

    assert value("sift.service", "MemoryMax") == [f"{workers.count * workers.memory_bytes // mib + 512}M"]


def test_the_stop_may_take_longer_than_the_grace() -> None:
    assert int(value("sift.service", "TimeoutStopSec")[0].removesuffix("s")) > Config().server.grace_s + 5


def test_the_second_wall_stands_before_private_networks_and_leaves_the_resolver() -> None:
    denied = " ".join(value("sift.service", "IPAddressDeny")).split()

    assert {"localhost", "link-local", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"} <= set(denied)
    assert value("sift.service", "IPAddressAllow") == ["127.0.0.53 127.0.0.54"]
