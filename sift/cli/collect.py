"""A job's results as files, and the index of them: how a file is called and what the index says of it."""

from __future__ import annotations

import unicodedata
from typing import Any

from sift.client import Entry, Envelope, Job

TITLE_CHARS = 60
TITLE_BYTES = 120


def files_of(job: Job) -> dict[str, bytes]:
    """The content of every target that came, by file name."""
    return {
        _file_name(job, entry): entry["result"]["content"].encode("utf-8", "backslashreplace")
        for entry in job["targets"]
        if "result" in entry
    }


def index_of(job: Job) -> list[dict[str, Any]]:
    """One line a target: its number, its outcome (of one that has not ended: its status), its file, its title."""
    return [_index_line(job, entry) for entry in job["targets"]]


def _index_line(job: Job, entry: Entry) -> dict[str, Any]:
    line: dict[str, Any] = {"idx": entry["idx"], "outcome": _outcome(entry), "file": None, "url": entry["url"]}
    if "result" in entry:
        line["file"] = _file_name(job, entry)
        line["title"] = entry["result"].get("title")
    for key in ("error", "hint"):
        if key in entry:
            line[key] = entry[key]
    return line


def _outcome(entry: Entry) -> str:
    if entry["status"] == "done":
        return "ok"
    return entry.get("reason") or entry["status"]


def _file_name(job: Job, entry: Entry) -> str:
    digits = max(2, len(str(job["targets_total"] - 1)))
    result = entry["result"]
    words = _words(result.get("title") or "") or _words(_without_scheme(entry["url"]))
    return f"{entry['idx']:0{digits}d}{'-' if words else ''}{words}{_suffix(result)}"


def _without_scheme(url: str) -> str:
    return url.split("://", 1)[-1].split("?")[0].split("#")[0]


def _words(text: str) -> str:
    """Letters and digits of any script, joined by single hyphens: nothing that a shell or a file system reads."""
    kept = "".join(c if unicodedata.category(c)[0] in "LNM" else " " for c in unicodedata.normalize("NFC", text[:1000]))
    words = "-".join(kept.lower().split())[:TITLE_CHARS]
    return words.encode()[:TITLE_BYTES].decode("utf-8", "ignore").strip("-")


def _suffix(result: Envelope) -> str:
    kind = result.get("content_type", "").partition(";")[0].strip().lower()
    if result.get("mode") == "links":
        return ".tsv"
    if kind == "application/json" or kind.endswith("+json"):
        return ".txt" if "grep" in result else ".json"
    if "html" in kind:
        return ".html" if result.get("mode") == "raw" else ".md"
    return {"application/pdf": ".md", "text/markdown": ".md", "text/csv": ".csv"}.get(kind, ".txt")
