"""The pages of the soak: ordinary ones, and ones that stall, bomb, break off, lie or cost a worker its life."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable

from tests.support.hostile import Hostile, Peer, reply
from tests.support.world import PDF, json_page, page

HTML = {"Content-Type": "text/html; charset=utf-8"}


def gzip_bomb(_: str) -> bytes:
    return reply(gzip.compress(bytes(64 << 20), 9), fields={**HTML, "Content-Encoding": "gzip"})


def nested(_: str) -> bytes:
    return reply(b"<div>" * 60_000 + b"the text inside", fields=HTML)


def unclosed(_: str) -> bytes:
    return reply(b"<a href='" * 100_000, fields=HTML)


def wide(_: str) -> bytes:
    return reply(b"<p>" + b"<b>word</b> " * 120_000, fields=HTML)


def deep_json(_: str) -> bytes:
    return reply(b"[" * 100_000 + b"]" * 100_000, fields={"Content-Type": "application/json"})


def broken_pdf(name: str) -> bytes:
    return reply(PDF[: 80 + len(name)] + b"\xff" * 4000, fields={"Content-Type": "application/pdf"})


def cut(name: str) -> bytes:
    return reply(page(name), fields=HTML, length=1 << 20)


def failure(status: int) -> Callable[[str], bytes]:
    return lambda _: reply(b"no", status=status)


ORDINARY: dict[str, Callable[[str], bytes]] = {
    "page": page,
    "long": lambda name: page(name, 300),
    "json": json_page,
    "moved": lambda name: reply(status=302, fields={"Location": f"http://page-{name}.example.org/"}),
}
HOSTILE: dict[str, Callable[[str], bytes]] = {
    "bomb": gzip_bomb,
    "nested": nested,
    "unclosed": unclosed,
    "wide": wide,
    "deep": deep_json,
    "pdf": broken_pdf,
    "cut": cut,
    "gone": failure(404),
    "down": failure(503),
    "loop": lambda name: reply(status=302, fields={"Location": f"http://loop-{name}.example.org/"}),
}
SLOW = ("hang", "drip", "reset")
OPTIONS: tuple[dict[str, object], ...] = (
    {},
    {},
    {"mode": "full"},
    {"mode": "links"},
    {"question": "what does the reader come for?"},
    {"grep": "(a+)+$"},
    {"jq": "[limit(1000000; repeat(1))] | length"},
    {"jq": "def f: f; f"},
    {"context": True, "max_age": 0},
)


def target(random_: random.Random) -> dict[str, object]:
    """A target: two of three are ordinary."""
    kinds = [*ORDINARY] if random_.random() < 0.67 else [*HOSTILE, *SLOW]
    name = f"{random_.choice(kinds)}-{random_.randrange(400)}"
    return {"url": f"http://{name}.example.org/{random_.randrange(3)}", **random_.choice(OPTIONS)}


def site() -> Hostile:
    """A server that is all of these sites, by the request's Host."""
    return Hostile(_script)


def _script(peer: Peer) -> None:
    request = peer.request().decode("latin-1").lower()
    kind, _, name = request.partition("\r\nhost:")[2].partition("\r\n")[0].strip().partition(".")[0].partition("-")
    if kind == "hang":
        peer.hang()
    elif kind == "drip":
        peer.drip(page(name), 0.05)
    elif kind == "reset":
        peer.send(page(name)[:100])
        peer.reset()
    else:
        peer.send((ORDINARY | HOSTILE)[kind](name))
