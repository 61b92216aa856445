"""What every test runs under: no thread of Sift that it started outlives it."""

import threading
from collections.abc import Iterator

import pytest
from prometheus_client import CollectorRegistry

from sift.metrics import Metrics


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    left = [thread for thread in threading.enumerate() if thread.name.startswith("sift-") and thread not in before]
    for thread in left:
        thread.join(5)
    assert not [thread.name for thread in left if thread.is_alive()]


@pytest.fixture
def metrics() -> Metrics:
    return Metrics(CollectorRegistry())
