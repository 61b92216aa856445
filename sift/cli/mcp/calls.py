"""A tool's call: arguments to a request of the client, its answer to text and structured content.

The protocol is not known here. Every error becomes a text that says what to do next, for an agent to read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sift.cli.mcp.tools import CANCEL, FETCH, MOST_WAIT_S, SHOWN_CHARS, STATUS, SUBMIT, TOOLS
from sift.cli.patience import patiently
from sift.client import Answered, CallerBusy, ClientError, Job, NoServer, NotFound, Sift, Unauthorized

BUSY_S = 30.0
_ADVICE = {
    "blocked": "Sift does not go there. Do not try to open a private address in a browser or in any other way.",
    "browser": "The page needs a real browser; take another source if you have none.",
    "retry": "Call again later.",
    "recover": "Call again with recover: true for an archived copy.",
    "jq": "Call again with a jq program that picks what you need.",
    "grep": "Call again with grep to get only the lines that matter.",
    "pages": 'Call again with pages, such as "1-5".',
    "question": "Call again with a question to get only the passages that matter.",
    "fresh": "Some targets had failed; submit again with fresh: true to read all anew.",
}
Progress = Callable[[Job], object]


class ToolFailed(Exception):
    """The tool's error; its text is for the agent."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool gives: the same twice, as text and as the object that the tool's output schema describes."""

    text: str
    structured: Mapping[str, Any]


class Calls:
    """The tools over a client. Calls block; they may come from several threads."""

    def __init__(self, client: Sift, sleep: Callable[[float], object] = time.sleep) -> None:
        self._client = client
        self._sleep = sleep
        self._tools = {FETCH: self._fetch, SUBMIT: self._submit, STATUS: self._status, CANCEL: self._cancel}

    def call(self, name: str, arguments: Mapping[str, Any], progress: Progress) -> Answer:
        """The answer of the tool `name`; `progress` gets the job each time that it changes while it is awaited.

        Raises `ToolFailed`.
        """
        if name not in self._tools:
            raise ToolFailed(f"there is no tool {name}; there are {', '.join(self._tools)}")
        _check_names(name, arguments)
        try:
            return patiently(lambda: self._tools[name](arguments, progress), BUSY_S, sleep=self._sleep)
        except ClientError as error:
            raise ToolFailed(_say(error)) from None

    def _fetch(self, arguments: Mapping[str, Any], _progress: Progress) -> Answer:
        page = dict(self._client.fetch(**arguments))
        return Answer(_page_text(page), page)

    def _submit(self, arguments: Mapping[str, Any], _progress: Progress) -> Answer:
        targets = arguments["targets"]
        if not isinstance(targets, list):
            raise ToolFailed("targets: it takes a list of URLs, or of objects with a url")
        entries = [{"url": target} if isinstance(target, str) else target for target in targets]
        made = self._client.submit_body({**arguments, "targets": entries})
        said = f"Job {made['job_id']} is {made['status']}: {made['targets']} targets."
        said += " It was made before for the same list." if made["reused"] else ""
        said += f" {_ADVICE[made['hint']]}" if made.get("hint") in _ADVICE else ""
        return Answer(f"{said} Collect with {STATUS} and wait_s.", made)

    def _status(self, arguments: Mapping[str, Any], progress: Progress) -> Answer:
        job_id = _job_id(arguments)
        wait_s = _number(arguments, "wait_s", 0, MOST_WAIT_S)
        idx = arguments.get("idx")
        most = _number(arguments, "max_chars", SHOWN_CHARS, 1 << 30)
        if idx is not None:
            since, most = int(_number(arguments, "idx", 0, 1 << 30)), 1 << 30
        if wait_s:
            self._client.wait(job_id, timeout_s=wait_s, progress=progress)
        job = self._client.status(job_id, results=most > 0, since=None if idx is None else since)
        return _job_answer(job, int(most), None if idx is None else since)

    def _cancel(self, arguments: Mapping[str, Any], _progress: Progress) -> Answer:
        job_id = _job_id(arguments)
        status = self._client.cancel(job_id)["status"]
        said = "No further target is begun." if status == "cancelled" else "It had ended before."
        return Answer(f"Job {job_id} is {status}. {said}", {"status": status})


def _check_names(name: str, arguments: Mapping[str, Any]) -> None:
    schema = TOOLS[name]["inputSchema"]
    known = ", ".join(schema["properties"])
    for argument in arguments:
        if argument not in schema["properties"]:
            raise ToolFailed(f"{argument}: unknown argument; {name} takes {known}")
    for argument in schema["required"]:
        if argument not in arguments:
            raise ToolFailed(f"{argument}: missing; {name} takes {known}")


def _job_id(arguments: Mapping[str, Any]) -> str:
    if not isinstance(arguments["job_id"], str):
        raise ToolFailed(f"job_id: it takes the string that {SUBMIT} answered with")
    return arguments["job_id"]


def _number(arguments: Mapping[str, Any], name: str, default: float, most: float) -> float:
    value = arguments.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise ToolFailed(f"{name}: it takes a number from 0 to {most}")
    return value


def _page_text(page: Mapping[str, Any]) -> str:
    facts = f"{page['final_url']} ({page['status']}, {page['content_type']}, about {page['approx_tokens']} tokens)"
    head = [f"# {page['title']}"] if page.get("title") else []
    head.append(facts)
    if page.get("truncated"):
        head.append(f"Cut: {page['content_bytes']} bytes in all.")
    if page.get("hint") in _ADVICE:
        head.append(_ADVICE[page["hint"]])
    return "\n".join([*head, "", page["content"] or "(no text)"])


def _job_answer(job: Job, most: int, only: int | None) -> Answer:
    """The job with each result's content cut to `most` characters, or with one target alone."""
    entries = [dict(entry) for entry in job["targets"] if only is None or entry["idx"] == only]
    if only is not None and not entries:
        raise ToolFailed(f"idx: {only} given; the job's targets are 0 to {job['targets_total'] - 1}")
    failed = sum(entry["status"] == "failed" for entry in job["targets"])
    head = f"Job {job['job_id']} is {job['status']}: {job['targets_done']} of {job['targets_total']} finished"
    head += f", {failed} of them failed." if failed else "."
    parts = [_entry_text(entry, most) for entry in entries]
    return Answer("\n\n".join([head, *parts]), {**job, "targets": entries})


def _entry_text(entry: dict[str, Any], most: int) -> str:
    """The entry as text; its content is cut, and says so, in `entry` too."""
    head = f"[{entry['idx']}] {entry['url']}: {entry['status']}"
    if "error" in entry:
        advice = _ADVICE.get("blocked" if entry.get("reason") == "blocked" else entry.get("hint", ""), "")
        return f"{head}: {entry['error']}. {advice}".rstrip()
    if "result" not in entry:
        return head
    page = dict(entry["result"])
    whole = page["content"]
    if len(whole) > most:
        page["content"] = f"{whole[:most]}\n(cut at {most} of {len(whole)} characters; idx: {entry['idx']} gives all)"
    entry["result"] = page
    return f"{head}\n{_page_text(page)}"


def _say(error: ClientError) -> str:
    """What went wrong, and what an agent can do about it."""
    said = [str(error).rstrip(".") + "."]
    if isinstance(error, Answered):
        said += [f"{at}: {why}." for at, why in error.places[1:]]
        advice = _ADVICE.get("blocked" if error.reason == "blocked" else error.hint or "")
        said += [advice] if advice else []
    if isinstance(error, CallerBusy) and error.job_id:
        said.append(f"Wait for it with {STATUS} (job_id: {error.job_id}, wait_s: 50), or stop it with {CANCEL}.")
    elif isinstance(error, NotFound):
        said.append(f"Results are kept for a time only; submit the list again with {SUBMIT}.")
    elif isinstance(error, Unauthorized):
        said.append("Tell the user to set SIFT_TOKEN_FILE or SIFT_TOKEN for sift mcp; trying again does not help.")
    elif isinstance(error, NoServer):
        said.append("Tell the user to start it, or to set SIFT_URL for sift mcp; then call again.")
    return " ".join(said)
