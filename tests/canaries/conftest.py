"""The made-up Internet that the canary tests ask for."""

from collections.abc import Iterator

import pytest

from tests.support.world import World


@pytest.fixture
def world() -> Iterator[World]:
    found = World()
    yield found
    found.close()
