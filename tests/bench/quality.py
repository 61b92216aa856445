"""Scores `clean` and its peers on pages whose true text is known, and times them on the same pages.

Run by hand: `python tests/bench/quality.py --shared DIR`, where DIR (or `$SIFT_BENCH_DATA`) holds `data/articles`,
`data/docs` and the yardstick `tools/quality.py`. Peers that are not installed are left out of the table:
`pip install trafilatura readability-lxml markdownify html-to-markdown resiliparse cssselect`.
A third of the articles, by the hash of their name, is kept aside: do not tune on it.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import html as html_module
import importlib.util
import json
import os
import re
import statistics
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

System = Callable[[str, str], str]  # HTML and URL to Markdown or text


@dataclass(frozen=True)
class Page:
    """One page to score. `truth` is an article's text, or the selector of a documentation page's content."""

    name: str
    html: str
    url: str
    truth: str
    is_article: bool
    kept_aside: bool


def main() -> None:
    """Prints one table: quality on both sets, and CPU for each system."""
    options = _options()
    yardstick = _module(options.shared / "tools" / "quality.py")
    pages = [*articles(options.shared), *documents(options.shared)]
    systems = {name: system for name, system in all_systems().items() if not options.only or name in options.only}
    rows = [_row(name, system, pages, yardstick, options.each) for name, system in systems.items()]
    seconds = time_all(systems, pages, options.rounds) if options.rounds else {}
    print(table(rows, seconds))
    if options.facts:
        print(facts_table(articles(options.shared)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=os.environ.get("SIFT_BENCH_DATA"), help="the data's directory")
    parser.add_argument("--rounds", type=int, default=3, help="times that each page is timed (0: no timing)")
    parser.add_argument("--only", action="append", help="score this system alone (may be repeated)")
    parser.add_argument("--each", action="store_true", help="also print a line for each page that is not kept aside")
    parser.add_argument("--facts", action="store_true", help="also count date, headline and canonical of `context`")
    options = parser.parse_args()
    if options.shared is None:
        parser.error("name the data's directory with --shared or $SIFT_BENCH_DATA")
    options.shared = Path(options.shared)
    return options


def _module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("yardstick", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"no module at {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def articles(shared: Path) -> list[Page]:
    """The article pages, with their true text."""
    folder = shared / "data" / "articles"
    truths = json.loads((folder / "ground-truth.json").read_text())
    return [
        Page(name, _read(folder / f"{name}.html.gz"), truth.get("url", ""), truth["articleBody"], True, _is_aside(name))
        for name, truth in sorted(truths.items())
    ]


def documents(shared: Path) -> list[Page]:
    """The documentation pages, with the selector of their content."""
    folder = shared / "data" / "docs"
    selectors = json.loads((folder / "selectors.json").read_text())
    return [
        Page(name, _read(folder / f"{name}.html.gz"), f"https://docs.example/{name}.html", selector, False, False)
        for name, selector in sorted(selectors.items())
    ]


def _read(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode("utf-8", "replace")


def _is_aside(name: str) -> bool:
    return hashlib.sha256(name.encode()).digest()[0] % 3 == 0


def all_systems() -> dict[str, System]:
    """Sift and the peers that are installed, by name."""
    found: dict[str, System] = {}
    for name, load in (
        ("sift", _sift),
        ("trafilatura", lambda: _trafilatura(precision=False)),
        ("trafilatura precision", lambda: _trafilatura(precision=True)),
        ("readability-lxml + markdownify", _readability),
        ("markdownify", _markdownify),
        ("html-to-markdown", _html_to_markdown),
        ("resiliparse", _resiliparse),
    ):
        try:
            found[name] = load()
        except ImportError as error:
            print(f"left out: {name} ({error})")
    return found


def _sift() -> System:
    from sift.render.html import convert

    return lambda html, url: convert(html, url=url, mode="clean").text


def _trafilatura(*, precision: bool) -> System:
    import trafilatura

    def extract(html: str, url: str) -> str:
        return trafilatura.extract(html, url=url, output_format="markdown", favor_precision=precision) or ""

    return extract


def _readability() -> System:
    import markdownify  # type: ignore[import-not-found,unused-ignore]
    import readability  # type: ignore[import-not-found,unused-ignore]

    return lambda html, url: str(markdownify.markdownify(readability.Document(html, url=url or None).summary()))


def _markdownify() -> System:
    import markdownify

    return lambda html, url: str(markdownify.markdownify(html))


def _html_to_markdown() -> System:
    import html_to_markdown  # type: ignore[import-not-found,unused-ignore]

    def convert(html: str, url: str) -> str:
        result = html_to_markdown.convert(html)
        return str(getattr(result, "content", result) or "")

    return convert


def _resiliparse() -> System:
    from resiliparse.extract.html2text import extract_plain_text  # type: ignore[import-not-found,unused-ignore]

    return lambda html, url: str(extract_plain_text(html, main_content=True))


def _row(name: str, system: System, pages: Sequence[Page], yardstick: Any, each: bool) -> dict[str, Any]:
    dev, aside, docs = [], [], []
    for page in pages:
        text = _text(system, page)
        if not page.is_article:
            docs.append(_docs_scores(yardstick, page, text))
            _tell(each, name, page, docs[-1])
            continue
        counts = yardstick.counts(page.truth, yardstick.plain(text))
        (aside if page.kept_aside else dev).append(counts)
        _tell(each and not page.kept_aside, name, page, _page_f1(counts))
    return {
        "system": name,
        "dev": _f1(yardstick, dev),
        "aside": _f1(yardstick, aside),
        "all": _f1(yardstick, dev + aside),
    } | _means(docs)


def _text(system: System, page: Page) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return system(page.html, page.url)
        except Exception as error:  # a peer that fails scores nothing on this page; the bench goes on
            print(f"failed on {page.name[:12]}: {type(error).__name__}")
            return ""


def _tell(wanted: bool, name: str, page: Page, scores: object) -> None:
    if wanted:
        print(f"{name}\t{page.name[:16]}\t{scores}\t{page.url[:80]}")


def _page_f1(counts: tuple[int, int, int]) -> str:
    both, extra, lost = counts
    return f"{2 * both / max(1, 2 * both + extra + lost):.3f} extra {extra} lost {lost}"


def _f1(yardstick: Any, counts: list[tuple[int, int, int]]) -> tuple[float, float, float]:
    return tuple(yardstick.f1(counts)) if counts else (0.0, 0.0, 0.0)  # type: ignore[return-value]


def _docs_scores(yardstick: Any, page: Page, text: str) -> dict[str, float | None]:
    scores: dict[str, float | None] = yardstick.docs(page.html, page.truth, text)
    return scores | {"language": _languages_kept(page, text)}


LANGUAGE = re.compile(r"(?:^|\s)(?:highlight-source-|highlight-|language-|lang-|brush:\s*)([\w+#-]+)")
NO_LANGUAGE = {"default", "none", "text", "plaintext", "rouge", "toolbar"}
FENCE = re.compile(r"^[ >]*(?:[-*+] |\d+[.)] )?[ >]*(?:```+|~~~+)([^\n`]*)\n", re.M)


def _languages_kept(page: Page, text: str) -> float | None:
    """The share of the language marks of the content's code blocks that stand behind a fence; None: no mark."""
    import lxml.html

    tree = lxml.html.document_fromstring(page.html.encode(), parser=lxml.html.HTMLParser(encoding="utf-8"))
    root = next((e for s in page.truth.split(",") for e in tree.cssselect(s)), tree)
    said = [mark for pre in root.iter("pre") if (mark := _mark(pre))]
    kept = [info.strip().lower() for info in FENCE.findall(text)]
    if not said:
        return None
    return sum(min(said.count(mark), kept.count(mark)) for mark in set(said)) / len(said)


def _mark(pre: Any) -> str | None:
    around = [*pre.iter("code"), pre, *list(pre.iterancestors())[:2]]
    found = (LANGUAGE.search(element.get("class") or "") for element in around)
    names = (match[1].lower() for match in found if match)
    return next((name for name in names if name not in NO_LANGUAGE), None)


def _means(scores: Iterable[Mapping[str, float | None]]) -> dict[str, float]:
    rows = list(scores)
    means = {}
    for key in ("code", "language", "rows", "heads", "recall", "noise"):
        values = [value for row in rows if (value := row[key]) is not None]
        means[key] = statistics.mean(values) if values else 0.0
    return means


def time_all(systems: Mapping[str, System], pages: Sequence[Page], rounds: int) -> dict[str, tuple[float, float]]:
    """CPU milliseconds a page on articles and on docs; each page by each system in turn, the best of `rounds`."""
    best: dict[tuple[str, str], float] = {}
    for _ in range(rounds):
        for page in pages:
            for name, system in systems.items():
                began = time.process_time()
                _text(system, page)
                spent = (time.process_time() - began) * 1000
                best[name, page.name] = min(spent, best.get((name, page.name), spent))
    return {
        name: (_mean_ms(best, name, pages, is_article=True), _mean_ms(best, name, pages, is_article=False))
        for name in systems
    }


def _mean_ms(best: Mapping[tuple[str, str], float], name: str, pages: Sequence[Page], *, is_article: bool) -> float:
    return statistics.mean(best[name, page.name] for page in pages if page.is_article is is_article)


def table(rows: Sequence[Mapping[str, Any]], seconds: Mapping[str, tuple[float, float]]) -> str:
    """A Markdown table, one row a system."""
    head = ["system", "F1 tuned on", "precision", "recall", "F1 kept aside", "F1 all", "code", "language", "rows"]
    head += ["headings", "words", "noise", "articles ms", "docs ms", "x articles", "x docs"]
    lines = [head, ["---"] * len(head)]
    base = seconds.get("trafilatura")
    for row in rows:
        cells = [
            row["system"],
            *(f"{value:.4f}" for value in row["dev"]),
            f"{row['aside'][0]:.4f}",
            f"{row['all'][0]:.4f}",
        ]
        cells += [f"{row[key] * 100:.1f}" for key in ("code", "language", "rows", "heads", "recall", "noise")]
        spent = seconds.get(row["system"])
        cells += [f"{spent[0]:.1f}", f"{spent[1]:.1f}"] if spent else ["", ""]
        cells += [f"{spent[0] / base[0]:.2f}", f"{spent[1] / base[1]:.2f}"] if spent and base else ["", ""]
        lines.append(cells)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def facts_table(pages: Sequence[Page]) -> str:
    """Date, headline and canonical of `context` beside trafilatura's, against the page's own JSON-LD and link."""
    lines = ["| facts | headline | date | canonical |", "| --- | --- | --- | --- |"]
    truths = [_said_by(page) for page in pages]
    for name, read in (("sift", _sift_facts), ("trafilatura", _trafilatura_facts)):
        found = [read(page) for page in pages]
        cells = []
        for key in ("headline", "date", "canonical"):
            asked = [(truth[key], got[key]) for truth, got in zip(truths, found, strict=True) if truth[key]]
            cells.append(f"{sum(_agree(key, truth, got) for truth, got in asked)} of {len(asked)}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _said_by(page: Page) -> dict[str, str]:
    """What the page's own data say, read here by other means than those that are measured."""
    said = {"headline": "", "date": "", "canonical": ""}
    for block in re.findall(r"<script[^>]*ld\+json[^>]*>(.*?)</script>", page.html, re.S | re.I):
        if found := re.search(r'"headline"\s*:\s*("(?:[^"\\]|\\.)*")', block):
            said["headline"] = said["headline"] or _unquoted(found[1])
        if found := re.search(r'"datePublished"\s*:\s*"(\d{4}-\d\d-\d\d)', block):
            said["date"] = said["date"] or found[1]
    for link in re.findall(r"<link\b[^>]*>", page.html, re.I):
        if re.search(r"rel=[\"']?canonical\b", link, re.I) and (found := re.search(r"href=[\"']([^\"']+)", link, re.I)):
            said["canonical"] = said["canonical"] or found[1]
    return said


def _unquoted(text: str) -> str:
    try:
        return html_module.unescape(json.loads(text, strict=False))
    except ValueError:
        return ""


def _agree(key: str, truth: str, got: str | None) -> bool:
    if key == "date":
        return (got or "")[:10] == truth
    if key == "canonical":
        return (got or "").removesuffix("/") == html_module.unescape(truth).removesuffix("/")
    return re.sub(r"\W+", "", got or "").lower() == re.sub(r"\W+", "", truth).lower()


def _sift_facts(page: Page) -> dict[str, str | None]:
    from sift.render.html import convert

    said = convert(page.html, url=page.url, mode="clean", context=True).context or {}
    return {"headline": said["title"], "date": said["published"], "canonical": said["canonical"]}


def _trafilatura_facts(page: Page) -> dict[str, str | None]:
    import trafilatura

    said = trafilatura.extract_metadata(page.html, default_url=page.url)
    return {"headline": said.title, "date": said.date, "canonical": said.url}


if __name__ == "__main__":
    main()
