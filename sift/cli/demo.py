"""`sift demo`: a small site, a server and a batch over it, all on loopback."""

from __future__ import annotations

import click


@click.command()
def command() -> None:
    """Show a batch, without network and without set-up.

    \b
    Examples:
      sift demo
    """
    raise click.ClickException("sift demo is not part of this version yet")
