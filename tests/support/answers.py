"""Answers of Sift's, as its contract words them: envelopes, jobs, errors."""

from __future__ import annotations

from typing import Any

TOKEN = "a-token-for-the-tests"


def envelope(**changes: Any) -> dict[str, Any]:
    return {
        "success": True,
        "url": "https://example.com/",
        "final_url": "https://example.com/",
        "status": 200,
        "content_type": "text/html",
        "mode": "clean",
        "title": "Example Domain",
        "content": "# Example Domain\n\nA page.",
        "truncated": False,
        "content_bytes": 25,
        "approx_tokens": 7,
        "source": "origin",
        "cached": False,
        "fetched_at": "2026-11-29T10:00:00Z",
        "elapsed_ms": 12,
        **changes,
    }


def job(status: str = "done", *targets: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A job's status body. With no targets it has one, which is done."""
    entries = list(targets) or [done()]
    for idx, entry in enumerate(entries):
        entry.setdefault("idx", idx)
    states = [entry["status"] for entry in entries]
    return {
        "job_id": "j_1",
        "status": status,
        "targets_total": len(entries),
        "targets_done": states.count("done") + states.count("failed"),
        "counts": {state: states.count(state) for state in ("pending", "running", "done", "failed")},
        "created_at": "2026-11-29T10:00:00Z",
        "expires_at": "2026-11-30T10:00:00Z",
        "targets": entries,
        **changes,
    }


def done(url: str = "https://example.com/", **changes: Any) -> dict[str, Any]:
    return {"url": url, "status": "done", "result": envelope(url=url, **changes)}


def failed(url: str = "http://10.0.0.1/", reason: str = "blocked", hint: str = "browser") -> dict[str, Any]:
    return {"url": url, "status": "failed", "error": f"{reason}: no", "reason": reason, "hint": hint}


def waiting(status: str = "pending", url: str = "https://example.org/") -> dict[str, Any]:
    return {"url": url, "status": status}


def error(reason: str, text: str = "no", **changes: Any) -> dict[str, Any]:
    return {"success": False, "error": text, "reason": reason, **changes}
