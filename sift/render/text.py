"""Bodies that are text already, as they are; and feeds as a Markdown list of their entries.

HTML and PDF are read elsewhere. Never raises: a feed that cannot be read is shown as it is.
"""

from __future__ import annotations

from sift.render import feed, sniff


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


def _markdown_title(text: str) -> str | None:
    """The first `# heading` of a Markdown document, if one stands near its top and not in a fence."""
    for line in text[:4000].splitlines():
        if line.startswith(("```", "~~~")):
            return None
        if line.startswith("# "):
            return line[2:].strip(" #") or None
    return None
