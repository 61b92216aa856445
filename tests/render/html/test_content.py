"""`clean` keeps what a reader came for, on each kind of page, and leaves the furniture."""

from __future__ import annotations

from collections.abc import Callable

Markdown = Callable[[str], str]

PARAGRAPHS = [
    f"Paragraph {number} of the story tells at some length what happened on that day, and to whom it happened."
    for number in range(1, 7)
]
MENU = "<nav><ul><li><a href='/'>Home</a></li><li><a href='/world'>World</a></li></ul></nav>"
FOOTER = "<footer><p>All rights reserved by the publisher. <a href='/imprint'>Imprint</a></p></footer>"
TEASERS = "".join(
    f"<div class='card'><h3><a href='/s{number}'>Another story number {number} that is not ours</a></h3>"
    f"<p>What the other story number {number} says in a line or two about something else.</p></div>"
    for number in range(1, 6)
)


def article(body: str, *, around: str = "") -> str:
    return (
        "<html><head><title>A storm passes - The Paper</title><meta property='og:type' content='article'></head>"
        f"<body>{MENU}<div class='page'><article><h1>A storm passes</h1>{body}</article>{around}"
        f"</div>{FOOTER}</body></html>"
    )


def text_of(*parts: str) -> str:
    return "".join(f"<p>{part}</p>" for part in parts)


def test_an_article_is_its_paragraphs(clean: Markdown) -> None:
    assert clean(article(text_of(*PARAGRAPHS))) == "\n\n".join(PARAGRAPHS)


def test_teasers_comments_and_shares_around_an_article_go(clean: Markdown) -> None:
    replies = text_of(*(f"I do not agree with {part}" for part in PARAGRAPHS))
    around = (
        f"<aside class='sidebar'>{TEASERS}</aside><div class='share-bar'><a href='/f'>Share</a></div>"
        f"<section id='comments'><h2>Comments</h2>{replies}</section>"
    )
    assert clean(article(text_of(*PARAGRAPHS), around=around)) == "\n\n".join(PARAGRAPHS)


def test_unnamed_lists_of_other_articles_go(clean: Markdown) -> None:
    assert clean(article(text_of(*PARAGRAPHS), around=f"<div><div>{TEASERS}</div></div>")) == "\n\n".join(PARAGRAPHS)


def test_promotions_between_paragraphs_go(clean: Markdown) -> None:
    promotion = "<p><strong>Read more:</strong> <a href='/x'>Another story that is not ours at all</a></p>"
    text = clean(article(text_of(*PARAGRAPHS[:3]) + promotion + text_of(*PARAGRAPHS[3:])))
    assert text == "\n\n".join(PARAGRAPHS)


def test_dates_and_names_before_the_text_go(clean: Markdown) -> None:
    lead = "<div><span>19 November 2019, 6:21</span></div><div class='byline'>By <a href='/a'>Ann Other</a></div>"
    assert clean(article(lead + text_of(*PARAGRAPHS))) == "\n\n".join(PARAGRAPHS)


def test_headings_lists_and_quotes_inside_an_article_stay(clean: Markdown) -> None:
    body = (
        f"{text_of(*PARAGRAPHS[:2])}<h2>The second day</h2>{text_of(*PARAGRAPHS[2:4])}<ul>"
        f"<li>wind</li><li>rain</li></ul>"
        f"<blockquote><p>We saw it coming, all of us, and nobody moved.</p></blockquote>{text_of(*PARAGRAPHS[4:])}"
    )
    text = clean(article(body))
    assert "## The second day" in text
    assert "- wind\n- rain" in text
    assert "> We saw it coming" in text


def test_a_caption_in_an_article_is_the_text_of_its_picture(clean: Markdown) -> None:
    figure = "<figure><img src='/i.jpg'><figcaption>The harbour after the storm</figcaption></figure>"
    text = clean(article(text_of(*PARAGRAPHS[:3]) + figure + text_of(*PARAGRAPHS[3:])))
    assert "![The harbour after the storm](https://site.example/i.jpg)" in text


def test_code_and_tables_in_an_article_stay(clean: Markdown) -> None:
    body = (
        f"{text_of(*PARAGRAPHS[:3])}<pre><code class='language-py'>x = 1\n</code></pre>"
        f"<table><tr><th>day</th><th>wind</th></tr><tr><td>1</td><td>80</td></tr></table>{text_of(*PARAGRAPHS[3:])}"
    )
    text = clean(article(body))
    assert "```py\nx = 1\n```" in text
    assert "| day | wind |\n| --- | --- |\n| 1 | 80 |" in text


def test_parts_of_an_article_that_are_built_alike_all_stay(clean: Markdown) -> None:
    blocks = "".join(f"<div class='block'>{text_of(part)}</div>" for part in PARAGRAPHS)
    assert clean(article(f"<div>{blocks}</div>")) == "\n\n".join(PARAGRAPHS)


def test_a_form_around_the_whole_page_is_not_furniture(clean: Markdown) -> None:
    page = (
        article(text_of(*PARAGRAPHS)).replace("<div class='page'>", "<form class='page'>").replace("</div>", "</form>")
    )
    assert clean(page) == "\n\n".join(PARAGRAPHS)


def test_all_answers_to_a_question_are_kept(clean: Markdown) -> None:
    answers = "".join(
        f"<div class='answer' itemprop='suggestedAnswer'><div class='votecell'><span>{number}</span></div>"
        f"<div class='post-body'><p>Answer {number} explains how to do it with a sentinel on the queue.</p>"
        f"<pre class='lang-py'><code>q.put({number})</code></pre></div></div>"
        for number in (7, 8, 9)
    )
    page = (
        f"<html><head><title>How to stop? - Answers</title></head><body>{MENU}<div id='mainbar'><h1>How to stop?</h1>"
        f"<div class='question'><p>I have threads that never end, what do I do about them?</p>"
        f"</div>{answers}</div>{FOOTER}</body></html>"
    )
    text = clean(page)
    assert "I have threads that never end" in text
    for number in (7, 8, 9):
        assert f"Answer {number} explains" in text
        assert f"```py\nq.put({number})\n```" in text
    assert "All rights reserved" not in text


def test_every_post_of_a_forum_thread_is_kept(clean: Markdown) -> None:
    posts = "".join(
        f"<div class='post'><div class='author'>user{number}</div><div class='content'>Post "
        f"number {number} says that the pump "
        f"must be primed before it is started, and that it took {number} tries.</div></div>"
        for number in range(1, 6)
    )
    head = "<html><head><title>Pump - Forum</title></head>"
    text = clean(f"{head}<body>{MENU}<div id='thread'>{posts}</div>{FOOTER}</body></html>")
    assert all(f"Post number {number} says" in text for number in range(1, 6))


def test_a_list_of_links_is_kept_as_links(clean: Markdown) -> None:
    rows = "".join(
        f"<tr class='athing'><td>{number}.</td><td><a href='https://o.example/{number}'>Story "
        f"{number} on the list</a></td></tr>"
        f"<tr><td></td><td>{number * 3} points by user{number}</td></tr>"
        for number in range(1, 8)
    )
    text = clean(f"<html><head><title>News</title></head><body><table class='itemlist'>{rows}</table></body></html>")
    assert all(f"[Story {number} on the list](https://o.example/{number})" in text for number in range(1, 8))


def test_documentation_loses_its_menus_and_keeps_the_rest(clean: Markdown) -> None:
    page = (
        "<html><head><title>cfg - Reference manual</title><meta name='generator' content='Docutils 0.19'></head><body>"
        "<div class='sphinxsidebar'><h3>Table of Contents</h3><ul><li><a href='#a'>a</a></li></ul></div>"
        "<div class='related'><a href='/n'>next</a></div><div role='main' class='body'><h1>cfg</h1><p>Short.</p>"
        "<div class='admonition note'><p>Note</p><p>Mind the gap.</p></div><dl><dt>a</dt><dd>b</dd></dl></div>"
        "<div class='footer'>Made by us</div></body></html>"
    )
    assert clean(page) == "# cfg\n\nShort.\n\nNote\n\nMind the gap.\n\n- **a**\n\n  b"


def test_a_readme_keeps_its_headings(clean: Markdown) -> None:
    page = (
        f"<html><head><title>owner/tool: a tool</title></head><body>{MENU}<div class='file-navigation'>main</div>"
        "<article class='markdown-body'><div class='markdown-heading'><h1>tool</h1><a "
        "class='anchor' href='#tool'></a></div>"
        "<p>A tool.</p><div class='markdown-heading'><h2>Install</h2><a class='anchor' href='#i'></a></div>"
        f"<div class='highlight highlight-source-shell'><pre>pip install tool</pre></div>"
        f"</article>{FOOTER}</body></html>"
    )
    assert clean(page) == "# tool\n\nA tool.\n\n## Install\n\n```shell\npip install tool\n```"


def test_a_short_page_is_all_of_it(clean: Markdown) -> None:
    assert clean("<title>x</title><h1>It works!</h1><p>Yes.</p>") == "# It works!\n\nYes."


def test_a_page_of_text_alone_is_that_text(clean: Markdown) -> None:
    assert clean("just words, no marks") == "just words, no marks"


def test_text_only_in_the_menus_is_better_than_nothing(clean: Markdown) -> None:
    assert "[Home](https://site.example/)" in clean(f"<html><body>{MENU}</body></html>")


def test_an_empty_page_is_empty(clean: Markdown) -> None:
    assert clean("") == ""
    assert clean("<html><body></body></html>") == ""


def test_hidden_text_is_not_shown_even_where_there_is_nothing_else(clean: Markdown) -> None:
    assert clean("<html><body><div hidden><p>secret words that nobody sees on this page</p></div></body></html>") == ""


def test_a_frameset_is_its_frames(clean: Markdown) -> None:
    text = clean("<html><frameset><frame src='menu.html'><frame src='/main.html'></frameset></html>")
    assert "(https://site.example/dir/menu.html)" in text
    assert "(https://site.example/main.html)" in text


def test_a_front_page_keeps_all_its_stories(clean: Markdown) -> None:
    head = "<html><head><title>The Paper</title></head>"
    text = clean(f"{head}<body>{MENU}<div class='main'>{TEASERS}</div>{FOOTER}</body></html>")
    for number in range(1, 6):
        assert f"### [Another story number {number} that is not ours](https://site.example/s{number})" in text
        assert f"What the other story number {number} says" in text


def test_a_section_named_after_its_heading_is_no_menu(clean: Markdown) -> None:
    page = (
        "<html><head><title>cfg - Manual</title><meta name='generator' content='Docutils 0.21'></head><body>"
        "<div role='main'><section id='cfg'><h1>cfg</h1><section id='file-menu-and-share'>"
        "<h2><a class='toc-backref' href='#id1'>File menu and share</a><a class='headerlink' href='#x'>¶</a></h2>"
        "<p>Opens a file.</p></section></section></div></body></html>"
    )
    assert clean(page) == "# cfg\n\n## File menu and share\n\nOpens a file."


def test_tables_and_code_at_an_articles_ends_stay_whole(clean: Markdown) -> None:
    cells = "<td>19.11.2019</td><td><a href='/x'>Share this</a></td>"
    table = f"<table><tr><th>day</th><th>link</th></tr><tr>{cells}</tr></table>"
    text = clean(article(table + text_of(*PARAGRAPHS) + "<pre>Subscribe\n2019-11-19</pre>" + table))
    row = "| 19.11.2019 | [Share this](https://site.example/x) |"
    assert text.count(row) == 2
    assert "```\nSubscribe\n2019-11-19\n```" in text


def test_a_gallery_that_is_the_article_stays(clean: Markdown) -> None:
    slides = "".join(
        f"<div class='slide'><img src='/{at}.jpg'><p>{part}</p></div>" for at, part in enumerate(PARAGRAPHS)
    )
    text = clean(article(f"<div class='gallery'>{slides}</div>"))
    assert all(part in text for part in PARAGRAPHS)


def test_captions_that_are_the_text_stay_text(clean: Markdown) -> None:
    figures = "".join(f"<figure><img src='/i.jpg'><figcaption>{part}</figcaption></figure>" for part in PARAGRAPHS)
    text = clean(article(figures + text_of(PARAGRAPHS[0])))
    assert all(f"\n{part}" in text for part in PARAGRAPHS[1:])


def test_a_short_manual_page_beside_a_long_menu_is_found(clean: Markdown) -> None:
    menu = "".join(f"<li><a href='/m{number}'>Entry number {number} of the menu</a></li>" for number in range(80))
    page = (
        f"<html><head><title>cfg - Documentation</title></head><body><div class='x1'><ul>{menu}</ul></div>"
        "<main><h1>cfg</h1><p>Sets it.</p><pre>cfg = 1</pre></main></body></html>"
    )
    assert clean(page) == "# cfg\n\nSets it.\n\n```\ncfg = 1\n```"
