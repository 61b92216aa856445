"""The options that say where the server is, and the client made of them; what every speaking command begins with."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from sift.cli.values import SENT
from sift.client import Sift

Function = TypeVar("Function", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--url", type=SENT, metavar="URL", help="The server; default $SIFT_URL, else what sift.toml says."),
    click.option(
        "--token-file",
        metavar="FILE",
        help="File of mode 0600 with the token; default $SIFT_TOKEN, else $SIFT_TOKEN_FILE.",
    ),
    click.option("--config", metavar="FILE", help="The sift.toml that says where a local server is."),
    click.option("--plain-http", is_flag=True, help="Send the token in clear to another host. Better use https."),
)


def speaks(function: Function) -> Callable[..., Any]:
    """Adds the options, and calls `function` with the client they lead to as its first argument."""

    @wraps(function)
    def command(url: str | None, token_file: str | None, config: str | None, plain_http: bool, **rest: Any) -> Any:
        client = Sift(url, token_file=token_file, config=config, plain_http=plain_http)
        return function(client, **rest)

    wrapped: Callable[..., Any] = command
    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped
