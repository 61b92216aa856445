"""`sift mcp`: the service as MCP tools over stdio, for agents; it speaks HTTP to the server as everybody does."""

from __future__ import annotations

import click

from sift.cli.door import speaks
from sift.client import Sift


@click.command()
@speaks
def command(client: Sift) -> None:
    """Offer the service as MCP tools over stdio, to be started by an agent's host.

    The tools are sift_fetch, sift_batch_submit, sift_batch_status and sift_batch_cancel. They need the
    extra mcp (pip install 'sift[mcp]') and a running server.

    \b
    Examples:
      sift mcp
      sift mcp --url https://sift.internal --token-file ~/.config/sift/token
    """
    try:
        from sift.cli.mcp.serving import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise click.ClickException("the extra mcp is not installed; pip install 'sift[mcp]' brings it") from None
    serve(client)
