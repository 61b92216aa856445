"""What a worker process does to one page: render, query, digest, cut.

Pure: bytes to bytes, run by name through the worker pool. Nothing is fetched and nothing is stored here.

    The order is the contract's: render (`mode`, `pages`) → `jq` or `grep` → `question` → `context` → cap. It is all one
    job, so that a page of twenty megabytes never becomes a string in the server's process.
"""

from __future__ import annotations

import jq  # noqa: F401 (loaded now: a worker opens no file once it takes jobs)
import msgspec
import re2  # noqa: F401 (as above)

from sift.digest.extract import extract
from sift.errors import Invalid, TargetError, TooLong, Unsupported
from sift.pipeline.cutting import fitting
from sift.pipeline.messages import Wish, Yield
from sift.render import query
from sift.render.page import Rendered, refresh_target, render
from sift.target import Page, Target

_wish = msgspec.msgpack.Decoder(Wish)
_strings = msgspec.msgpack.Decoder(list[str])


def page(payload: bytes) -> bytes:
    """The job: a `Wish` in, a `Yield` out, as msgpack. A refusal of the page is an answer, not a failure."""
    wish = _wish.decode(payload)
    try:
        answer = _work(wish)
    except TargetError as error:
        answer = Yield(refused=error.outcome.value, why=str(error), hint=error.hint)
    return msgspec.msgpack.encode(answer)


def refresh(payload: bytes) -> bytes:
    """The job: [url, content type, body] in; the URL of a meta refresh of 0 s, or nothing, out."""
    url, content_type, body = msgspec.msgpack.decode(payload, type=tuple[str, str | None, bytes])
    return (refresh_target(body, content_type, url=url) or "").encode()


def check_programs(payload: bytes) -> bytes:
    """The job: jq programs in; for each what is wrong with it, "" where nothing is, out."""
    return msgspec.msgpack.encode([_wrong_with(program) for program in _strings.decode(payload)])


def _wrong_with(program: str) -> str:
    try:
        query.check_jq(program)
    except Invalid as error:
        return str(error).removeprefix("invalid: ")
    return ""


def _work(wish: Wish) -> Yield:
    rendered = render(_as_page(wish), _as_target(wish))
    text, grep = _query(wish, rendered)
    digest = None
    if wish.question is not None:
        digest = extract(text, wish.question, max_chars=wish.digest_chars, spare=wish.digest_spare)
        text = digest.content
    whole_bytes = len(text.encode())
    kept = fitting(text, wish.cap_bytes)
    truncated = len(kept) < len(text)
    if truncated and (rendered.kind in ("json", "ndjson")) and wish.grep is None and wish.question is None:
        raise TooLong(_over_the_cap(whole_bytes, wish.cap_bytes), hint="jq")
    return Yield(
        text=kept,
        whole_bytes=whole_bytes,
        truncated=truncated,
        media_type=rendered.media_type,
        kind=rendered.kind,
        title=rendered.title,
        pages=rendered.pages,
        grep=grep,
        digest=digest,
        context=rendered.context,
        needs_browser=rendered.needs_browser,
    )


def _query(wish: Wish, rendered: Rendered) -> tuple[str, dict[str, int] | None]:
    if wish.jq is not None:
        if rendered.kind not in ("json", "ndjson"):
            raise Unsupported(f"jq needs JSON, and the page is {rendered.media_type or 'of no type'}")
        return query.jq(wish.jq, rendered.text), None
    if wish.grep is not None:
        found, matches, lines = query.grep(wish.grep, rendered.text)
        return found, {"matches": matches, "lines": lines}
    return rendered.text, None


def _as_page(wish: Wish) -> Page:
    headers = {"content-type": wish.content_type} if wish.content_type else {}
    return Page(wish.url, wish.url, 200, headers, wish.body, 0.0)


def _as_target(wish: Wish) -> Target:
    return Target(wish.url, mode=wish.mode, pages=wish.pages, context=wish.context)


def _over_the_cap(whole_bytes: int, cap_bytes: int) -> str:
    return f"the JSON is {whole_bytes} bytes, over the {cap_bytes} of a result; narrow it with jq"
