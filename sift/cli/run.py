"""One run of the command: the line is parsed, the command runs, and whatever it ends in becomes a code and a message.

The only place where errors become exit codes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from sift.cli import exits, terminal
from sift.cli.advice import say_error
from sift.cli.command import sift
from sift.client import ClientError


def run(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line (this process's own by default) and answers with its exit code."""
    try:
        code = sift.main(arguments, "sift", standalone_mode=False)
        return code if isinstance(code, int) else exits.OK
    except click.Abort:
        return exits.INTERRUPTED
    except click.ClickException as error:
        return _say_click(error)
    except ClientError as error:
        say_error(error)
        return exits.code_of_error(error)
    except terminal.ReaderGone:
        terminal.hush()
        return exits.OK
    except OSError as error:
        terminal.say(_named(error) + (error.strerror or type(error).__name__).lower())
        return exits.ERROR


def _named(error: OSError) -> str:
    """The file's name before what is wrong with it; nothing where the error has none, or a descriptor for one."""
    name = error.filename
    name = os.fsdecode(name) if isinstance(name, bytes) else name
    return f"{name}: " if isinstance(name, str) and name else ""


def _say_click(error: click.ClickException) -> int:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        terminal.draw(error.format_message() + "\n")
        return exits.USAGE
    for message in getattr(error, "messages", None) or [error.format_message()]:
        terminal.say(message)
    if not isinstance(error, click.UsageError):
        return exits.ERROR
    if error.ctx is not None:
        terminal.say(f"{error.ctx.command_path} --help shows how it is called")
    return exits.USAGE
