"""`sift serve`: the one command that runs the service; it imports it only when it is run."""

from __future__ import annotations

import os

import click

from sift.cli import exits, terminal


@click.command()
@click.option("--config", metavar="FILE", help="The sift.toml; default $SIFT_CONFIG, ./sift.toml, /etc/sift/sift.toml.")
def command(config: str | None) -> int:
    """Run the server until SIGTERM or SIGINT.

    \b
    Examples:
      sift serve
      sift serve --config /etc/sift/sift.toml
    """
    from sift.config import load
    from sift.errors import SiftError

    try:
        settings = load(config, os.environ)
        from sift.server import run

        run(settings)
    except SiftError as error:
        terminal.say(str(error))
        return exits.ERROR
    return exits.OK
