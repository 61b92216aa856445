"""`sift unit`, `sift skill`, `sift alerts`: files that come with the package, printed or put into place."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import click

from sift.cli import terminal
from sift.cli.files import write_all
from sift.cli.values import DIRECTORY

SKILL = "sift"
PROGRAM = b"/usr/local/bin/sift"
"""What the units run as they come with the package."""


def _options(function: Callable[..., Any]) -> Callable[..., Any]:
    function = click.option("--force", is_flag=True, help="Replace files that are there already.")(function)
    function = click.option("--install", "directory", type=DIRECTORY, metavar="DIR", help="Write the files into DIR.")(
        function
    )
    return click.argument("name", metavar="[FILE]", required=False)(function)


@click.command()
@_options
def unit(name: str | None, directory: str | None, force: bool) -> None:
    """Print the systemd units, or one of them.

    \b
    Examples:
      sift unit
      sift unit sift.service
      sift unit --install /etc/systemd/system

    They run the sift that is asked for them.
    """
    _show_or_install("ops", "units", name=name, directory=directory, force=force, change=_with_this_program)


@click.command()
@_options
def alerts(name: str | None, directory: str | None, force: bool) -> None:
    """Print the Prometheus alert rules and the dashboard, or one of them.

    \b
    Examples:
      sift alerts
      sift alerts --install /etc/prometheus/sift
    """
    _show_or_install("ops", "alerts", name=name, directory=directory, force=force)


@click.command()
@_options
def skill(name: str | None, directory: str | None, force: bool) -> None:
    """Print the skill that teaches an agent to use Sift, or one file of it.

    With --install it goes into the folder sift inside DIR, as agents expect it.

    \b
    Examples:
      sift skill
      sift skill references/outcomes.md
      sift skill --install ~/.claude/skills
    """
    if directory is not None and os.path.basename(os.path.abspath(directory)) != SKILL:
        directory = os.path.join(directory, SKILL)
    _show_or_install("skill", name=name or (None if directory else "SKILL.md"), directory=directory, force=force)


def _unchanged(data: bytes) -> bytes:
    return data


def _with_this_program(data: bytes) -> bytes:
    """A unit that runs this installation's `sift`, where it has one beside its Python."""
    program = os.path.join(os.path.dirname(sys.executable), "sift")
    return data.replace(PROGRAM, os.fsencode(program)) if os.access(program, os.X_OK) else data


def _show_or_install(
    *place: str,
    name: str | None,
    directory: str | None,
    force: bool,
    change: Callable[[bytes], bytes] = _unchanged,
) -> None:
    found = {name: change(data) for name, data in _walk(files("sift").joinpath(*place))}
    if name is not None:
        if name not in found:
            raise click.UsageError(f"{name} is none of {', '.join(sorted(found))}")
        found = {name: found[name]}
    if not found:
        raise click.ClickException("these files are not part of this installation; install sift anew")
    if directory is not None:
        _install(directory, found, force)
    else:
        _show(found)


def _walk(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, bytes]]:
    """Every file below `folder` that is there to be read by somebody else: its path from there, and its bytes."""
    if not folder.is_dir():
        return
    for child in sorted(folder.iterdir(), key=lambda child: child.name):
        if child.name.startswith((".", "_")) or child.name.endswith(".py"):
            continue
        if child.is_dir():
            yield from _walk(child, f"{prefix}{child.name}/")
        else:
            yield prefix + child.name, child.read_bytes()


def _show(found: dict[str, bytes]) -> None:
    for number, (name, data) in enumerate(found.items()):
        if len(found) > 1:
            terminal.put(f"{chr(10) if number else ''}# {name}\n")
        terminal.put(data.decode())


def _install(directory: str, found: dict[str, bytes], force: bool) -> None:
    by_folder: dict[str, dict[str, bytes]] = {}
    for name, data in found.items():
        folder, file = os.path.split(name)
        by_folder.setdefault(os.path.join(directory, folder) if folder else directory, {})[file] = data
    for folder, contents in by_folder.items():
        write_all(folder, contents, replace=force)
    for folder, contents in by_folder.items():
        terminal.put("".join(f"{os.path.join(folder, file)}\n" for file in contents))
