"""A server that answers by script, and a client of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sift.client import Sift
from tests.support.answers import TOKEN
from tests.support.scripted import Scripted, scripted_server


@pytest.fixture
def server() -> Iterator[Scripted]:
    with scripted_server() as scripted:
        yield scripted


@pytest.fixture
def sift_client(server: Scripted) -> Sift:
    return Sift(server.url, TOKEN, environ={}, sleep=lambda _: None)
