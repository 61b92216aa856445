"""`sift mcp` as an agent's host runs it: a process of its own, spoken to by the SDK's own client."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.held import Held
from tests.support.service import TOKENS, Service
from tests.support.site import Site

mcp = pytest.importorskip("mcp", reason="the extra mcp is not installed")
ROOT = Path(__file__).parents[2]
COMMAND = ["-m", "sift.cli", "mcp"]
Talk = Callable[..., None]


@pytest.fixture
def environ(address: str, tmp_path: Path) -> dict[str, str]:
    token = tmp_path / "alice"
    token.write_text(TOKENS["alice"])
    token.chmod(0o600)
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "SIFT_URL": address, "SIFT_TOKEN_FILE": str(token)}


@pytest.fixture
def talk(environ: dict[str, str]) -> Talk:
    """Runs a conversation with the process."""
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters

    def run(conversation: Callable[[Any], Awaitable[None]], mode: str = "auto") -> None:
        async def main() -> None:
            process = StdioServerParameters(command=sys.executable, args=COMMAND, env=environ)
            async with Client(process, mode=mode, read_timeout_seconds=40) as client:
                await conversation(client)

        asyncio.run(main())

    return run


def test_the_tools_are_listed_with_schemas_and_annotations_in_under_six_kilobytes(talk: Talk) -> None:
    async def conversation(client: Any) -> None:
        listed = await client.list_tools()
        tools = {tool.name: tool for tool in listed.tools}

        assert list(tools) == ["sift_fetch", "sift_batch_submit", "sift_batch_status", "sift_batch_cancel"]
        for tool in tools.values():
            assert tool.description
            assert tool.annotations.title or tool.title
            assert tool.output_schema["type"] == "object"
        assert tools["sift_fetch"].annotations.read_only_hint
        assert tools["sift_batch_submit"].annotations.destructive_hint is False
        told = listed.model_dump(mode="json", by_alias=True, exclude_none=True)
        assert len(json.dumps(told).encode()) < 6000

    talk(conversation)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_page_comes_as_text_and_as_structured_content(talk: Talk, site: Site, mode: str) -> None:
    async def conversation(client: Any) -> None:
        result = await client.call_tool("sift_fetch", {"url": site.url("/page/1"), "context": True})

        assert not result.is_error
        assert "page number 1" in result.content[0].text
        assert result.structured_content["title"] == "Page 1"
        assert result.structured_content["context"]["title"] == "Page 1"

    talk(conversation, mode)


def test_a_batch_is_awaited_with_progress(talk: Talk, site: Site, held: Held) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))
        held.let_go()

    async def conversation(client: Any) -> None:
        made = await client.call_tool("sift_batch_submit", {"targets": [site.url("/page/1"), site.url("/held")]})
        wish = {"job_id": made.structured_content["job_id"], "wait_s": 30}
        await asyncio.to_thread(held.asked.wait, 10)
        result = await client.call_tool("sift_batch_status", wish, progress_callback=note)

        assert result.structured_content["status"] == "done"
        assert "It came in the end." in result.content[0].text

    talk(conversation)

    assert told[0] == (1, 2, f"reading {site.url('/held')}")
    assert told[-1] == (2, 2, "done")


def test_other_calls_are_answered_while_a_batch_is_awaited(talk: Talk, site: Site, held: Held) -> None:
    async def conversation(client: Any) -> None:
        made = await client.call_tool("sift_batch_submit", {"targets": [site.url("/held")]})
        job_id = made.structured_content["job_id"]
        waiting = asyncio.create_task(client.call_tool("sift_batch_status", {"job_id": job_id, "wait_s": 30}))
        await asyncio.to_thread(held.asked.wait, 10)
        cancelled = await client.call_tool("sift_batch_cancel", {"job_id": job_id})
        held.let_go()

        assert cancelled.structured_content == {"status": "cancelled"}
        assert (await waiting).structured_content["status"] == "cancelled"

    talk(conversation)


def test_an_error_of_a_tool_is_a_result_that_says_what_to_do(talk: Talk) -> None:
    async def conversation(client: Any) -> None:
        result = await client.call_tool("sift_fetch", {"url": "http://192.168.0.1/"})

        assert result.is_error
        assert result.content[0].text.startswith("blocked: private address 192.168.0.1. Sift does not go there.")

    talk(conversation)


def test_it_ends_when_the_host_closes_its_input(environ: dict[str, str]) -> None:
    done = subprocess.run([sys.executable, *COMMAND], input=b"", env=environ, capture_output=True, timeout=20)

    assert (done.returncode, done.stdout) == (0, b"")


def test_without_a_token_it_ends_with_one_line(environ: dict[str, str], tmp_path: Path, service: Service) -> None:
    del environ["SIFT_TOKEN_FILE"]
    done = subprocess.run(
        [sys.executable, *COMMAND],
        input=b"",
        env=environ | {"XDG_STATE_HOME": str(tmp_path / "none")},
        cwd=tmp_path,
        capture_output=True,
        timeout=20,
    )

    assert (done.returncode, done.stdout) == (4, b"")
    assert b"SIFT_TOKEN_FILE" in done.stderr


def test_without_the_extra_it_says_which_to_install(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "mcp_types.py").write_text("raise ModuleNotFoundError('gone', name='mcp_types')\n")
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = subprocess.run(
        [sys.executable, *COMMAND], input=b"", env=environ | {"PYTHONPATH": path}, capture_output=True, timeout=20
    )

    assert done.returncode == 1
    assert b"pip install 'sift[mcp]'" in done.stderr
