"""The document that answers a scrape, in the shape that Firecrawl's clients read.

Keys without a value are left out: a `null`, or a word they do not know, breaks some of their clients.
"""

from __future__ import annotations

from typing import Any

from sift.api.scrape.rendering import Found
from sift.api.scrape.wish import FORMATS, HTML, LINKS, MARKDOWN, QUESTION, RAW_HTML, Wish


def document(wish: Wish, found: Found) -> dict[str, Any]:
    """The `data` of the answer."""
    texts = {name: envelope["content"] for name, envelope in found.envelopes.items()}
    data: dict[str, Any] = {}
    if MARKDOWN in texts:
        data["markdown"] = texts[MARKDOWN]
    if RAW_HTML in texts:
        data |= {name: texts[RAW_HTML] for name in (HTML, RAW_HTML) if name in wish.formats}
    if LINKS in wish.formats and LINKS not in found.failed:
        data["links"] = _links(found)
    if QUESTION in texts:
        data["answer"] = found.envelopes[QUESTION].get("digest", {}).get("answer") or texts[QUESTION]
    if warnings := _warnings(wish, found):
        data["warning"] = "; ".join(warnings)
    return data | {"metadata": _metadata(found)}


def _links(found: Found) -> list[str]:
    if LINKS in found.envelopes:
        lines = found.envelopes[LINKS]["content"].split("\n")
        return [line.partition("\t")[0] for line in lines if line]
    return [link["url"] for link in found.first["context"]["links"]]


def _warnings(wish: Wish, found: Found) -> list[str]:
    said = [f"format {name[:40]} is not served; Sift has {', '.join(FORMATS)}" for name in wish.unknown[:10]]
    said += [f"{name}: {error}" for name, error in found.failed.items()]
    for name, envelope in found.envelopes.items():
        if envelope["truncated"]:
            said.append(f"{name} was cut to {len(envelope['content'].encode())} of {envelope['content_bytes']} bytes")
        said += [f"{option} was not done for a restricted caller" for option in envelope.get("withheld", ())]
    if found.first.get("hint") == "browser":
        said.append("the page seems to be empty without JavaScript, which Sift does not run")
    return said


def _metadata(found: Found) -> dict[str, Any]:
    first = found.first
    context = first.get("context", {})
    said = {
        "title": context.get("title") or first["title"],
        "description": context.get("description"),
        "language": context.get("language"),
        "author": context.get("author"),
        "ogSiteName": context.get("site"),
        "publishedTime": context.get("published"),
        "url": first["final_url"],
        "sourceURL": first["url"],
        "statusCode": first["status"],
        "contentType": first["content_type"],
        "numPages": _count(first["pages"]["returned"]) if "pages" in first else None,
        "totalPages": first["pages"]["total"] if "pages" in first else None,
        "cacheState": "hit" if first["cached"] else "miss",
        "cachedAt": first["fetched_at"] if first["cached"] else None,
    }
    return {name: value for name, value in said.items() if value is not None and value != ""}


def _count(ranges: str) -> int:
    """How many pages `1-3,7` names."""
    ends = [part.split("-") for part in ranges.split(",") if part]
    return sum(int(end[-1]) - int(end[0]) + 1 for end in ends)
