"""`sift fetch`: one page, now."""

from __future__ import annotations

from typing import Any

import click

from sift.cli import terminal
from sift.cli.advice import advice
from sift.cli.door import speaks
from sift.cli.patience import busy_timeout, patiently
from sift.cli.values import SECONDS, SENT
from sift.client import Answered, Envelope, Sift

MODES = ("clean", "full", "raw", "links")


@click.command()
@click.argument("page", metavar="URL", type=SENT)
@click.option("--mode", type=click.Choice(MODES), help="What to give back; default clean: the main content.")
@click.option("--question", type=SENT, metavar="TEXT", help="Keep the passages that answer it, best first.")
@click.option("--pages", type=SENT, metavar="RANGE", help="Pages of a PDF: 1-3,7 or 5-.")
@click.option("--grep", type=SENT, metavar="RE2", help="Keep the lines that match, each with its number.")
@click.option("--jq", type=SENT, metavar="PROGRAM", help="A jq program over a JSON body.")
@click.option("--context", is_flag=True, help="Add what the page says about itself; seen with --json.")
@click.option("--recover", is_flag=True, help="Take the newest archived copy where the page is dead.")
@click.option("--max-age", type=SECONDS, metavar="SECONDS", help="How old a cached copy may be.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole envelope; of a failure, its error object.")
@busy_timeout
@speaks
def command(client: Sift, page: str, as_json: bool, busy_timeout: float, **options: Any) -> None:
    """Fetch URL and print its content.

    \b
    Examples:
      sift fetch https://example.com/
      sift fetch https://example.com/paper.pdf --pages 1-3
      sift fetch https://example.com/api.json --jq '.items[].name'
      sift fetch https://example.com/ --question 'who may use this name?' --json
    """
    asked = {name: value for name, value in options.items() if value not in (None, False)}
    if isinstance(age := asked.get("max_age"), float) and age.is_integer():
        asked["max_age"] = int(age)
    try:
        envelope = patiently(lambda: client.fetch(page, **asked), busy_timeout)
    except Answered as error:
        if as_json:
            terminal.put_json(error.body)
        raise
    if as_json:
        terminal.put_json(envelope)
    else:
        terminal.put(envelope["content"])
    _say_more(envelope, as_json)


def _say_more(envelope: Envelope, as_json: bool) -> None:
    """What the content alone does not tell."""
    if envelope.get("truncated"):
        terminal.say(f"truncated: the whole is {envelope['content_bytes']} bytes")
    if hint := envelope.get("hint"):
        terminal.say(advice(hint))
    for withheld in envelope.get("withheld", []):
        terminal.say(f"withheld: {withheld} is not done for a restricted caller")
    if "archive" in envelope:
        terminal.say(f"an archived copy of {envelope['archive'].get('captured_at')}")
    if "context" in envelope and not as_json:
        terminal.say("the context is part of the envelope; add --json to see it")
