"""Writes named files into one directory and nowhere else: no symlink is followed, nothing is replaced unasked.

What the files are and what they are called is for others to say.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

import click


def write_all(directory: str, files: Mapping[str, bytes], *, replace: bool) -> None:
    """Puts every file into `directory`, which is made where it is missing. All or none where one is in the way.

    A file that is there already with the same content is left alone; with another content it is replaced only
    where `replace` says so. A name is one path component. Raises `click.ClickException`, `OSError`.
    """
    os.makedirs(directory, exist_ok=True)
    folder = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        wanted = {name: data for name, data in files.items() if not _is_there(folder, name, data)}
        for name in wanted:
            _refuse_if_in_the_way(folder, directory, name, replace=replace)
        for name, data in wanted.items():
            with _named(os.path.join(directory, name)):
                _write(folder, name, data)
    finally:
        os.close(folder)


def _refuse_if_in_the_way(folder: int, directory: str, name: str, *, replace: bool) -> None:
    path = os.path.join(directory, name)
    try:
        found = os.lstat(_path(name), dir_fd=folder)
    except FileNotFoundError:
        return
    if stat.S_ISDIR(found.st_mode):
        raise click.ClickException(f"{path} is a directory, which no file replaces; choose an empty directory")
    if not replace:
        raise click.ClickException(f"{path} is there already, and is another; choose an empty directory, or --force")


@contextmanager
def _named(path: str) -> Iterator[None]:
    """An `OSError` in here names the file as its reader knows it, and not as it is called on the way."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None


def _path(name: str) -> bytes:
    """The name as one component, in UTF-8 whatever the locale says."""
    if "/" in name or "\0" in name or name in ("", ".", ".."):
        raise click.ClickException(f"{name!r} is no name for a file")
    return name.encode()


def _is_there(folder: int, name: str, data: bytes) -> bool:
    """Whether a regular file of this name holds just this."""
    try:
        descriptor = os.open(_path(name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except OSError:
        return False
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size != len(data):
            return False
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(len(data) + 1) == data
    finally:
        os.close(descriptor)


def _write(folder: int, name: str, data: bytes) -> None:
    """Whole under another name first, then moved: a reader sees all of it, and a symlink is replaced, not followed."""
    part = b"." + _path(name)[:200] + b".part"
    with suppress(FileNotFoundError):
        os.unlink(part, dir_fd=folder)
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666, dir_fd=folder)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        os.replace(part, _path(name), src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(part, dir_fd=folder)
        raise
