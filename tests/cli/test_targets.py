"""What `sift batch submit` takes as a list, and how it says where one is wrong."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import click
import pytest

from sift.cli.targets import WrongPlaces, body_of, parse

A, B = {"url": "https://a.example/"}, {"url": "https://b.example/", "mode": "links"}


@pytest.mark.parametrize(
    "text",
    [
        '{"targets": [{"url": "https://a.example/"}, {"url": "https://b.example/", "mode": "links"}]}',
        '\n[\n"https://a.example/",\n{"url": "https://b.example/", "mode": "links"}]\n',
        '{"url": "https://a.example/"}\r\n\r\n{"url": "https://b.example/", "mode": "links"}\r\n',
        'https://a.example/\n# a remark\n\n  {"url": "https://b.example/", "mode": "links"}  ',
        '"https://a.example/"\n{"url": "https://b.example/", "mode": "links"}',
    ],
)
def test_every_form_gives_the_same_targets(text: str) -> None:
    assert parse("F", text) == {"targets": [A, B]}


def test_one_url_a_line_is_the_simplest_form() -> None:
    assert parse("F", "https://a.example/\nhttp://c.example/?q=1#x\n")["targets"] == [
        A,
        {"url": "http://c.example/?q=1#x"},
    ]


def test_one_object_alone_is_one_target_in_one_line_or_many() -> None:
    assert parse("F", '{"url": "https://a.example/"}')["targets"] == [A]
    assert parse("F", '{\n  "url": "https://a.example/"\n}')["targets"] == [A]


def test_other_fields_of_the_object_are_left_to_the_server() -> None:
    assert parse("F", '{"targets": ["https://a.example/"], "fresh": true, "x": 1}') == {
        "targets": [A],
        "fresh": True,
        "x": 1,
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("https://a.example/\nnot a url\n", 'F: line 2: "not a url" is no URL'),
        ("https://a.example/ https://b.example/", "F: line 1: "),
        ("ftp://a.example/", 'F: line 1: "ftp://a.example/" is no URL'),
        ('{"url": "https://a.example/"}\n\n{"url": ', "F: line 3: not JSON"),
        ('{"url": "https://a.example/"}\n{"mode": "raw"}', 'F: line 2: a target without "url"'),
        ('{"url": "https://a.example/"}\n[1]', "F: line 2: "),
        ('["https://a.example/",\n\n 5]', "F: line 3: targets[1]: a target is a URL, or an object"),
        (
            '{"x": [1],\n"targets": ["https://a.example/",\n{"mode": "raw"}]}',
            'F: line 3: targets[1]: a target without "url"',
        ),
        ('{"targets":\n "https://a.example/"}', 'F: line 1: "targets" is not a list'),
        ('{"target": []}', 'F: line 1: an object takes "targets"'),
        ('[\n"https://a.example/",\n]', "F: line 3, column 1: not JSON"),
        ('{\n"targets": [}', "F: line 2, column 13: not JSON"),
        ('{\n"targets": [NaN]}', "F: not JSON"),
        ("[" * 100000, "F: not JSON"),
    ],
)
def test_bad_input_names_the_line(text: str, message: str) -> None:
    with pytest.raises(click.UsageError) as caught:
        parse("F", text)

    assert caught.value.message.startswith(message)


@pytest.mark.parametrize(
    "text",
    [
        "https://a.example/\nnope\n\n{\nftp://b.example/\n",
        '["https://a.example/",\n"nope",\n\n5,\n{}]',
        '{"targets": ["https://a.example/",\n"nope",\n\n5,\n{}]}',
    ],
)
def test_every_wrong_line_is_named(text: str) -> None:
    with pytest.raises(WrongPlaces) as caught:
        parse("F", text)

    assert [message.split(": ")[1] for message in caught.value.messages] == ["line 2", "line 4", "line 5"]


def test_a_file_that_is_no_list_at_all_is_not_said_to_its_last_line() -> None:
    with pytest.raises(WrongPlaces) as caught:
        parse("F", "not a url\n" * 500)

    assert len(caught.value.messages) == 101
    assert caught.value.messages[-1] == "there may be more; is this a list of targets?"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing to submit"),
        (["a.txt", "b.txt"], "b.txt: one FILE at most"),
        (["missing.txt"], "missing.txt: no such file or directory"),
        (["."], ".: is a directory"),
        (["empty.txt"], "empty.txt: no targets in it"),
        (["latin.txt"], "latin.txt: line 2: not UTF-8"),
        (["nul\0.txt"], "nul\0.txt: cannot be read"),
    ],
)
def test_what_cannot_be_read_is_said(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.txt").write_text("\n# nothing\n")
    (tmp_path / "latin.txt").write_bytes(b"https://a.example/\nhttps://caf\xe9.example/")

    with pytest.raises(click.UsageError) as caught:
        body_of(arguments, fresh=False)

    assert caught.value.message.startswith(message)


def test_a_byte_order_mark_is_no_part_of_the_first_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbfhttps://a.example/")))

    assert body_of(["-"], fresh=False) == {"targets": [A]}


def test_a_list_beyond_all_measure_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"https://a.example/\n" * 300_000)))

    with pytest.raises(click.UsageError, match="stdin: over 4 MiB"):
        body_of(["-"], fresh=False)
