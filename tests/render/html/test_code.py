"""Code comes back as it stands, fenced, with the language that the page names."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Markdown = Callable[[str], str]


def test_code_keeps_its_lines_and_indentation(inside: Markdown) -> None:
    assert inside("<pre>if x:\n    y = 1\n\n\tz</pre>") == "```\nif x:\n    y = 1\n\n\tz\n```"


def test_code_in_a_definition_is_fenced_under_it(inside: Markdown) -> None:
    text = inside("<dl><dt>term</dt><dd><p>what it is</p><pre>a = 1\n    b</pre></dd></dl>")
    assert text == "- **term**\n\n  what it is\n\n  ```\n  a = 1\n      b\n  ```"


def test_one_line_of_code_in_a_cell_stays_in_its_row(inside: Markdown) -> None:
    text = inside("<table><tr><th>N</th><th>E</th></tr><tr><td>foo</td><td><pre>x | y</pre></td></tr></table>")
    assert text == "| N | E |\n| --- | --- |\n| foo | `x \\| y` |"


def test_a_listing_in_a_cell_is_fenced_and_the_other_rows_stay_a_table(inside: Markdown) -> None:
    text = inside(
        "<table><tr><th>N</th><th>E</th></tr><tr><td>bar</td><td>z</td></tr>"
        "<tr><td>foo</td><td><pre>x = 1\n  y</pre></td></tr></table>"
    )
    assert text == "| N | E |\n| --- | --- |\n| bar | z |\n\n**N**: foo\n\n**E**:\n\n```\nx = 1\n  y\n```"


def test_a_table_of_one_column_around_code_is_no_table(inside: Markdown) -> None:
    assert inside('<table><tr><td><pre class="language-c">a;\nb;</pre></td></tr></table>') == "```c\na;\nb;\n```"


@pytest.mark.parametrize(
    "piece",
    [
        '<div class="highlight-python"><table class="highlighttable"><tr><td class="linenos"><pre>1\n2</pre></td>'
        '<td class="code"><pre><span>def</span> f():\n    pass\n</pre></td></tr></table></div>',
        '<div class="language-python highlighter-rouge"><div class="highlight"><pre><code><table '
        'class="rouge-table"><tr>'
        '<td class="rouge-gutter gl"><pre class="lineno">1\n2\n</pre></td><td '
        'class="rouge-code"><pre>def f():\n    pass\n'
        "</pre></td></tr></table></code></pre></div></div>",
        '<figure class="highlight python"><table><tr><td class="gutter"><pre><span class="line">1</span><br>'
        '<span class="line">2</span><br></pre></td><td class="code"><pre><span class="line">def f():</span><br>'
        '<span class="line">    pass</span><br></pre></td></tr></table></figure>',
        '<pre class="language-python"><span class="lineno">1 </span>def f():\n<span '
        'class="lineno">2 </span>    pass</pre>',
        '<pre class="language-python line-numbers"><code>def f():\n    pass<span class="line-numbers-rows" '
        'aria-hidden="true"><span></span><span></span></span></code></pre>',
    ],
    ids=["sphinx", "rouge", "hexo", "spans", "prism"],
)
def test_line_numbers_are_no_part_of_the_code(inside: Markdown, piece: str) -> None:
    assert inside(piece) == "```python\ndef f():\n    pass\n```"


def test_a_listing_made_of_a_table_with_a_row_a_line_is_one_block(inside: Markdown) -> None:
    rows = "".join(
        f'<tr><td class="blob-num" data-line-number="{number}"></td><td class="blob-code">{line}</td></tr>'
        for number, line in enumerate(["import os", "  x"], 1)
    )
    assert inside(f'<table class="highlight js-file-line-container">{rows}</table>') == "```\nimport os\n  x\n```"


def test_lines_that_are_elements_become_lines(inside: Markdown) -> None:
    assert inside('<pre><div class="line">a</div><div class="line"><br></div><div class="line">b</div></pre>') == (
        "```\na\n\nb\n```"
    )


def test_spans_that_are_lines_with_nothing_between_become_lines(inside: Markdown) -> None:
    assert inside('<pre><code><span class="line">a</span><span class="line">b</span></code></pre>') == "```\na\nb\n```"


def test_a_br_in_code_is_one_line_break_also_before_one_in_the_source(inside: Markdown) -> None:
    assert inside("<pre>a<br>b<br>\nc</pre>") == "```\na\nb\nc\n```"


def test_copy_buttons_in_and_beside_code_are_left_out(inside: Markdown) -> None:
    piece = (
        '<div><pre><button class="copy">Copy</button><code>x = 1\n</code></pre>'
        "<clipboard-copy>Copy</clipboard-copy></div>"
    )
    assert inside(piece) == "```\nx = 1\n```"


def test_a_fence_is_longer_than_any_run_of_backticks_inside(inside: Markdown) -> None:
    assert inside("<pre>```\ncode\n````</pre>") == "`````\n```\ncode\n````\n`````"


def test_backticks_in_a_code_span_are_kept(inside: Markdown) -> None:
    assert inside("<p>Use <code>a`b</code>, <code>``</code>.</p>") == "Use ``a`b``, ``` `` ```."


@pytest.mark.parametrize(
    ("piece", "language"),
    [
        ('<div class="highlight-python3 notranslate"><div class="highlight"><pre>x</pre></div></div>', "python3"),
        ('<div class="highlight highlight-source-shell"><pre>x</pre></div>', "shell"),
        (
            '<div class="language-ruby highlighter-rouge"><div class="highlight"><pre '
            'class="highlight"><code>x</code></pre></div></div>',
            "ruby",
        ),
        ('<pre class="language-js"><code class="language-js">x</code></pre>', "js"),
        ('<pre><code class="hljs language-go">x</code></pre>', "go"),
        ('<pre><code class="hljs python">x</code></pre>', "python"),
        ('<pre class="brush: php notranslate">x</pre>', "php"),
        ('<pre class="sourceCode haskell"><code class="sourceCode haskell">x</code></pre>', "haskell"),
        ('<pre class="lang-py s-code-block"><code>x</code></pre>', "py"),
        ('<pre><code data-lang="toml">x</code></pre>', "toml"),
        ('<pre class="rust rust-example-rendered">x</pre>', "rust"),
        ('<div class="highlight-default notranslate"><div class="highlight"><pre>x</pre></div></div>', ""),
        ('<pre class="language-none">x</pre>', ""),
        ("<pre>x</pre>", ""),
    ],
)
def test_the_language_is_what_the_page_says(inside: Markdown, piece: str, language: str) -> None:
    assert inside(piece) == f"```{language}\nx\n```"


def test_a_code_element_of_several_lines_that_fills_its_paragraph_is_a_block(inside: Markdown) -> None:
    assert inside("<p><code>a<br>b<br>  c</code></p>") == "```\na\nb\n  c\n```"


def test_spaces_at_the_ends_of_inline_code_go_outside(inside: Markdown) -> None:
    assert inside("<p>use<code> x </code>now</p>") == "use `x` now"


def test_a_link_around_or_in_code_is_a_link_with_code(inside: Markdown) -> None:
    text = inside('<p><code><a href="/x">foo()</a></code> and <a href="/y"><code>bar</code></a></p>')
    assert text == "[`foo()`](https://site.example/x) and [`bar`](https://site.example/y)"


def test_code_in_a_list_item_is_indented_with_it(inside: Markdown) -> None:
    assert inside("<ol><li>run:<pre>make\nmake install</pre></li><li>done</li></ol>") == (
        "1. run:\n\n   ```\n   make\n   make install\n   ```\n\n2. done"
    )


def test_code_whose_line_breaks_are_inside_its_colours_is_a_block(inside: Markdown) -> None:
    assert inside("<div><code><span>&lt;?php<br>echo&nbsp;1;<br></span></code></div>") == "```\n<?php\necho 1;\n```"


def test_a_listing_made_of_divisions_is_a_block(inside: Markdown) -> None:
    numbered = [f'<span class="lineno">{number}</span>int {name};' for number, name in enumerate("xy", 1)]
    lines = "".join(f'<div class="line">{line}</div>' for line in numbered)
    assert inside(f'<div class="fragment">{lines}</div>') == "```\nint x;\nint y;\n```"
