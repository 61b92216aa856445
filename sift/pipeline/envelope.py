"""The envelope: the JSON object that answers a fetched target, from the page and what a worker made of it.

No step is decided here; a hint never names an option that the target used.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec

from sift.clock import rfc3339
from sift.pipeline.messages import Yield
from sift.target import Page, Target

BESIDE_BYTES = 64 << 10
"""What a whole stored result may hold beside its content."""
TITLE_CHARS = 1000


def build(target: Target, page: Page, done: Yield, *, cached: bool, elapsed_ms: int, cap_bytes: int) -> dict[str, Any]:
    """The envelope of a target that came through; at most `cap_bytes` + 64 KiB as JSON."""
    envelope: dict[str, Any] = {
        "success": True,
        "url": target.url,
        "final_url": page.final_url,
        "status": page.status,
        "content_type": done.media_type,
        "mode": target.mode,
        "title": done.title[:TITLE_CHARS] if done.title else done.title,
        "content": done.text,
        "truncated": done.truncated,
        "content_bytes": done.whole_bytes,
        "approx_tokens": math.ceil(len(done.text) / 4),
        "source": "archive" if page.archive_url else "origin",
        "cached": cached,
        "fetched_at": rfc3339(page.fetched_at),
        "elapsed_ms": elapsed_ms,
    }
    envelope |= _asked_for(target, page, done)
    if hint := _hint(target, page, done):
        envelope["hint"] = hint
    _bound(envelope, cap_bytes + BESIDE_BYTES)
    return envelope


def _asked_for(target: Target, page: Page, done: Yield) -> dict[str, Any]:
    """What is there only where it was asked for or applies."""
    found: dict[str, Any] = {}
    if done.pages is not None:
        found["pages"] = done.pages
    if done.grep is not None:
        found["grep"] = done.grep
    if done.digest is not None:
        passages = [{"text": p.text, "score": round(p.score, 3), "offset": p.offset} for p in done.digest.passages]
        found["digest"] = {"method": done.digest.method, "answer": done.digest.answer, "passages": passages}
    if target.context and done.context is not None:
        found["context"] = done.context
    if page.archive_url is not None:
        found["archive"] = {"url": page.archive_url, "captured_at": page.captured_at}
    return found


def _hint(target: Target, page: Page, done: Yield) -> str | None:
    if not page.body or done.needs_browser:
        return "browser"
    if not done.truncated:
        return None
    narrowing = {
        "pages": done.kind == "pdf" and target.pages is None,
        "question": target.question is None and target.mode in ("clean", "full") and target.jq is None,
        "grep": target.grep is None and target.jq is None,
    }
    return next((option for option, serves in narrowing.items() if serves), None)


def _bound(envelope: dict[str, Any], most_bytes: int) -> None:
    """Cuts the lists that a page may make as long as it likes, the longest first, and marks them as cut."""
    places = [
        (envelope.get("context"), "links"),
        (envelope.get("context"), "outline"),
        (envelope.get("digest"), "passages"),
    ]
    lists = [(holder, name) for holder, name in places if isinstance(holder, dict)]
    while len(msgspec.json.encode(envelope)) > most_bytes:
        sizes = [len(msgspec.json.encode(holder.get(name))) for holder, name in lists]
        if not sizes or max(sizes) <= len(b"null"):
            return
        holder, name = lists[sizes.index(max(sizes))]
        holder[name] = holder[name][: len(holder[name]) // 2]
        holder["truncated"] = True
