"""What the tests of survival share: a site, the service in this process, and a disk that is soon full."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.support.service import Service, config_of
from tests.support.site import Answer, Site, html

TEXT = "A sentence that a reader came for, long enough to be taken for the text of a page. " * 4


class Held:
    """A page that is answered when it is let go."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.let_go = threading.Event()

    def __call__(self, _headers: Mapping[str, str]) -> Answer:
        self.asked.set()
        self.let_go.wait(20)
        return html("Held", TEXT)


@pytest.fixture
def held() -> Iterator[Held]:
    found = Held()
    yield found
    found.let_go.set()


@pytest.fixture
def site(held: Held) -> Iterator[Site]:
    found = Site({f"/{number}": html(f"Page {number}", TEXT) for number in range(40)})
    found.pages["/held"] = held
    found.pages["/long"] = html("Long", TEXT * 3000)
    yield found
    found.close()


@pytest.fixture
def make_service(site: Site) -> Iterator[Callable[..., Service]]:
    made: list[Service] = []

    def make(directory: Path, inject: Mapping[str, object] | None = None, **tables: object) -> Service:
        document = {"guard": {"allow": [f"127.0.0.1:{site.port}"]}, "workers": {"count": 1}} | tables
        made.append(Service(config_of(directory, document), **(inject or {})))
        return made[-1]

    yield make
    for service in made:
        service.close(0.2)


class Disk:
    """A file system of 8 MiB on `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._filler = path / "filler"

    def fill(self) -> None:
        """Leaves no block free."""
        with self._filler.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass

    def free(self) -> None:
        self._filler.unlink()

    def mount(self, *options: str) -> None:
        subprocess.run(["mount", *options, str(self.path)], check=True, capture_output=True, timeout=20)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    path = tmp_path / "disk"
    path.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(path)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, timeout=20).returncode != 0:
        pytest.skip("a small file system cannot be mounted here (it takes root)")
    yield Disk(path)
    subprocess.run(["umount", "-l", str(path)], check=True, capture_output=True, timeout=20)
