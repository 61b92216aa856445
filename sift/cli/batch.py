"""`sift batch`: submit a list, look at it, wait for it, collect it, cancel it."""

from __future__ import annotations

from collections.abc import Sequence

import click

from sift.cli import exits, terminal
from sift.cli.advice import advice, say_error
from sift.cli.door import speaks
from sift.cli.patience import busy_timeout, patiently
from sift.cli.values import DIRECTORY, SECONDS, SENT
from sift.client import AWAY_S, LIVE, ClientError, Job, NoServer, Sift, Stopping, may_change

wait_timeout = click.option(
    "--timeout", type=SECONDS, metavar="SECONDS", help="How long to wait; default as long as it takes."
)


def _job_id(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """An id is opaque, and the server says whether it knows it; only nothing at all is none."""
    if not value.strip():
        raise click.BadParameter("an empty job id; sift batch list shows your jobs", ctx, param)
    return value.strip()


job_id_argument = click.argument("job_id", metavar="ID", type=SENT, callback=_job_id)


class InOrder(click.Group):
    """Lists its commands in the order of their use, which is that of this file."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(cls=InOrder)
def command() -> None:
    """Fetch many pages as one job: submit, then collect.

    \b
    Examples:
      sift batch submit urls.txt
      sift batch submit https://example.com/ https://example.org/ --wait
      sift batch wait j_7f3a
      sift batch results j_7f3a -o pages
    """


@command.command()
@click.argument("given", metavar="FILE|- [URL]...", nargs=-1)
@click.option("--fresh", is_flag=True, help="Make a new job, even where the same list was fetched already.")
@click.option("--wait", is_flag=True, help="Go on as sift batch wait does; the job's line goes to stderr.")
@wait_timeout
@busy_timeout
@speaks
def submit(
    client: Sift, given: Sequence[str], fresh: bool, wait: bool, timeout: float | None, busy_timeout: float
) -> int:
    """Submit a list of targets and print the job's id.

    FILE is {"targets": [...]}, a list of targets or URLs, one JSON object a line, or one URL a line; - is stdin.
    An argument that begins with http:// or https:// is a URL.

    \b
    Examples:
      sift batch submit urls.txt
      sift batch submit https://example.com/ https://example.org/ --wait
      echo '{"url": "https://example.com/", "mode": "links"}' | sift batch submit -
    """
    from sift.cli.targets import body_of

    if timeout is not None and not wait:
        raise click.UsageError("--timeout is how long --wait waits; add --wait")
    body = body_of(given, fresh=fresh)
    try:
        made = patiently(lambda: client.submit_body(body), busy_timeout)
    except KeyboardInterrupt:
        terminal.say("interrupted before the answer; sift batch list shows whether the job was made")
        raise
    line = terminal.json_line({"job_id": made["job_id"], "reused": made["reused"]})
    if wait:
        terminal.draw(terminal.safe(line))
    else:
        terminal.put(line)
    if hint := made.get("hint"):
        terminal.say(advice(hint))
    return _wait(client, made["job_id"], timeout) if wait else exits.OK


@command.command()
@job_id_argument
@click.option("--no-results", is_flag=True, help="Leave the results out; targets, errors and hints stay.")
@click.option("--since", type=click.IntRange(min=0), metavar="N", help="Leave out the results of targets before N.")
@speaks
def status(client: Sift, job_id: str, no_results: bool, since: int | None) -> None:
    """Print the job as it stands, with the results that are there.

    \b
    Examples:
      sift batch status j_7f3a
      sift batch status j_7f3a --no-results
    """
    terminal.put_json(client.status(job_id, results=not no_results, since=since))


@command.command()
@job_id_argument
@wait_timeout
@speaks
def wait(client: Sift, job_id: str, timeout: float | None) -> int:
    """Wait until the job has ended, then print it with its results.

    Ctrl-C ends the wait, not the job.

    \b
    Examples:
      sift batch wait j_7f3a
      sift batch wait j_7f3a --timeout 120 > job.json
    """
    return _wait(client, job_id, timeout)


def _wait(client: Sift, job_id: str, timeout_s: float | None) -> int:
    job = _waited(client, job_id, timeout_s)
    terminal.put_json(job)
    return _ended(job)


def _waited(client: Sift, job_id: str, timeout_s: float | None) -> Job:
    """The job, once no more will come of it or the time is over. Whatever else ends the wait, it says how to go on."""
    from sift.cli.bar import Bar

    bar = Bar()

    def away(error: ClientError) -> None:
        bar.close()
        terminal.say(f"{error}; waiting for it, {AWAY_S:g} s at most")

    try:
        return client.wait(job_id, timeout_s=timeout_s, progress=bar.show, away=away)
    except KeyboardInterrupt:
        bar.close()
        terminal.say("interrupted; the job goes on")
        terminal.say(f"sift batch wait {job_id} waits for it again, sift batch cancel {job_id} ends it")
        raise
    except (NoServer, Stopping) as error:
        bar.close()
        say_error(error)
        terminal.say(f"once the server is back, sift batch wait {job_id} goes on; a restart fails a job that was live")
        raise click.exceptions.Exit(exits.code_of_error(error)) from None
    finally:
        bar.close()


def _ended(job: Job) -> int:
    """Says what a code alone would leave open, and gives the code."""
    job_id, status = job["job_id"], job["status"]
    if status in LIVE:
        done = f"{job['targets_done']} of {job['targets_total']} targets"
        terminal.say(f"the job is {status} ({done} have ended); sift batch wait {job_id} waits on")
    elif "error" in job:
        terminal.say(f"the job {status}: {job['error']}; {_tally(job)}")
    elif status != "done":
        terminal.say(f"the job is {status}: {_tally(job)}")
    if status not in LIVE and may_change(job):
        terminal.say(f"what is in flight will be kept; sift batch wait {job_id} waits for it")
    return exits.code_of_status(status)


def _tally(job: Job) -> str:
    """How many of an ended job's targets came, and what became of the others."""
    counts = job["counts"]
    text = f"{counts['done']} of {job['targets_total']} targets came, {counts['failed']} failed"
    text += f", {counts['running']} in flight" if counts["running"] else ""
    return f"{text}, {counts['pending']} never began"


@command.command()
@job_id_argument
@click.option("-o", "--output", "directory", type=DIRECTORY, required=True, metavar="DIR", help="Where the files go.")
@click.option("--force", is_flag=True, help="Replace files that are there already.")
@click.option(
    "--timeout", type=SECONDS, metavar="SECONDS", help="How long to wait for what a cancelled job has in flight."
)
@speaks
def results(client: Sift, job_id: str, directory: str, force: bool, timeout: float | None) -> int:
    """Write the content of each target to a file in DIR, and print an index: one JSON object a line, when piped.

    Files are named by index and title. A target that failed has no file; the index says why. Of a live job it
    writes what is there; of a cancelled one it waits for the target in flight, so that nothing is lost.

    \b
    Examples:
      sift batch results j_7f3a -o pages
      sift batch results j_7f3a -o pages | jq -r 'select(.outcome != "ok") | .url'
    """
    from sift.cli.collect import files_of, index_of
    from sift.cli.files import write_all

    job = client.status(job_id)
    if job["status"] not in LIVE and may_change(job):
        job = _waited(client, job_id, timeout)
    write_all(directory, files_of(job), replace=force)
    terminal.put_lines(index_of(job), ("idx", "outcome", "file", "url"))
    return _ended(job)


@command.command()
@job_id_argument
@speaks
def cancel(client: Sift, job_id: str) -> None:
    """Stop the job before its next target. What has been fetched stays readable.

    \b
    Examples:
      sift batch cancel j_7f3a
    """
    answer = client.cancel(job_id)
    terminal.put_json(answer)
    if answer["status"] != "cancelled":
        terminal.say(f"the job had ended before: {answer['status']}")


@command.command("list")
@speaks
def list_(client: Sift) -> None:
    """Print your own jobs, newest first, without their targets.

    \b
    Examples:
      sift batch list
      sift batch list | jq -r '.jobs[] | select(.status == "running") | .job_id'
    """
    terminal.put_json({"jobs": client.list()})
