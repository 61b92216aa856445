"""What a caller asks of a text: `jq` programs, `grep` patterns and page ranges, checked and answered.

`check_grep` and `parse_pages` are cheap and safe anywhere; whatever touches jq is hostile work for a worker process.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sift.errors import Invalid, TooLong, Unsupported

GREP_MAX_CHARS = 1_000
JQ_MAX_CHARS = 8_000
QUESTION_MAX_CHARS = 1_000
PAGES_MAX_CHARS = 200

# Small, since a check runs in the server: what does not fit is refused in 20 ms, where 8 MiB took a quarter second.
_GREP_CHECK_BYTES = 1024 * 1024
# Large, since with 8 MiB a dense pattern falls back to RE2's slow way, 80 times slower.
_GREP_BYTES = 32 * 1024 * 1024
_JQ_RESULT_CHARS = 32 * 1024 * 1024
# Read before the caller's program: `env`, `$ENV` and modules read the machine, not the document. That the program
# then is no longer the first thing makes `import`, `include` and `module` syntax errors, too.
_JQ_PRELUDE = (
    "def env: {}; "
    'def modulemeta: error("modules are not available"); '
    "def get_search_list: []; "
    "def input_filename: null; "
    "def halt_error: error; "
    "def halt_error(code): error; "
    "{} as $ENV |\n"
)
_JQ_MODULE = re.compile(r"(?:\s|#[^\n]*\n)*(?:import|include|module)\b")
_JQ_PLACE = re.compile(r"line (\d+), column (\d+)")
_JQ_UNDEFINED = re.compile(r"error: (\$?[\w:]{1,60}(?:/\d{1,3})?) is not defined")
_JQ_INDEX = re.compile(r"Cannot index (\w+) with (\w+)")
_JQ_ITERATE = re.compile(r"Cannot iterate over (\w+)")
# Patterns for which one search over the whole text would not be the same as one over each line.
_GREP_LINEWISE = re.compile(r"\\[AzC]|\(\?[a-zA-Z]*-|\(\?P?<?[a-zA-Z]*-")
_PAGE_RANGE = re.compile(r"([0-9]{1,9})(?:\s*(-)\s*([0-9]{1,9})?)?")


def check_jq(program: str) -> None:
    """Raises `Invalid` unless `program` compiles. Compiling is hostile work: in a worker process alone."""
    _compiled(program)


def jq(program: str, json_text: str) -> str:
    """The program's results over the document, one a line, each as compact JSON; empty where it has none.

    Numbers come out as they went in. Several documents in a row (NDJSON) are each given to the program.
    Raises `Invalid` where the program does not compile, `Unsupported` where it fails on this document or the
    text is not JSON, `TooLong` where the results never seem to end.
    """
    if not json_text.strip():
        raise Unsupported("jq needs a JSON document, and the body is empty")
    compiled = _compiled(program)
    lines, size = [], 0
    for line in _results(compiled, json_text):
        lines.append(line)
        size += len(line) + 1
        if size > _JQ_RESULT_CHARS:
            raise TooLong(f"the jq program gave over {_JQ_RESULT_CHARS} characters of results; narrow it")
    return "\n".join(lines)


def _compiled(program: str) -> Any:
    import jq as jq_library  # hostile C code: loaded where it is used, in a worker

    if len(program) > JQ_MAX_CHARS:
        raise Invalid(f"jq: {len(program)} characters, at most {JQ_MAX_CHARS}")
    if "\0" in program or not _is_unicode(program):
        raise Invalid("jq: a character that no program holds; write it as an escape")
    if _JQ_MODULE.match(program):
        raise Invalid("jq: modules (import, include, module) are not available; write the functions out")
    try:
        jq_library.compile(_JQ_PRELUDE + program)
        # tojson in jq itself keeps the digits of numbers, which values of Python would not
        return jq_library.compile(f"{_JQ_PRELUDE}({program}\n) | tojson")
    except ValueError as error:
        raise Invalid(_compile_problem(str(error))) from None


def _results(compiled: Any, json_text: str) -> Iterator[str]:
    try:
        for result in compiled.input_text(json_text):
            yield str(result)
    except ValueError as error:
        raise Unsupported(_run_problem(str(error))) from None


def _compile_problem(message: str) -> str:
    """Where a program is wrong, in our words; lines are counted without the prelude."""
    undefined = _JQ_UNDEFINED.search(message)
    if undefined:
        return f"jq: {undefined[1]} is not defined"
    place = _JQ_PLACE.search(message)
    if place and "unexpected end of file" not in message:
        return f"jq: does not compile at line {max(1, int(place[1]) - 1)}, column {place[2]}"
    return "jq: does not compile: the program ends too early" if place else "jq: does not compile"


def _run_problem(message: str) -> str:
    if "parse error" in message:
        return "jq needs a JSON document, and the body is not valid JSON"
    index = _JQ_INDEX.search(message)
    if index:
        return f"the jq program fails on this document: cannot index {index[1]} with {index[2]}"
    iterate = _JQ_ITERATE.search(message)
    if iterate:
        return f"the jq program fails on this document: cannot iterate over {iterate[1]}"
    return "the jq program fails on this document; try a shorter part of it, or . to see the document"


def check_grep(pattern: str) -> None:
    """Raises `Invalid`, saying what is wrong in our words, unless `pattern` is one that RE2 takes."""
    _checked(pattern)


def grep(pattern: str, text: str) -> tuple[str, int, int]:
    """The matching lines as `N:line`, how many they are, and how many lines the text has.

    Lines end at LF, CRLF or CR; a match never spans two. Time is linear in the text, whatever the pattern.
    """
    _checked(pattern)  # alone first: what only compiles inside a group is no pattern
    compiled = _re2(f"(?m:{pattern})", _GREP_BYTES)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    data = text.encode("utf-8", "replace")
    total = data.count(b"\n") + (not data.endswith(b"\n") if data else 0)
    find = _per_line if _GREP_LINEWISE.search(pattern) else _whole
    found = [b"%d:%b" % (number, line) for number, line in find(compiled, data)]
    return b"\n".join(found).decode(), len(found), total


def _whole(compiled: Any, data: bytes) -> Iterator[tuple[int, bytes]]:
    """One search a matching line: what lies between two matches is passed over inside RE2."""
    at, number = 0, 1
    while at < len(data):
        match = compiled.search(data, at)
        if not match:
            return
        begin = data.rfind(b"\n", at, match.start()) + 1 or at
        number += data.count(b"\n", at, begin)
        end = data.find(b"\n", match.start())
        end = len(data) if end < 0 else end
        if begin == len(data):
            return
        yield number, data[begin:end]
        at, number = end + 1, number + 1


def _per_line(compiled: Any, data: bytes) -> Iterator[tuple[int, bytes]]:
    lines = data.removesuffix(b"\n").split(b"\n") if data else []
    return ((number, line) for number, line in enumerate(lines, 1) if compiled.search(line))


def _checked(pattern: str) -> None:
    if len(pattern) > GREP_MAX_CHARS:
        raise Invalid(f"grep: {len(pattern)} characters, at most {GREP_MAX_CHARS}")
    if not pattern:
        raise Invalid("grep: empty; leave it out to get every line")
    _re2(pattern, _GREP_CHECK_BYTES)


def _re2(pattern: str, max_bytes: int) -> Any:
    """The pattern, compiled never to match a line's end. The library is loaded on first use: it costs 10 ms."""
    import re2

    options = re2.Options()
    options.log_errors = False  # it would print the caller's pattern to stderr
    options.max_mem = max_bytes
    options.never_nl = True
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        raise Invalid(f"grep: {_grep_problem(str(error))}") from None


_GREP_PROBLEMS = (
    ("invalid perl operator", "look-around and other forms with (? are not in RE2; name what the lines hold"),
    ("invalid escape", "an escape that RE2 does not know (it has no back-references)"),
    ("missing )", "a ( is not closed"),
    ("unexpected )", "a ) was not opened"),
    ("missing ]", "a [ is not closed"),
    ("no argument for repetition", "a *, + or ? with nothing before it; write \\* for the sign itself"),
    ("bad repetition operator", "two repetitions in a row"),
    ("invalid repetition size", "a repetition over 1000"),
    ("invalid character class range", "a range in [] that runs backwards or is unknown"),
    ("trailing \\", "a \\ at the end"),
    ("too large", "too large once compiled; shorten its repetitions"),
    ("nesting depth", "nested too deeply"),
)


def _grep_problem(message: str) -> str:
    """RE2's complaint in our words, without the caller's pattern."""
    for theirs, ours in _GREP_PROBLEMS:
        if theirs in message:
            return ours
    return "not a pattern that RE2 takes"


def parse_pages(pages: str) -> list[tuple[int, int | None]]:
    """Page ranges as (first, last), in the document's order, what overlaps or touches folded into one.

    `last` is `None` for an open end. Raises `Invalid` with the part that is wrong.
    """
    if len(pages) > PAGES_MAX_CHARS:
        raise Invalid(f"pages: {len(pages)} characters, at most {PAGES_MAX_CHARS}")
    ranges = sorted((_page_range(part.strip()) for part in pages.split(",")), key=lambda r: (r[0], r[1] is None))
    folded = [ranges[0]]
    for first, last in ranges[1:]:
        before_first, before_last = folded[-1]
        if before_last is not None and first > before_last + 1:
            folded.append((first, last))
        elif before_last is not None:
            folded[-1] = (before_first, None if last is None else max(before_last, last))
    return folded


def _page_range(part: str) -> tuple[int, int | None]:
    match = _PAGE_RANGE.fullmatch(part)
    if not match:
        raise Invalid(f"pages: {_shown(part)} is not a page or a range; write 3, 1-3 or 5-")
    first = int(match[1])
    last = first if not match[2] else int(match[3]) if match[3] else None
    if first == 0 or last == 0:
        raise Invalid("pages: 0 given; pages are counted from 1")
    if last is not None and last < first:
        raise Invalid(f"pages: {first}-{last} runs backwards; write {last}-{first}")
    return first, last


def _shown(part: str) -> str:
    shown = "".join(char for char in part[:20] if char.isprintable())
    return f'"{shown}"' if shown else "an empty part"


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
