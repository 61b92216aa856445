"""The suite's pages and questions, and models that are told what to say."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def pages() -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in sorted((HERE / "pages").iterdir())}


@pytest.fixture(scope="session")
def questions() -> list[tuple[str, str, str]]:
    """Page, question, and a few words of the passage that answers it."""
    return [tuple(row) for row in json.loads((HERE / "questions.json").read_text("utf-8"))]


class FakeModel:
    """Stands in for the network: keeps what was posted, answers what `reply` says."""

    def __init__(self, reply: Callable[[str, Any], bytes]) -> None:
        self.reply = reply
        self.posted: list[tuple[str, Any, Mapping[str, str], float]] = []

    def __call__(self, url: str, body: bytes, headers: Mapping[str, str], timeout_s: float) -> bytes:
        asked = json.loads(body)
        self.posted.append((url, asked, headers, timeout_s))
        return self.reply(url, asked)


class DictCache(dict[str, bytes]):
    """A cache that never forgets."""

    def put(self, key: str, value: bytes) -> None:
        self[key] = value


@pytest.fixture
def fake_model() -> type[FakeModel]:
    return FakeModel


@pytest.fixture
def cache() -> DictCache:
    return DictCache()
