"""`sift config`: the config, checked, as it is in force."""

from __future__ import annotations

import os

import click

from sift.cli import exits, terminal


@click.command()
@click.option("--config", metavar="FILE", help="The sift.toml; default $SIFT_CONFIG, ./sift.toml, /etc/sift/sift.toml.")
def command(config: str | None) -> int:
    """Check the config and print it as it is in force, without any secret.

    \b
    Examples:
      sift config
      sift config --config /etc/sift/sift.toml
    """
    from sift.config import check_callers, load, show
    from sift.errors import ConfigError

    try:
        settings = load(config, os.environ)
        check_callers(settings, [settings.server.host])
    except ConfigError as error:
        terminal.say(str(error))
        return exits.ERROR
    terminal.put(show(settings))
    terminal.say(f"{settings.path} is good" if settings.path else "no sift.toml was found; these are the defaults")
    return exits.OK
