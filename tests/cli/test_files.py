"""Result files: their names, and that nothing outside the directory and nothing unasked is touched."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast

import click
import pytest

from sift.cli.collect import files_of, index_of
from sift.cli.files import write_all
from sift.client import Job
from tests.support.answers import done, failed, job


def _job(*targets: dict[str, Any]) -> Job:
    return cast(Job, job("done", *targets))


def _names(*targets: dict[str, Any]) -> list[str]:
    return list(files_of(_job(*targets)))


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("A Title: of 2 parts?", "00-a-title-of-2-parts.md"),
        ("../../etc/passwd", "00-etc-passwd.md"),
        ("/abs\\olute\0 \x1b]0;x\x07", "00-abs-olute-0-x.md"),
        ("日本語の題名", "00-日本語の題名.md"),
        ("हिन्दी शीर्षक", "00-हिन्दी-शीर्षक.md"),
        ("\u202egnp.exe", "00-gnp-exe.md"),
        ("-rf --help $(reboot) `x`", "00-rf-help-reboot-x.md"),
        ("...", "00-example-com.md"),
        ("a" * 500, f"00-{'a' * 60}.md"),
        ("字" * 500, f"00-{'字' * 40}.md"),
        ("word " * 500, f"00-{'-'.join(['word'] * 12)}.md"),
    ],
)
def test_a_file_is_named_by_index_and_title_and_by_nothing_that_acts(title: str, name: str) -> None:
    assert _names(done(title=title)) == [name]


@pytest.mark.parametrize(
    ("changes", "suffix"),
    [
        ({"content_type": "text/html; charset=utf-8"}, ".md"),
        ({"content_type": "text/html", "mode": "raw"}, ".html"),
        ({"content_type": "text/html", "mode": "links"}, ".tsv"),
        ({"content_type": "application/pdf"}, ".md"),
        ({"content_type": "application/json"}, ".json"),
        ({"content_type": "application/json", "grep": {"matches": 1}}, ".txt"),
        ({"content_type": "application/feed+json"}, ".json"),
        ({"content_type": "text/csv"}, ".csv"),
        ({"content_type": "text/plain"}, ".txt"),
        ({"content_type": "x/../../y"}, ".txt"),
    ],
)
def test_the_suffix_says_what_the_content_is(changes: dict[str, str], suffix: str) -> None:
    assert _names(done(title="t", **changes)) == [f"00-t{suffix}"]


def test_names_sort_as_the_targets_do() -> None:
    names = _names(*(done(title="same") for _ in range(101)))

    assert names == sorted(names)
    assert len(set(names)) == 101


def test_without_a_title_the_url_gives_the_name() -> None:
    assert _names(done("https://a.example/b/c.html?token=1#x", title=None)) == ["00-a-example-b-c-html.md"]


def test_the_index_has_a_line_for_every_target() -> None:
    lines = index_of(_job(done(title="T"), failed()))

    assert lines == [
        {"idx": 0, "outcome": "ok", "file": "00-t.md", "url": "https://example.com/", "title": "T"},
        {
            "idx": 1,
            "outcome": "blocked",
            "file": None,
            "url": "http://10.0.0.1/",
            "error": "blocked: no",
            "hint": "browser",
        },
    ]


def test_content_is_written_byte_for_byte(tmp_path: Path) -> None:
    write_all(str(tmp_path / "a" / "b"), {"é.md": "\x1b\r\né".encode()}, replace=False)

    assert (tmp_path / "a" / "b" / "é.md").read_bytes() == "\x1b\r\né".encode()


def test_a_symlink_in_the_way_is_neither_followed_nor_replaced_unasked(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("data")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "x").symlink_to(outside)

    with pytest.raises(click.ClickException, match="is there already"):
        write_all(str(tmp_path / "out"), {"x": b"data"}, replace=False)

    assert outside.read_text() == "data"


def test_force_replaces_a_symlink_and_not_what_it_points_to(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("mine")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "x").symlink_to(outside)
    (tmp_path / "out" / ".x.part").symlink_to(outside)

    write_all(str(tmp_path / "out"), {"x": b"new"}, replace=True)

    assert outside.read_text() == "mine"
    assert not (tmp_path / "out" / "x").is_symlink()
    assert (tmp_path / "out" / "x").read_text() == "new"
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["x"]


def test_a_fifo_in_the_way_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x")

    with pytest.raises(click.ClickException, match="is there already"):
        write_all(str(tmp_path), {"x": b""}, replace=False)


def test_one_file_in_the_way_keeps_all_from_being_written(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("mine")

    with pytest.raises(click.ClickException):
        write_all(str(tmp_path), {"a": b"1", "b": b"2"}, replace=False)

    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("replace", [False, True])
def test_a_directory_in_the_way_is_named_and_nothing_is_written(tmp_path: Path, replace: bool) -> None:
    (tmp_path / "b").mkdir()

    with pytest.raises(click.ClickException) as caught:
        write_all(str(tmp_path), {"a": b"1", "b": b"2"}, replace=replace)

    assert caught.value.message.startswith(f"{tmp_path / 'b'} is a directory")
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


def test_a_file_that_cannot_be_written_is_named_by_its_own_name(tmp_path: Path) -> None:
    (tmp_path / ".b.part").mkdir()

    with pytest.raises(IsADirectoryError) as caught:
        write_all(str(tmp_path), {"b": b"2"}, replace=True)

    assert caught.value.filename == str(tmp_path / "b")


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".", "..", "a\0b"])
def test_a_name_that_is_a_path_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(click.ClickException, match="no name for a file"):
        write_all(str(tmp_path), {name: b""}, replace=True)
