"""Every outgoing connection is made in one room: no other one has the means to make any."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import sift

ROOT = Path(sift.__file__).parent
MEANS = {
    "socket",
    "ssl",
    "http.client",
    "urllib.request",
    "ftplib",
    "smtplib",
    "requests",
    "urllib3",
    "httpx",
    "aiohttp",
}
# The command and its client speak to Sift alone.
APART = {"cli", "client", "fetch"}
# systemd's own means: sockets that were passed, and one datagram to a socket of this host's file system.
EXEMPT = {"ops/systemd.py": {"socket"}}


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def sources() -> list[Path]:
    return [path for path in sorted(ROOT.rglob("*.py")) if path.relative_to(ROOT).parts[0] not in APART]


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_other_room_imports_what_can_dial(path: Path) -> None:
    exempt = EXEMPT.get(path.relative_to(ROOT).as_posix(), set())

    assert not MEANS.intersection(imported(path)) - exempt


def test_in_the_room_itself_one_module_dials() -> None:
    dialling = [
        path.name for path in (ROOT / "fetch").rglob("*.py") if "connect_ex(" in path.read_text(encoding="utf-8")
    ]

    assert dialling == ["wire.py"]
