"""The pages of the benchmarks: real ones from a directory, or made ones of any size.

Nothing is served here.
"""

from __future__ import annotations

import gzip
import random
from functools import cache
from pathlib import Path

_WORDS = (
    "river harbour light window letter garden engine winter market signal bridge copper valley paper engine "
    "measure quiet northern station weather report village evening answer morning distance number question "
    "carry follow gather hold listen mend open paint remember settle travel under weave yield across between"
)


def real(shared: Path, count: int = 32) -> list[bytes]:
    """`count` pages out of `shared/data`, articles and documentation, evenly taken in order of their names."""
    files = sorted((shared / "data" / "articles").glob("*.html.gz")) + sorted((shared / "data/docs").glob("*.html.gz"))
    return [gzip.decompress(files[at * len(files) // count].read_bytes()) for at in range(count)]


def made(count: int = 32) -> list[bytes]:
    """`count` made pages, from 30 to 220 kB, articles and documentation by turns."""
    return [page(30_000 + 6_000 * number, seed=number) for number in range(count)]


def some(shared: Path | None, count: int = 32) -> tuple[list[bytes], str]:
    """Real pages where there are some, else made ones; and what to call them."""
    if shared is None:
        return made(count), f"{count} made pages"
    return real(shared, count), f"{count} real pages"


def page(nbytes: int, seed: int = 1) -> bytes:
    """A page of about `nbytes`: head, menus and footer of a site around text, lists, a table and code."""
    dice = random.Random(seed)
    title = sentence(dice, 6).rstrip(".")
    parts = [_HEAD.format(title=title, menu=_menu(dice, 40)), f"<h1>{title}</h1>"]
    size, number = sum(map(len, parts)) + 3_000, 0
    while size < nbytes:
        number += 1
        parts.append(_block(dice, number))
        size += len(parts[-1])
    parts.append(_FOOT.format(menu=_menu(dice, 25)))
    return "".join(parts).encode()


def text(nbytes: int, seed: int = 1) -> bytes:
    """Plain text of `nbytes`, in lines and paragraphs, with quotes in it."""
    dice = random.Random(seed)
    lines: list[str] = []
    size = 0
    while size < nbytes:
        lines.append(f'"{sentence(dice, 12)}" {sentence(dice, 9)}' + ("\n" if len(lines) % 6 == 5 else ""))
        size += len(lines[-1]) + 1
    return "\n".join(lines).encode()[:nbytes]


def sentence(dice: random.Random, words: int) -> str:
    """A sentence that means nothing."""
    return " ".join(dice.choices(_words(), k=words)).capitalize() + "."


@cache
def _words() -> list[str]:
    return _WORDS.split()


def _paragraph(dice: random.Random) -> str:
    said = [sentence(dice, dice.randint(6, 18)) for _ in range(dice.randint(2, 6))]
    return (
        f'<p>{" ".join(said)} <a href="/{dice.choice(_words())}/{dice.random():.6f}">{dice.choice(_words())}</a></p>\n'
    )


def _block(dice: random.Random, number: int) -> str:
    if number % 9 == 4:
        return f"<h2>{sentence(dice, 4)}</h2>\n"
    if number % 9 == 6:
        return "<ul>" + "".join(f"<li>{sentence(dice, 8)}</li>" for _ in range(6)) + "</ul>\n"
    if number % 9 == 7:
        cells = "".join(f"<tr><td>{sentence(dice, 3)}</td><td>{dice.random():.4f}</td></tr>" for _ in range(8))
        return f"<table><tr><th>name</th><th>value</th></tr>{cells}</table>\n"
    if number % 9 == 8:
        code = "\n".join(f"    {dice.choice(_words())}({dice.random():.5f}, {number})" for _ in range(6))
        return f'<pre><code class="language-python">def {dice.choice(_words())}():\n{code}\n</code></pre>\n'
    return _paragraph(dice)


def _menu(dice: random.Random, entries: int) -> str:
    return "".join(f'<li class="item"><a href="/menu/{n}">{dice.choice(_words())}</a></li>' for n in range(entries))


_HEAD = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title} | Made pages</title>
<meta name="description" content="A page made to be measured"><link rel="canonical" href="https://made.example/">
<style>.item {{ color: red; padding: 0 }} .menu {{ display: flex }}</style><script>var a = 1; function b() {{}}</script>
</head><body><header><nav class="menu"><ul>{menu}</ul></nav></header><main><article>"""
_FOOT = """</article></main><aside class="related"><ul>{menu}</ul></aside>
<footer>All rights made up. <a href="/imprint">Imprint</a></footer></body></html>"""
