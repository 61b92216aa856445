"""What goes to a worker process for one page, and what comes back: msgpack, typed on both sides.

Values only; `work` runs in the worker, and the server's process must not load what it needs.
"""

from __future__ import annotations

from typing import Any

import msgspec

from sift.digest import Digest

PAGE = "sift.pipeline.work:page"
REFRESH = "sift.pipeline.work:refresh"
CHECK_PROGRAMS = "sift.pipeline.work:check_programs"
PRELOAD = ("sift.pipeline.work",)


class Wish(msgspec.Struct, frozen=True):
    """A page and what is wanted of it."""

    url: str
    content_type: str | None
    body: bytes
    mode: str
    pages: str | None
    jq: str | None
    grep: str | None
    question: str | None
    context: bool
    cap_bytes: int
    digest_chars: int
    digest_spare: int = 0


class Yield(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of it: `text` is cut to the cap, `whole_bytes` tells its size before. Or a refusal, by its outcome."""

    text: str = ""
    whole_bytes: int = 0
    truncated: bool = False
    media_type: str = ""
    kind: str = ""
    title: str | None = None
    pages: dict[str, Any] | None = None
    grep: dict[str, int] | None = None
    digest: Digest | None = None
    context: dict[str, Any] | None = None
    needs_browser: bool = False
    refused: str | None = None
    why: str = ""
    hint: str | None = None
