"""The real service over a made-up Internet, and a reader of what `/metrics` shows."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.service import Service, config_of
from tests.support.world import CONFIG, World


@pytest.fixture
def world() -> Iterator[World]:
    found = World()
    yield found
    found.close()


@pytest.fixture
def make_service(tmp_path: Path, world: World) -> Iterator[Callable[..., Service]]:
    made: list[Service] = []

    def make(**tables: dict[str, object]) -> Service:
        made.append(Service(config_of(tmp_path, CONFIG | tables), resolve=world.resolve, dial=world.dial))
        return made[-1]

    yield make
    for service in made:
        service.close(0.5)
