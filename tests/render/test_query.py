"""jq, grep and page ranges: what they answer, and how they refuse."""

from __future__ import annotations

import contextlib
import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sift.errors import Invalid, TargetError, TooLong, Unsupported
from sift.render import query

DOCUMENT = '{"a": 12345678901234567890, "price": 1.10, "tags": ["x", "é"], "none": null}'


@pytest.mark.parametrize(
    ("program", "result"),
    [
        (".price", "1.10"),
        (".a", "12345678901234567890"),
        (".tags", '["x","é"]'),
        (".tags[]", '"x"\n"é"'),
        (".missing", "null"),
        ("empty", ""),
        (".tags | length, 1 # and a comment", "2\n1"),
        ("def f: 1; f", "1"),
        ('.none // "or"', '"or"'),
        ("label $out | 1, break $out, 2", "1"),
    ],
)
def test_jq_gives_one_result_a_line_as_compact_json(program: str, result: str) -> None:
    assert query.jq(program, DOCUMENT) == result


def test_jq_runs_over_each_document_of_ndjson() -> None:
    assert query.jq(".n", '{"n": 1}\n{"n": 2}\n') == "1\n2"


@pytest.mark.parametrize("program", ["env", "$ENV", "def f(x): x; f(env)"])
def test_jq_sees_no_environment(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "hunter2")
    assert query.jq(program, "1") == "{}"
    assert "hunter2" not in query.jq('"\\(env) \\($ENV)"', "1")


@pytest.mark.parametrize(
    "program",
    [
        'import "x" as x {search: "/etc"}; .',
        '# why\n include "x" {search: "/tmp"}; .',
        'module {name: "x"}; .',
        'import "passwd" as $p {search: "/etc"}; $p',
    ],
)
def test_jq_modules_are_refused_by_name(program: str) -> None:
    with pytest.raises(Invalid, match="modules"):
        query.check_jq(program)


def test_jq_reads_no_module_at_run_time_either(tmp_path: object) -> None:
    with pytest.raises(TargetError):
        query.jq(f'"{tmp_path}/a" | modulemeta', "1")
    assert query.jq("input_filename, get_search_list", "1") == "null\n[]"


@pytest.mark.parametrize(
    ("program", "text"),
    [
        ("foo", "invalid: jq: foo/0 is not defined"),
        (".a | $x", "invalid: jq: $x is not defined"),
        (".[", "invalid: jq: does not compile: the program ends too early"),
        (".a\n| | .b", "invalid: jq: does not compile at line 2, column 3"),
        ("1) | (2", "invalid: jq: does not compile at line 1, column 2"),
        ("", "invalid: jq: does not compile: the program ends too early"),
        ("\ud800", "invalid: jq: a character that no program holds; write it as an escape"),
        (".\0", "invalid: jq: a character that no program holds; write it as an escape"),
        ("1" * 8_001, "invalid: jq: 8001 characters, at most 8000"),
    ],
)
def test_a_bad_jq_program_says_where_it_is_wrong(program: str, text: str) -> None:
    with pytest.raises(Invalid) as error:
        query.check_jq(program)
    assert str(error.value) == text


@pytest.mark.parametrize(
    ("program", "document", "text"),
    [
        (".a.b", DOCUMENT, "the jq program fails on this document: cannot index number with string"),
        (".none[]", DOCUMENT, "the jq program fails on this document: cannot iterate over null"),
        ('error("secret")', DOCUMENT, "the jq program fails on this document"),
        (".", "<html>", "jq needs a JSON document, and the body is not valid JSON"),
        (".", '{"a": 1', "jq needs a JSON document, and the body is not valid JSON"),
        (".", " \n", "jq needs a JSON document, and the body is empty"),
        (".", "[" * 20_000 + "]" * 20_000, "jq needs a JSON document, and the body is not valid JSON"),
    ],
)
def test_a_program_that_fails_on_a_document_is_unsupported(program: str, document: str, text: str) -> None:
    with pytest.raises(Unsupported) as error:
        query.jq(program, document)
    assert str(error.value).startswith(f"unsupported: {text}")
    assert "secret" not in str(error.value)


def test_endless_jq_results_are_too_long() -> None:
    with pytest.raises(TooLong):
        query.jq('"x" * 1000000 | repeat(.)', "1")


def test_grep_keeps_matching_lines_with_their_numbers() -> None:
    assert query.grep("b", "abc\nxyz\n\nb") == ("1:abc\n4:b", 2, 4)


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("^b$", "2:b"),
        ("^", "1:a\n2:b\n3:ab\n4:\n5:é"),
        ("", None),
        ("z*", "1:a\n2:b\n3:ab\n4:\n5:é"),
        ("(?i)AB", "3:ab"),
        (r"\bb\b", "2:b"),
        ("[^a]", "2:b\n3:ab\n5:é"),
        (r"(?s)a.b", ""),
        (r"a\nb", ""),
        (r"\Ab", "2:b"),
        (r"b\z", "2:b\n3:ab"),
        ("(?-m)^b", "2:b"),
        ("é", "5:é"),
        ("a|é", "1:a\n3:ab\n5:é"),
    ],
)
def test_grep_never_matches_across_lines(pattern: str, found: str | None) -> None:
    if found is None:
        with pytest.raises(Invalid):
            query.grep(pattern, "a")
        return
    assert query.grep(pattern, "a\r\nb\rab\n\né\n")[0] == found


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(a", "invalid: grep: a ( is not closed"),
        ("a)", "invalid: grep: a ) was not opened"),
        ("x)(?:y", "invalid: grep: a ) was not opened"),
        ("[a", "invalid: grep: a [ is not closed"),
        ("*a", "invalid: grep: a *, + or ? with nothing before it; write \\* for the sign itself"),
        ("a**", "invalid: grep: two repetitions in a row"),
        (r"(a)\1", "invalid: grep: an escape that RE2 does not know (it has no back-references)"),
        ("(?=a)", "invalid: grep: look-around and other forms with (? are not in RE2; name what the lines hold"),
        ("a{1001}", "invalid: grep: a repetition over 1000"),
        ("[z-a]", "invalid: grep: a range in [] that runs backwards or is unknown"),
        ("a\\", "invalid: grep: a \\ at the end"),
        ("\ud800", "invalid: grep: not a pattern that RE2 takes"),
        ("", "invalid: grep: empty; leave it out to get every line"),
        ("a" * 1001, "invalid: grep: 1001 characters, at most 1000"),
    ],
)
def test_a_bad_pattern_is_explained_without_being_repeated(
    pattern: str, text: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(Invalid) as error:
        query.check_grep(pattern)
    assert str(error.value) == text
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", ".*.*.*x", "(x+x+)+y", "a", "[a-z]{1,50}z"])
def test_no_pattern_is_slow(pattern: str) -> None:
    text = ("a" * 200 + "\n") * 3_000
    began = time.process_time()
    query.grep(pattern, text)
    assert time.process_time() - began < 2


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(["a", "^a", "b$", "a*", "[^b]", "^$", ".", "a.b", "(?s).a", r"\s", r"\S+b", "é|b", "a$|^b"]),
    st.text(alphabet="abé \n\r", max_size=60),
)
def test_one_search_over_the_text_is_the_same_as_one_a_line(pattern: str, text: str) -> None:
    import re2

    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    lines = lines[:-1] if lines[-1] == "" else lines
    expected = [f"{n}:{line}" for n, line in enumerate(lines, 1) if re2.search(pattern, line)]
    assert query.grep(pattern, text) == ("\n".join(expected), len(expected), len(lines))


@pytest.mark.parametrize(
    ("pages", "ranges"),
    [
        ("3", [(3, 3)]),
        ("1-3,7", [(1, 3), (7, 7)]),
        ("5-", [(5, None)]),
        ("7,1-3,2", [(1, 3), (7, 7)]),
        ("2-4,3-6,7", [(2, 7)]),
        ("5-,7-9,2", [(2, 2), (5, None)]),
        ("7-9,5-", [(5, None)]),
        (" 1 - 3 , 5 ", [(1, 3), (5, 5)]),
        ("2,2,2", [(2, 2)]),
    ],
)
def test_page_ranges_come_in_order_and_folded(pages: str, ranges: list[tuple[int, int | None]]) -> None:
    assert query.parse_pages(pages) == ranges


@pytest.mark.parametrize(
    "pages", ["", " ", "a", "1,,2", "-5", "0", "0-3", "3-1", "1-2-3", "٣", "1.5", "9" * 30, "1," * 300, "\0"]
)
def test_a_bad_page_range_is_invalid(pages: str) -> None:
    with pytest.raises(Invalid, match="pages: "):
        query.parse_pages(pages)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_whatever_is_asked_answers_or_is_refused_by_name(program: str, pattern: str, pages: str) -> None:
    for ask in (
        lambda: query.jq(program, "{}"),
        lambda: query.grep(pattern, program),
        lambda: query.parse_pages(pages),
    ):
        with contextlib.suppress(Invalid, Unsupported, TooLong):
            ask()


def test_the_result_of_jq_is_json() -> None:
    assert json.loads(query.jq(".", DOCUMENT)) == json.loads(DOCUMENT)
