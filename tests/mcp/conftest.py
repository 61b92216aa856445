from collections.abc import Iterator
from pathlib import Path

import pytest

from sift.cli.mcp.calls import Calls
from sift.client import Sift
from tests.support.held import Held
from tests.support.service import TOKENS, Service, config_of
from tests.support.site import Site, html


@pytest.fixture
def site() -> Iterator[Site]:
    found = Site({f"/page/{n}": html(f"Page {n}", f"This is page number {n} of them. " * 20) for n in range(4)})
    found.pages["/long"] = html("Long", "Many words make a long page. " * 1000)
    yield found
    found.close()


@pytest.fixture
def held(site: Site) -> Iterator[Held]:
    page = Held()
    site.pages["/held"] = page
    yield page
    page.let_go()


@pytest.fixture
def service(tmp_path: Path, site: Site) -> Iterator[Service]:
    found = Service(config_of(tmp_path, {"guard": {"allow": [f"127.0.0.1:{site.port}"]}, "workers": {"count": 1}}))
    yield found
    found.close(0.5)


@pytest.fixture
def address(service: Service) -> str:
    host, port = service.server.address
    return f"http://{host}:{port}"


@pytest.fixture
def calls(address: str) -> Calls:
    return Calls(Sift(address, TOKENS["alice"], environ={}))
