"""Bodies that are text already, as they are; and feeds as a Markdown list of their entries.

HTML and PDF are read elsewhere. Never raises: a feed that cannot be read is shown as it is.
"""

from __future__ import annotations

import re
from typing import Any

from sift.render import feed, sniff

_OUTLINE_MAX = 1_000
_LINKS_MAX = 2_000
_WORD = re.compile(r"\w+")
_FENCED = re.compile(r"^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1|\Z)", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+([^\n]{1,500}?)[ \t#]*$", re.MULTILINE)
_LINK = re.compile(
    r"(?<!!)\[([^\[\]\n]{0,500})\]\(<?(https?://[^\s()<>]{1,2000}(?:\([^\s()<>]{0,200}\)[^\s()<>]{0,200})?)"
)


def render(decoded: str, kind: str, *, mode: str) -> tuple[str, str | None]:
    """What is shown of a body of `kind` in `mode`, and its title (`None` where it has none).

    Feeds become a list in `clean` alone. JSON, NDJSON, XML, CSV, Markdown and other text stay to the letter.
    """
    if kind == sniff.FEED:
        found = feed.read(decoded)
        if found:
            return (found.markdown() if mode == "clean" else decoded), found.title or None
    if kind == sniff.MARKDOWN:
        return decoded, _markdown_title(decoded)
    return decoded, None


def context(decoded: str, kind: str, title: str | None) -> dict[str, Any]:
    """What a text says about itself, with the keys of an HTML page's; `None` or empty for what its kind cannot say."""
    said: dict[str, Any] = dict.fromkeys(("description", "author", "published", "site", "language", "canonical"))
    outline: list[dict[str, Any]] = []
    links: list[dict[str, str]] = []
    if kind == sniff.MARKDOWN:
        prose = _FENCED.sub("", decoded)
        outline = [{"level": len(found[1]), "text": found[2]} for found in _HEADING.finditer(prose)]
        links = [{"text": found[1], "url": found[2]} for found in _LINK.finditer(prose)]
    elif kind == sniff.FEED and (found_feed := feed.read(decoded)):
        said["description"] = found_feed.description or None
        links = [{"text": entry.title, "url": entry.link} for entry in found_feed.entries if entry.link]
    distinct = list({link["url"]: link for link in reversed(links)}.values())[::-1]
    words = len(_WORD.findall(decoded))
    return {"title": title, **said, "outline": outline[:_OUTLINE_MAX], "links": distinct[:_LINKS_MAX], "words": words}


def _markdown_title(text: str) -> str | None:
    """The first `# heading` of a Markdown document, if one stands near its top and not in a fence."""
    for line in text[:4000].splitlines():
        if line.startswith(("```", "~~~")):
            return None
        if line.startswith("# "):
            return line[2:].strip(" #") or None
    return None
