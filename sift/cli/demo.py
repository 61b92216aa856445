"""`sift demo`: a small site, a server and a batch over it, all on loopback, and nothing left behind.

One of the two commands that import the service; the batch itself goes over HTTP, as everybody's does.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any

import click

from sift.cli import exits, terminal
from sift.cli.advice import advice
from sift.cli.bar import Bar
from sift.client import Entry, Job, Sift

PRIVATE = "http://10.0.0.1/"
SHOWN_LINES = 12


def _targets(url: str) -> list[tuple[dict[str, Any], str]]:
    """What is asked for, and the outcome that each should have."""
    return [
        ({"url": f"{url}/lighthouses"}, "ok"),
        ({"url": f"{url}/releases.json", "jq": ".releases[] | {version, notes}"}, "ok"),
        ({"url": f"{url}/paper.pdf", "pages": "2-3"}, "ok"),
        ({"url": f"{url}/gone"}, "upstream_4xx"),
        ({"url": PRIVATE}, "blocked"),
    ]


@click.command()
def command() -> int:
    """Show a batch and its results, without network and without set-up.

    A small site and a server are started on loopback, in a temporary directory, and are gone at the end.

    \b
    Examples:
      sift demo
    """
    from sift.cli.site import site
    from sift.errors import SiftError

    try:
        with TemporaryDirectory(prefix="sift-demo-") as folder, site() as (url, port):
            return _show(url, folder, port)
    except SiftError as error:
        terminal.say(str(error))
        return exits.ERROR


def _show(url: str, folder: str, port: int) -> int:
    terminal.put(f"A small site runs on {url}; a server for it starts on loopback.\n")
    with _service(folder, port) as client:
        wanted = _targets(url)
        made = client.submit([target for target, _ in wanted])
        terminal.put(f"The server is {client.url}. A batch of {len(wanted)} targets is job {made['job_id']}.\n\n")
        job = _watch(client, made["job_id"])
    outcomes = [_outcome(entry) for entry in job["targets"]]
    for entry, (target, _) in zip(job["targets"], wanted, strict=True):
        terminal.put(_shown(entry, target))
    if outcomes != [outcome for _, outcome in wanted]:
        terminal.say(f"not as it should be: {', '.join(outcomes)}")
        return exits.ERROR
    terminal.put(_LAST_WORDS)
    return exits.OK


_LAST_WORDS = """
All as it should be: three targets came, the dead link and the private address did not, and the job is "partial".
Site, server and data are gone again. What to do next:

  sift serve                           runs a server for you, on loopback
  sift fetch https://example.com/      reads a page through it
  sift batch submit urls.txt --wait    reads a list of them
"""


@contextmanager
def _service(folder: str, port: int) -> Iterator[Sift]:
    """A server with its data in `folder`, which may dial the site's port and nothing else on this host."""
    from sift.config import parse
    from sift.server import build

    config = {
        "server": {"host": "127.0.0.1", "port": 0, "data_dir": os.path.join(folder, "data"), "grace": "1s"},
        "guard": {"allow": [f"127.0.0.1:{port}"]},
        "log": {"level": "error"},
    }
    server = build(parse(config, None, {}))
    # A process that starts while Ctrl-C is ignored goes on ignoring it; one that does not shows where it was hit.
    heard = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        server.start()
    finally:
        signal.signal(signal.SIGINT, heard)
    try:
        host, own_port = server.address
        yield Sift(f"http://{host}:{own_port}", token_file=os.path.join(folder, "data", "token"), environ={})
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # from here to the process's end: cleaning up is not cut short
        server.stop()


def _watch(client: Sift, job_id: str) -> Job:
    """The job, once it has ended; on the way a line for every target that has, and the bar on a terminal."""
    bar = Bar()
    said: set[int] = set()

    def show(job: Job) -> None:
        bar.close()
        for entry in job["targets"]:
            if entry["status"] in ("done", "failed") and entry["idx"] not in said:
                said.add(entry["idx"])
                terminal.put(f"  {entry['idx']}  {_outcome(entry):<13} {entry['url']}\n")
        if job["status"] in ("queued", "running"):
            bar.show(job)

    try:
        return client.wait(job_id, timeout_s=30, progress=show)
    finally:
        bar.close()


def _outcome(entry: Entry) -> str:
    return "ok" if entry["status"] == "done" else entry.get("reason") or entry["status"]


def _shown(entry: Entry, target: dict[str, Any]) -> str:
    """A target as it was asked for, and the first lines of what came of it."""
    asked = "".join(f", {name} {value}" for name, value in target.items() if name != "url")
    head = f"\n== {entry['idx']}  {entry['url']}{asked}\n"
    if "result" not in entry:
        hint = f"{advice(entry['hint'], entry.get('error', ''))}\n" if "hint" in entry else ""
        return f"{head}{entry.get('error', entry['status'])}\n{hint}"
    result = entry["result"]
    lines = result["content"].splitlines()
    more = f"... (cut here, {len(lines)} lines in all)\n" if len(lines) > SHOWN_LINES else ""
    title = f'"{result["title"]}", ' if result["title"] else ""
    facts = f"{title}{result['content_bytes']} bytes, about {result['approx_tokens']} tokens\n\n"
    return head + facts + "\n".join(lines[:SHOWN_LINES]) + "\n" + more
