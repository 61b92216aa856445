"""`sift token`: a new token for a caller, and the block that lets it in."""

from __future__ import annotations

import click

from sift.cli import terminal


@click.command()
@click.argument("name", metavar="NAME")
@click.option(
    "--class",
    "caller_class",
    type=click.Choice(("standard", "restricted")),
    default="standard",
    show_default=True,
    help="restricted leaves no trace in logs.",
)
def command(name: str, caller_class: str) -> None:
    """Make a token for the caller NAME: print it once, with the block for sift.toml.

    The first line is the token. It is kept nowhere: put it into a file of mode 0600 and name that
    in $SIFT_TOKEN_FILE. The rest goes into sift.toml, which holds no token but its SHA-256.

    \b
    Examples:
      sift token hermes
      sift token audit --class restricted
    """
    import secrets
    from hashlib import sha256

    _check_name(name)
    token = secrets.token_urlsafe(32)
    digest = sha256(token.encode()).hexdigest()
    terminal.put(
        f'{token}\n\n[[caller]]\nname = "{name}"\ntoken_sha256 = "{digest}"\nclass = "{caller_class}"\n',
    )
    terminal.say("the first line is the token, shown this once; the block goes into sift.toml (then SIGHUP or restart)")


def _check_name(name: str) -> None:
    from dataclasses import fields

    from sift.config import CallerConfig

    kind = next(field.metadata["kind"] for field in fields(CallerConfig) if field.name == "name")
    try:
        kind.read(name)
    except ValueError:
        raise click.UsageError(f"NAME: found {name!r}; it takes {kind.takes}") from None
