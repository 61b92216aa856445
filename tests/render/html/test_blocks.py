"""Lists, definitions, quotes, figures, footnotes and formulas."""

from __future__ import annotations

from collections.abc import Callable

Markdown = Callable[[str], str]


def test_nested_lists_are_indented_and_numbered_as_the_page_says(inside: Markdown) -> None:
    text = inside("<ul><li>a<ul><li>b<ol start=3><li>c</li><li>d</li></ol></li></ul></li><li>e</li></ul>")
    assert text == "- a\n  - b\n    3. c\n    4. d\n- e"


def test_items_of_several_paragraphs_are_parted_by_blank_lines(inside: Markdown) -> None:
    assert inside("<ol><li><p>one</p><p>more</p></li><li>two</li></ol>") == "1. one\n\n   more\n\n2. two"


def test_a_list_in_a_list_without_an_item_is_nested_too(inside: Markdown) -> None:
    assert "- b" in inside("<ul><li>a</li><ul><li>b</li></ul></ul>")


def test_a_list_whose_items_hold_headings_is_no_list(inside: Markdown) -> None:
    assert inside("<ul><li><h3>One</h3><p>first</p></li><li><h3>Two</h3><p>second</p></li></ul>") == (
        "### One\n\nfirst\n\n### Two\n\nsecond"
    )


def test_terms_and_their_definitions_belong_together(inside: Markdown) -> None:
    text = inside("<dl><dt>A</dt><dd>one</dd><dt><code>b</code></dt><dd>two<ul><li>x</li></ul></dd></dl>")
    assert text == "- **A**\n\n  one\n\n- **`b`**\n\n  two\n\n  - x"


def test_the_signature_of_a_function_is_code(inside: Markdown) -> None:
    text = inside(
        '<dl class="py function"><dt class="sig sig-object py"><span>f</span><span>(</span><em>a_b</em>=<em>1</em>)'
        '<a class="headerlink" href="#f">¶</a></dt><dd><p>Does f.</p></dd></dl>'
    )
    assert text == "- `f(a_b=1)`\n\n  Does f."


def test_task_lists_show_what_is_done(inside: Markdown) -> None:
    assert inside('<ul><li><input type="checkbox" checked> a</li><li><input type=checkbox> b</li></ul>') == (
        "- [x] a\n- [ ] b"
    )


def test_quotes_hold_their_blocks(inside: Markdown) -> None:
    assert (
        inside("<blockquote><p>one</p><p>two</p><pre>c</pre></blockquote>") == "> one\n>\n> two\n>\n> ```\n> c\n> ```"
    )


def test_a_figure_keeps_its_caption(inside: Markdown) -> None:
    text = inside('<figure><img src="/i.png" alt="A cat"><figcaption>The cat sits.</figcaption></figure>')
    assert text == "![A cat](https://site.example/i.png)\n\nThe cat sits."


def test_details_show_their_summary_and_content(inside: Markdown) -> None:
    assert inside("<details><summary>More</summary><p>Inside.</p></details>") == "**More**\n\nInside."


def test_footnotes_carry_one_label_and_no_link_back(inside: Markdown) -> None:
    text = inside(
        '<p>Text<sup id="r1"><a href="#fn1">1</a></sup> goes on.</p><section class="footnotes"><ol>'
        '<li id="fn1"><p>The note. <a href="#r1" class="footnote-backref">↩</a></p></li></ol></section>'
    )
    assert text == "Text[^1] goes on.\n\n[^1]: The note."


def test_a_note_that_is_not_there_is_a_link(inside: Markdown) -> None:
    assert (
        inside('<p>Text<sup><a href="#gone">1</a></sup></p>') == "Text[1](https://site.example/dir/page.html?x=1#gone)"
    )


def test_formulas_are_tex_from_the_annotation(inside: Markdown) -> None:
    source = '<annotation encoding="application/x-tex">{\\displaystyle x^2_i}</annotation>'
    math = f"<math><semantics><mi>x</mi>{source}</semantics></math>"
    assert inside(f"<p>Eq {math} holds.</p>") == "Eq $x^2_i$ holds."


def test_katex_is_its_annotation_once(inside: Markdown) -> None:
    text = inside(
        '<p>So <span class="katex"><span class="katex-mathml"><math><semantics><mi>y</mi><annotation '
        'encoding="application/x-tex">y_1*z</annotation></semantics></math></span><span class="katex-html" '
        'aria-hidden="true"><span>y1z</span></span></span>.</p>'
    )
    assert text == "So $y_1*z$."


def test_the_hidden_source_of_a_formula_is_read(inside: Markdown) -> None:
    text = inside(
        '<p>Let <span class="mwe-math-element"><span class="mwe-math-mathml-inline" style="display: none;"><math>'
        '<semantics><mi>q</mi><annotation encoding="application/x-tex">q_{i}</annotation></semantics></math></span>'
        '<img class="mwe-math-fallback-image-inline" aria-hidden="true" alt="q_{i}" src="/q.svg"></span> be.</p>'
    )
    assert text == "Let $q_{i}$ be."


def test_formulas_without_a_source_are_made_from_their_elements(inside: Markdown) -> None:
    assert inside('<math display="block"><mfrac><mn>1</mn><msup><mi>x</mi><mn>2</mn></msup></mfrac></math>') == (
        "$$\\frac{1}{x^{2}}$$"
    )


def test_tex_in_a_script_is_a_formula(inside: Markdown) -> None:
    assert inside('<p>E <script type="math/tex">a^2</script>.</p>') == "E $a^2$."


def test_tex_that_a_script_would_set_is_a_formula(inside: Markdown) -> None:
    text = inside('<p>So <span class="math">\\(x^2\\)</span>:</p><div class="math">\\[a = b\\]</div>')
    assert text == "So $x^2$:\n\n$$a = b$$"


def test_a_label_of_a_note_is_not_said_twice(inside: Markdown) -> None:
    text = inside(
        '<p>Text<a class="footnote-reference" href="#f1" id="id1">1</a>.</p><aside class="footnote-list">'
        '<aside class="footnote" id="f1"><span class="label"><span>[</span><a href="#id1">1</a><span>]</span></span>'
        "<p>The note.</p></aside></aside>"
    )
    assert text == "Text[^1].\n\n[^1]: The note."
