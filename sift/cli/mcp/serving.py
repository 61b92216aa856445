"""The tools over stdio, by the official SDK: its types around `calls`, and a thread for each call.

Threads: `sift-mcp-call`, one for each call under way; daemons, since a call may be in a long poll when the host goes.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server

from sift import __version__
from sift.cli.mcp.calls import Answer, Calls, Progress, ToolFailed
from sift.cli.mcp.tools import INSTRUCTIONS, TOOLS
from sift.client import Job, Sift

Context = ServerRequestContext[dict[str, Any]]


def serve(client: Sift) -> None:
    """Serves the host on stdin and stdout until it closes them."""
    asyncio.run(_serve(Calls(client)))


async def _serve(calls: Calls) -> None:
    async def list_tools(_context: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool.model_validate({"name": n, **t}) for n, t in TOOLS.items()])

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        progress = _progress(context, asyncio.get_running_loop())
        try:
            answer = await _in_thread(lambda: calls.call(params.name, params.arguments or {}, progress))
        except ToolFailed as error:
            return types.CallToolResult(content=[_text(str(error))], is_error=True)
        return types.CallToolResult(content=[_text(answer.text)], structured_content=dict(answer.structured))

    server: Server[dict[str, Any]] = Server(
        "sift",
        version=__version__,
        title="Sift",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


def _progress(context: Context, loop: asyncio.AbstractEventLoop) -> Progress:
    """Tells the host of a job's progress, from whatever thread; nothing where it has not asked."""

    def report(job: Job) -> None:
        running = [entry["url"] for entry in job["targets"] if entry["status"] == "running"]
        said = f"reading {running[0]}" if running else job["status"]
        sent = context.session.report_progress(job["targets_done"], job["targets_total"], said)
        with suppress(RuntimeError):  # the host has gone, and the loop with it
            asyncio.run_coroutine_threadsafe(sent, loop)

    return report


async def _in_thread(function: Callable[[], Answer]) -> Answer:
    """What `function` gives in a thread of its own; a cancelled call leaves it behind."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Answer] = loop.create_future()

    def settle(answer: Answer | None, error: BaseException | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        elif answer is not None:
            done.set_result(answer)

    def run() -> None:
        answer, failure = None, None
        try:
            answer = function()
        except Exception as error:  # whatever it is, it belongs to the one who awaits the call
            failure = error
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, answer, failure)

    threading.Thread(target=run, name="sift-mcp-call", daemon=True).start()
    return await done
