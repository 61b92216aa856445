"""PDFs: pages under their numbers, reading order, tables, hyphens, headings, and every way to be refused."""

from __future__ import annotations

import contextlib
import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sift.errors import Invalid, Unsupported
from sift.render import pdf
from sift.render.pdf import layout, words
from sift.render.pdf.reader import Piece
from tests.support import pdfs

FIVE = pdfs.pdf([pdfs.lines(f"This is page {number}") for number in range(1, 6)])


def shown(*pages: list[pdfs.Run], **options: object) -> str:
    return pdf.render(pdfs.pdf(pages, **options), None, context=False).text  # type: ignore[arg-type]


def test_each_page_comes_under_its_number() -> None:
    found = pdf.render(FIVE, None, context=False)
    assert found.text.startswith("## Page 1\n\nThis is page 1\n\n## Page 2\n\nThis is page 2\n")
    assert (found.total, found.returned) == (5, "1-5")


@pytest.mark.parametrize(
    ("pages", "returned"),
    [("2", "2"), ("2-3", "2-3"), ("4-", "4-5"), ("5,1-2,2", "1-2,5"), ("3-99", "3-5"), ("1-,2", "1-5")],
)
def test_pages_are_taken_in_any_order_and_folded(pages: str, returned: str) -> None:
    found = pdf.render(FIVE, pages, context=False)
    assert (found.total, found.returned) == (5, returned)
    assert [f"## Page {n}" in found.text for n in range(1, 6)] == [f"page {n}" in found.text for n in range(1, 6)]


@pytest.mark.parametrize("pages", ["6", "6-", "1,9-12"])
def test_a_range_outside_says_how_many_pages_there_are(pages: str) -> None:
    with pytest.raises(Invalid, match=r"pages: .* is outside of the document, which has 5 pages"):
        pdf.render(FIVE, pages, context=False)


def test_an_encrypted_pdf_is_said_to_be() -> None:
    with pytest.raises(Unsupported, match="encrypted"):
        pdf.render(pdfs.pdf([pdfs.lines("secret")], is_encrypted=True), None, context=False)


@pytest.mark.parametrize(
    "body", [b"", b" \n", b"%PDF-1.4", b"%PDF-1.7\ngarbage\n%%EOF", b"not a pdf at all", FIVE[40:400]]
)
def test_an_empty_or_damaged_pdf_is_said_to_be(body: bytes) -> None:
    with pytest.raises(Unsupported, match="damaged" if body.strip() else "empty") as error:
        pdf.render(body, None, context=False)
    assert error.value.hint == "browser"


def test_a_pdf_whose_table_of_places_is_wrong_still_gives_its_pages() -> None:
    body = FIVE.replace(b"startxref\n", b"startxref\n9")
    assert "This is page 2" in pdf.render(body, "2", context=False).text


def test_a_scan_has_no_text_and_hints_at_a_browser() -> None:
    with pytest.raises(Unsupported, match="no text") as error:
        pdf.render(pdfs.pdf([[], []]), None, context=False)
    assert error.value.hint == "browser"


def test_a_page_without_text_among_others_says_so() -> None:
    assert "## Page 2\n\n(no text on this page)\n\n## Page 3" in shown(pdfs.lines("a"), [], pdfs.lines("b"))


def test_wrapped_lines_become_paragraphs_and_short_lines_stay() -> None:
    text = (
        "The first line of this paragraph runs until the right edge\n"
        "and goes on here, where it also nearly reaches the edge of\n"
        "the column.\n\n"
        "name = value\n"
        "other = 1"
    )
    assert shown(pdfs.lines(text)) == (
        "## Page 1\n\nThe first line of this paragraph runs until the right edge and goes on here, where it also "
        "nearly reaches the edge of the column.\n\nname = value\nother = 1\n"
    )


def test_code_keeps_its_lines_and_its_indentation() -> None:
    code = [(0, "def first(values):"), (4, "for value in values:"), (8, "return value"), (0, "print(first([1]))")]
    runs = [(72 + 6.0 * indent, 700.0 - 12 * n, 10.0, line) for n, (indent, line) in enumerate(code)]
    assert shown(runs, font="Courier") == (
        "## Page 1\n\ndef first(values):\n    for value in values:\n        return value\nprint(first([1]))\n"
    )


def test_list_items_stay_on_lines_of_their_own() -> None:
    text = "• the first item, which is as wide as the column is\n• the second\n1. one\n2. two"
    assert "is\n• the second\n1. one\n2. two" in shown(pdfs.lines(text))


def test_a_hyphen_at_a_line_end_joins_the_word_unless_it_stands_elsewhere() -> None:
    text = "This shows an exam-\nple of a well-known rule, and a well-\nknown one, by Jean-\nPaul"
    assert shown(pdfs.lines(text)).endswith("an example of a well-known rule, and a well-known one, by Jean-Paul\n")


def two_columns(is_row_by_row: bool) -> list[pdfs.Run]:
    left = pdfs.lines("\n".join(f"left column line {n} goes on" for n in range(12)), x=72, y=650)
    right = pdfs.lines("\n".join(f"right column line {n} goes on" for n in range(12)), x=320, y=650)
    title = pdfs.lines("A title that runs over the width of both of the two columns", x=100, y=720, size=16)
    if not is_row_by_row:
        return [*title, *left, *right]
    return [*title, *(run for pair in zip(left, right, strict=True) for run in pair)]


@pytest.mark.parametrize("is_row_by_row", [True, False])
def test_two_columns_are_read_one_after_the_other(is_row_by_row: bool) -> None:
    text = shown(two_columns(is_row_by_row))
    order = [text.index(f"{side} column line {n} ") for side in ("left", "right") for n in range(12)]
    assert order == sorted(order)
    assert text.index("A title") < order[0]


TABLE = [("Name", "Age", "Town"), ("Alice", "30", "Berlin"), ("Bob", "41", "Graz | Linz"), ("Cy", "", "Ulm")]


@pytest.mark.parametrize("is_row_by_row", [True, False])
def test_a_table_keeps_its_columns_apart(is_row_by_row: bool) -> None:
    runs = [
        (72.0 + 120 * column, 700.0 - 14 * row, 10.0, cell)
        for row, cells in enumerate(TABLE)
        for column, cell in enumerate(cells)
        if cell
    ]
    if not is_row_by_row:
        runs.sort(key=lambda run: run[0])
    assert shown([*pdfs.lines("Before", y=730), *runs, *pdfs.lines("After", y=640)]) == (
        "## Page 1\n\nBefore\n\n"
        "| Name | Age | Town |\n| --- | --- | --- |\n| Alice | 30 | Berlin |\n| Bob | 41 | Graz \\| Linz |\n"
        "| Cy |  | Ulm |\n\nAfter\n"
    )


def test_what_stands_apart_on_one_line_stays_apart() -> None:
    assert "left   right" in shown([(72, 700, 10, "left"), (400, 700, 10, "right")])


def test_outline_entries_become_headings_where_their_lines_stand() -> None:
    text = shown(
        pdfs.lines("1. Introduction\nSome words\nGetting Started\nMore words"),
        pdfs.lines("words"),
        outline=[(0, "Introduction", 1), (1, "Getting  started", 1), (0, "Nowhere to be seen", 2)],
    )
    assert "### 1. Introduction\n\nSome words\n\n#### Getting Started\n\nMore words" in text
    assert "## Page 2\n\n### Nowhere to be seen\n\nwords" in text


def test_a_heading_that_runs_into_its_text_comes_before_it() -> None:
    text = shown(pdfs.lines("Before.\n\nGitHub The code is kept there.\n\nAfter."), outline=[(0, "GitHub", 1)])
    assert "Before.\n\n### GitHub\n\nGitHub The code is kept there." in text


def test_an_outline_that_leads_in_a_circle_ends() -> None:
    body = pdfs.pdf([pdfs.lines("x")], outline=[(0, "A", 1), (0, "B", 1)])
    first = body.index(b"/Next") + 6
    turned = body[:first] + b"7" + body[first + 1 :]
    assert "x" in pdf.render(turned, None, context=True).text


def test_ligatures_and_odd_spaces_are_plain_letters() -> None:
    assert words.cleaned("e\ufb03cient\u00a0o\ufb00er\u00ad\ufffe\x00") == "efficient offer"


def test_context_has_title_author_dates_outline_links() -> None:
    body = pdfs.pdf(
        [pdfs.lines("One two")],
        outline=[(0, "Top", 1), (1, "Below", 1)],
        about={"Title": "Größe", "Author": "Ada", "Subject": "Sizes", "CreationDate": "D:20240102030405+02'00'"},
        language="de-AT",
        links=["https://a.example/", "javascript:alert(1)", "https://a.example/"],
    )
    found = pdf.render(body, None, context=True)
    assert found.title == "Größe"
    assert found.context == {
        "title": "Größe",
        "description": "Sizes",
        "author": "Ada",
        "published": "2024-01-02T01:04:05Z",
        "modified": None,
        "site": None,
        "language": "de-AT",
        "canonical": None,
        "outline": [{"level": 1, "text": "Top"}, {"level": 2, "text": "Below"}],
        "links": [{"text": "", "url": "https://a.example/"}],
        "words": 6,
    }


@pytest.mark.parametrize("title", ["", "untitled", "Microsoft Word - report.doc", "thesis.dvi", "Document1"])
def test_a_title_that_is_none_is_left_out(title: str) -> None:
    assert pdf.render(pdfs.pdf([pdfs.lines("x")], about={"Title": title}), None, context=False).title is None


def test_facts_that_are_no_unicode_are_left_out() -> None:
    body = pdfs.pdf([pdfs.lines("x")], about={"Title": "ab", "Author": "Ada"})
    found = pdf.render(body.replace(b"<feff00610062>", b"<feffd8000062>"), None, context=True)
    assert found.context is not None
    assert (found.title, found.context["author"]) == (None, "Ada")


@pytest.mark.parametrize("date", ["", "yesterday", "D:20241399", "D:2024", "D:99999999999999Z99'99"])
def test_a_date_that_is_none_is_left_out(date: str) -> None:
    found = pdf.render(pdfs.pdf([pdfs.lines("x")], about={"CreationDate": date}), None, context=True)
    assert found.context is not None
    assert found.context["published"] == ("2024-01-01T00:00:00Z" if date == "D:2024" else None)


def test_a_few_pages_of_two_thousand_take_well_under_a_second() -> None:
    outline = [(n % 2, f"Section {n}", n + 1) for n in range(2000)]
    body = pdfs.pdf([pdfs.lines(f"Section {n}\n" + "words and words\n" * 40) for n in range(2000)], outline=outline)
    began = time.process_time()
    found = pdf.render(body, "1000-1002", context=True)
    assert time.process_time() - began < 0.7
    assert (found.total, found.returned) == (2000, "1000-1002")


def test_a_page_count_that_lies_costs_little() -> None:
    body = FIVE.replace(b"/Count 5", b"/Count 999999999")
    began = time.process_time()
    with contextlib.suppress(Unsupported):
        pdf.render(body, None, context=False)
    assert time.process_time() - began < 2


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_a_mutated_pdf_gives_text_or_a_typed_refusal(seed: int) -> None:
    chance = random.Random(seed)
    body = bytearray(FIVE)
    for _ in range(chance.randint(1, 30)):
        body[chance.randrange(len(body))] = chance.randrange(256)
    with contextlib.suppress(Unsupported):
        pdf.render(bytes(body), None, context=True).text.encode()


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.builds(
            Piece,
            st.text(min_size=1, max_size=30),
            st.floats(-1000, 1000),
            st.floats(-1000, 1000),
            st.floats(-1000, 1000),
            st.floats(0.1, 50),
        ),
        max_size=40,
    )
)
def test_no_piece_is_lost_or_doubled_wherever_it_stands(pieces: list[Piece]) -> None:
    for number, piece in enumerate(pieces):
        piece.text = f"w{number}w"
        piece.right = max(piece.left, piece.right)
    text = "\n".join(layout.in_order(pieces))
    assert all(text.count(piece.text) == 1 for piece in pieces)
