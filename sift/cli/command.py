"""The command's root and its table of commands. A command's module is imported when it is run, or helped with."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from sift import __version__
from sift.cli import terminal

COMMANDS: Mapping[str, str] = {
    "serve": "sift.cli.serve",
    "fetch": "sift.cli.fetch",
    "batch": "sift.cli.batch",
    "token": "sift.cli.caller",
    "config": "sift.cli.settings",
    "unit": "sift.cli.shipped:unit",
    "skill": "sift.cli.shipped:skill",
    "alerts": "sift.cli.shipped:alerts",
    "mcp": "sift.cli.mcp",
    "demo": "sift.cli.demo",
}


class Lazy(click.Group):
    """A group whose commands are imported by name: `module`, or `module:attribute` where it is not `command`."""

    def __init__(self, *arguments: Any, modules: Mapping[str, str] | None = None, **rest: Any) -> None:
        super().__init__(*arguments, **rest)
        self._modules = modules or {}

    def make_context(self, *arguments: Any, **rest: Any) -> click.Context:
        with terminal.reader_may_go():  # help and version are written while the line is parsed
            return super().make_context(*arguments, **rest)

    def invoke(self, ctx: click.Context) -> Any:
        with terminal.reader_may_go():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._modules:
            return None
        module, _, attribute = self._modules[cmd_name].partition(":")
        found = getattr(import_module(module), attribute or "command")
        return found if isinstance(found, click.Command) else None


@click.group(
    cls=Lazy,
    modules=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Exit codes: 0 all ok, 1 error, 2 usage, 4 not let in, 6 not found, 7 busy, 130 interrupted;
from wait, --wait and results also 3 partial, 5 job failed or cancelled, 8 the wait ran out.

\b
Completion, in your shell's start file:
  bash  eval "$(_SIFT_COMPLETE=bash_source sift)"
  zsh   eval "$(_SIFT_COMPLETE=zsh_source sift)"
  fish  _SIFT_COMPLETE=fish_source sift | source""",
)
@click.version_option(__version__, prog_name="sift", message="%(prog)s %(version)s")
def sift() -> None:
    """Fetch web pages as clean Markdown: one now, or a list as a batch.

    \b
    Examples:
      sift demo
      sift serve
      sift fetch https://example.com/
      sift batch submit urls.txt --wait

    The server is $SIFT_URL and the token $SIFT_TOKEN or the file $SIFT_TOKEN_FILE; by default both are those
    of the sift.toml that sift serve would take. Data goes to stdout, messages to stderr.
    """
