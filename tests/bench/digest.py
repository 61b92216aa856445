"""How often a digest holds the passage that answers a question, beside plain FTS5 over fixed windows.

    python tests/bench/digest.py [--chars 4000] [--one] [--misses] [--shared DIR]

`--one` searches all pages as one text. `--shared DIR` reads pages from elsewhere, named in `tests/digest/shared.json`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from sift.digest import extract
from sift.render import charset, html, sniff

HERE = Path(__file__).parent.parent / "digest"
WINDOW = 500
Case = tuple[str, str, str, str]  # name, text, question, marker


def own_cases(*, is_one: bool) -> Iterator[Case]:
    """The suite's questions, each over its page or over all pages as one text."""
    pages = {path.name: path.read_text("utf-8") for path in sorted((HERE / "pages").iterdir())}
    whole = "\n\n".join(pages.values())
    for page, question, marker in json.loads((HERE / "questions.json").read_text("utf-8")):
        yield page, whole if is_one else pages[page], question, marker


def shared_cases(folder: Path) -> Iterator[Case]:
    """Questions over pages outside of the project, rendered as Sift renders them."""
    texts: dict[str, str] = {}
    for page, question, marker in json.loads((HERE / "shared.json").read_text("utf-8")):
        if page not in texts:
            path = next(path for path in folder.rglob("*.html*") if path.name.startswith(page))
            body = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            decoded = charset.decode(body, "text/html", sniff.HTML)
            texts[page] = html.convert(decoded, url="https://example.org/", mode="clean").text
        yield page, texts[page], question, marker


def by_sift(text: str, question: str, chars: int) -> list[str]:
    """The passages of the digest, best first."""
    return [passage.text for passage in extract(text, question, max_chars=chars).passages]


def by_windows(text: str, question: str, chars: int) -> list[str]:
    """FTS5's best windows of a fixed size, as many as fit."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE windows USING fts5(body, tokenize='porter unicode61')")
    windows = [(text[at : at + WINDOW],) for at in range(0, len(text), WINDOW)]
    database.executemany("INSERT INTO windows VALUES (?)", windows)
    words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question)) or '""'
    rows = database.execute("SELECT body FROM windows WHERE windows MATCH ? ORDER BY rank", (words,)).fetchall()
    database.close()
    return [row[0] for row in rows[: max(1, chars // WINDOW)]]


def measure(cases: Sequence[Case], way: Callable[[str, str, int], list[str]], chars: int) -> tuple[str, list[Case]]:
    """One line of the table, and the cases whose passage was not in the digest, or not first."""
    held = first = size = 0
    missed = []
    began = time.process_time()
    for case in cases:
        _, text, question, marker = case
        found = way(text, question, chars)
        size += sum(map(len, found))
        held += any(marker in passage for passage in found)
        first += bool(found) and marker in found[0]
        if not found or marker not in found[0]:
            missed.append(case)
    spent = (time.process_time() - began) * 1000 / len(cases)
    count = len(cases)
    return f"held {held / count:6.1%}  first {first / count:6.1%}  chars {size // count:5}  {spent:5.1f} ms", missed


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--chars", type=int, default=4000)
    options.add_argument("--one", action="store_true")
    options.add_argument("--misses", action="store_true")
    options.add_argument("--shared", type=Path)
    asked = options.parse_args()
    cases = list(shared_cases(asked.shared) if asked.shared else own_cases(is_one=asked.one))
    print(f"{len(cases)} questions, at most {asked.chars} characters")
    for name, way in (("sift", by_sift), ("FTS5, fixed windows", by_windows)):
        line, missed = measure(cases, way, asked.chars)
        print(f"{name:22}{line}")
        if asked.misses and way is by_sift:
            for page, text, question, marker in missed:
                found = by_sift(text, question, asked.chars)
                place = next((n for n, passage in enumerate(found, 1) if marker in passage), 0)
                best = found[0][:80] if found else ""
                print(f"   {place or 'none'}  {page[:16]}  {question!r} → {marker!r}; first: {best!r}")


if __name__ == "__main__":
    main()
