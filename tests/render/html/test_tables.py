"""Tables are valid Markdown tables, one row a row; layout is no table."""

from __future__ import annotations

from collections.abc import Callable

Markdown = Callable[[str], str]


def test_a_table_with_headings_is_a_markdown_table(inside: Markdown) -> None:
    text = inside(
        "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>"
    )
    assert text == "| a | b |\n| --- | --- |\n| 1 | 2 |"


def test_a_table_without_headings_gets_an_empty_heading_row(inside: Markdown) -> None:
    text = inside("<table><tr><th>k</th><td>v</td></tr><tr><th>l</th><td>w</td></tr></table>")
    assert text == "|  |  |\n| --- | --- |\n| k | v |\n| l | w |"


def test_pipes_and_line_breaks_in_cells_do_not_break_the_row(inside: Markdown) -> None:
    text = inside(
        "<table><tr><th>A</th><th>B</th></tr><tr><td>a | b</td><td>one<br>two</td></tr>"
        "<tr><td><p>p1</p>\n<p>p2</p></td><td><ul><li>x<li>y</ul></td></tr><tr><td><code>a|b"
        "</code></td><td>3\n4</td></tr></table>"
    )
    assert text.split("\n")[2:] == [
        "| a \\| b | one<br>two |",
        "| p1<br>p2 | • x<br>• y |",
        "| `a\\|b` | 3 4 |",
    ]


def test_spans_leave_cells_empty_so_that_columns_hold(inside: Markdown) -> None:
    text = inside(
        "<table><tr><th colspan=2>AB</th><th>C</th></tr><tr><td rowspan=2>r</td><td>1</td><td>2</td></tr>"
        "<tr><td>3</td><td>4</td></tr></table>"
    )
    assert text == "| AB |  | C |\n| --- | --- | --- |\n| r | 1 | 2 |\n|  | 3 | 4 |"


def test_senseless_spans_are_read_as_one(inside: Markdown) -> None:
    text = inside(
        "<table><tr><th colspan=x>A</th><th rowspan=-1>B</th></tr><tr><td colspan=0>1</td><td>2</td></tr></table>"
    )
    assert text == "| A | B |\n| --- | --- |\n| 1 | 2 |"


def test_a_layout_table_is_its_blocks(inside: Markdown) -> None:
    text = inside("<table><tr><td><h2>Left</h2><p>one</p></td><td><h2>Right</h2><p>two</p></td></tr></table>")
    assert text == "## Left\n\none\n\n## Right\n\ntwo"


def test_a_table_that_says_it_is_presentation_is_its_blocks(inside: Markdown) -> None:
    assert inside('<table role="presentation"><tr><td>one</td><td>two</td></tr></table>') == "one\n\ntwo"


def test_a_data_table_in_a_layout_table_is_a_table(inside: Markdown) -> None:
    text = inside(
        "<table><tr><td>Outer</td><td><table><tr><th>i</th><th>j</th></tr><tr><td>1</td><td>2"
        "</td></tr></table></td></tr></table>"
    )
    assert text == "Outer\n\n| i | j |\n| --- | --- |\n| 1 | 2 |"


def test_a_table_in_a_cell_of_a_data_table_stays_in_its_row(inside: Markdown) -> None:
    text = inside(
        "<table><tr><th>k</th><th>v</th></tr><tr><td>a</td><td><table><tr><td>1</td><td>2</td>"
        "</tr></table></td></tr></table>"
    )
    assert text == "| k | v |\n| --- | --- |\n| a | 1<br>2 |"


def test_a_caption_stands_before_its_table(inside: Markdown) -> None:
    text = inside("<table><caption>Sizes</caption><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>")
    assert text.startswith("**Sizes**\n\n| a | b |\n")


def test_links_and_emphasis_in_cells_are_kept(inside: Markdown) -> None:
    text = inside('<table><tr><th>a</th><th>b</th></tr><tr><td><a href="/x">x</a></td><td><b>y</b></td></tr></table>')
    assert text.split("\n")[2] == "| [x](https://site.example/x) | **y** |"


def test_a_row_that_is_a_heading_parts_the_table(inside: Markdown) -> None:
    text = inside(
        "<table><tr><td colspan=2><h2>One</h2></td></tr><tr><td>a</td><td>b</td></tr>"
        "<tr><td colspan=2><h2>Two</h2></td></tr><tr><td>c</td><td>d</td></tr></table>"
    )
    assert text == "## One\n\n|  |  |\n| --- | --- |\n| a | b |\n\n## Two\n\n|  |  |\n| --- | --- |\n| c | d |"


def test_columns_without_any_text_are_left_out(inside: Markdown) -> None:
    text = inside("<table><tr><td>1.</td><td></td><td>a</td></tr><tr><td>2.</td><td> </td><td>b</td></tr></table>")
    assert text == "|  |  |\n| --- | --- |\n| 1. | a |\n| 2. | b |"
