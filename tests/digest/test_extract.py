"""The extractive digest: the passages that answer, whole, in their place, and what is said where none does."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sift.digest import extract
from sift.digest.extract import NOTHING_FOUND


def test_nine_of_ten_questions_find_their_passage_and_seven_find_it_first(
    pages: dict[str, str], questions: list[tuple[str, str, str]]
) -> None:
    held = first = 0
    for page, question, marker in questions:
        found = [passage.text for passage in extract(pages[page], question, max_chars=4000).passages]
        held += any(marker in text for text in found)
        first += marker in found[0]
    assert len(questions) >= 60
    assert held >= 0.98 * len(questions)
    assert first >= 0.85 * len(questions)


def test_it_holds_over_all_pages_as_one_text_as_well(
    pages: dict[str, str], questions: list[tuple[str, str, str]]
) -> None:
    whole = "\n\n".join(pages.values())
    held = sum(
        any(marker in passage.text for passage in extract(whole, question, max_chars=4000).passages)
        for _, question, marker in questions
    )
    assert held >= 0.95 * len(questions)


@pytest.mark.parametrize("max_chars", [100, 300, 1200, 4000])
def test_no_digest_is_longer_than_asked_for(
    pages: dict[str, str], questions: list[tuple[str, str, str]], max_chars: int
) -> None:
    for page, question, _ in questions:
        digest = extract(pages[page], question, max_chars=max_chars)
        assert len(digest.content) <= max_chars
        assert sum(len(passage.text) for passage in digest.passages) <= max_chars


def test_an_offset_is_the_passages_place_in_the_whole_text(
    pages: dict[str, str], questions: list[tuple[str, str, str]]
) -> None:
    for page, question, _ in questions:
        for passage in extract(pages[page], question, max_chars=4000).passages:
            assert pages[page][passage.offset :].startswith(passage.text[:40].removesuffix(" …"))


def test_passages_come_best_first(pages: dict[str, str]) -> None:
    scores = [passage.score for passage in extract(pages["http-client.md"], "retry a POST", max_chars=4000).passages]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > 0


@pytest.mark.parametrize(
    "name", ["ETag", "etag", "--no-cache", "fs.readFile", "X-Token", "max_age", "C++", "@media", "std::vector"]
)
def test_an_identifier_finds_the_paragraph_that_spells_it(name: str) -> None:
    filler = [
        f"Paragraph {n} tells about caches, files, tokens, reading and ages, vectors and media." for n in range(40)
    ]
    text = "\n\n".join([*filler[:20], f"This one has `{name.replace('etag', 'ETag')}` in it.", *filler[20:]])
    assert name.lower() in extract(text, f"what is {name}?", max_chars=500).passages[0].text.lower()
    assert name.lower() in extract(text, name, max_chars=500).passages[0].text.lower()


def test_part_of_an_identifier_finds_it_too() -> None:
    text = "# A\n\nSome words here.\n\n# B\n\nCall `readFileSync` for that.\n\n# C\n\nOther words there."
    assert "readFileSync" in extract(text, "how do I read files", max_chars=500).passages[0].text


def test_a_question_that_shares_nothing_gets_the_opening_and_the_outline(pages: dict[str, str]) -> None:
    digest = extract(pages["server-config.md"], "quantum gravity", max_chars=2000)
    assert digest.note == NOTHING_FOUND
    assert digest.content.startswith(f"*{NOTHING_FOUND}*\n\n# Configuring Lantern\n\nLantern reads")
    assert "- Configuring Lantern\n  - Listening\n  - TLS\n" in digest.content
    assert [(passage.offset, passage.score) for passage in digest.passages] == [(0, 0.0)]


@pytest.mark.parametrize("question", ["", " ", "???", "the of and", "\0", "🦊"])
def test_a_question_without_a_telling_word_is_answered_with_the_opening(pages: dict[str, str], question: str) -> None:
    digest = extract(pages["bridge.md"], question, max_chars=2000)
    assert "Harbour bridge to close" in digest.content
    assert len(digest.content) <= 2000


def test_a_page_without_text_says_so() -> None:
    digest = extract(" \n", "why", max_chars=1000)
    assert (digest.content, digest.passages, digest.note) == ("", (), "The page has no text.")


def test_the_trail_of_headings_stands_above_a_passage() -> None:
    text = (
        "# Guide\n\nHello.\n\n## Network\n\n### Proxy\n\n" + "Filler words here. " * 40 + "\n\nThe zebra proxy listens."
    )
    assert extract(text, "zebra", max_chars=600).content.startswith("*Guide › Network › Proxy*\n\n")


CODE = "```python\n" + "\n\n".join(f"def step_{n}():\n    return {n}" for n in range(20)) + "\n```"


def test_a_code_block_stays_whole_with_the_sentence_before_it() -> None:
    text = f"# Steps\n\nWords.\n\nThe zebra steps are these:\n\n{CODE}\n\n# End\n\nMore words.\n\n# Other\n\nAnd more."
    assert f"The zebra steps are these:\n\n{CODE}" in extract(text, "zebra steps", max_chars=2000).content


def test_a_code_block_longer_than_the_digest_is_cut_inside_its_fence() -> None:
    lines = "\n".join(f"line_{n} = compute({n})" for n in range(500))
    text = f"# A\n\nIntro.\n\n```python\n{lines}\nzebra = 1\n```\n\n# B\n\nOther."
    passage = extract(text, "zebra", max_chars=1000).passages[0].text
    assert passage.startswith("```python\n")
    assert "zebra = 1" in passage
    assert passage.endswith("```")


def test_a_long_table_keeps_its_header_over_the_rows_that_match() -> None:
    rows = "\n".join(f"| name{n} | value{n} |" for n in range(500))
    text = f"# A\n\n| key | meaning |\n| --- | --- |\n{rows}\n| zebra | striped |\n\n# B\n\nOther.\n\n# C\n\nThird."
    passage = extract(text, "zebra", max_chars=1000).passages[0].text
    assert passage.startswith("| key | meaning |\n| --- | --- |\n| name")
    assert "| zebra | striped |" in passage


def test_plain_text_without_any_line_break_is_cut_at_sentences() -> None:
    text = "Many words stand here and tell nothing. " * 400 + "The zebra runs. " + "More words follow it here. " * 400
    passage = extract(text, "zebra", max_chars=1000).passages[0]
    assert "The zebra runs." in passage.text
    assert len(passage.text) <= 1000


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000,
        "# h\n" * 80_000,
        "```\n" * 80_000,
        "```a\n" * 80_000,
        "````a\n```\n" * 80_000,
        "\n".join("`" * n for n in range(1_200, 3, -1)),
        "| a |\n" * 80_000,
        "zebra " * 150_000,
        "\n" * 1_000_000,
        "斑马" * 150_000,
        "[](" * 150_000,
        "a-" * 150_000,
    ],
)
def test_a_megabyte_of_anything_takes_bounded_time(text: str) -> None:
    began = time.process_time()
    digest = extract(text, "where is the zebra-crossing 斑马?", max_chars=4000)
    assert time.process_time() - began < 4
    assert len(digest.content) <= 4000


def test_a_question_of_a_thousand_characters_takes_bounded_time(pages: dict[str, str]) -> None:
    began = time.process_time()
    extract(pages["deep-sea.md"] * 40, "a.b-c_d::e " * 90, max_chars=4000)
    assert time.process_time() - began < 4


@settings(max_examples=150, deadline=None)
@given(
    st.text(alphabet="ab#|`~-.\n 斑é", max_size=400),
    st.text(max_size=30),
    st.integers(100, 1000),
)
def test_any_text_and_question_give_passages_in_their_place(text: str, question: str, max_chars: int) -> None:
    digest = extract(text, question, max_chars=max_chars)
    assert len(digest.content) <= max_chars
    for passage in digest.passages:
        assert 0 <= passage.offset <= len(text)
