from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.service import Service, config_of
from tests.support.site import Site, html

TEXT = "A sentence that a reader came for, long enough to be taken for the text of a page. " * 4


@pytest.fixture
def site() -> Iterator[Site]:
    found = Site({f"/page/{number}": html(f"Page {number}", f"Number {number}. {TEXT}") for number in range(40)})
    found.pages["/data.json"] = (200, {"Content-Type": "application/json"}, b'{"a": [1, 2, {"b": "deep"}]}')
    found.pages["/gone"] = (404, {}, b"")
    yield found
    found.close()


@pytest.fixture
def make_service(tmp_path: Path, site: Site) -> Iterator[Callable[..., Service]]:
    made: list[Service] = []

    def make(**tables: dict[str, object]) -> Service:
        document = {"guard": {"allow": [f"127.0.0.1:{site.port}"]}, "workers": {"count": 1}} | tables
        made.append(Service(config_of(tmp_path, document)))
        return made[-1]

    yield make
    for service in made:
        service.close(0.5)


@pytest.fixture
def service(make_service: Callable[..., Service]) -> Service:
    return make_service()
