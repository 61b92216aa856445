"""Chains of redirects with their verdicts, over real connections to loopback sites behind public names."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sift.errors import Blocked, Unreachable
from sift.target import Page
from tests.support.hostile import Hostile, Peer, Script, reply

CHAINS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("chains.json").read_text(encoding="utf-8"))
TEXTS = {"limit": "more than 10 redirects", "tls_error": "bad TLS: the certificate is not for this name"}


def script_of(chain: dict[str, Any], scheme: str) -> Script:
    """Answers the chain's hops of one scheme, by host and target."""
    answers: dict[tuple[str, str], bytes] = {}
    for hop in chain["hops"]:
        its_scheme, _, rest = hop["url"].partition("://")
        host, _, target = rest.partition("#")[0].partition("/")
        fields = dict(chain.get("fields", {}))
        if "location" in hop:
            fields["Location"] = hop["location"]
        if its_scheme == scheme and "status" in hop:
            key = (host.removesuffix(":443"), "/" + target)
            answers[key] = answers.get(key, b"") or reply(b"here", status=hop["status"], fields=fields)

    def script(peer: Peer) -> None:
        lines = peer.request().decode("latin-1").split("\r\n")
        host = next(line for line in lines if line.startswith("Host: ")).removeprefix("Host: ")
        peer.send(answers[host, lines[0].split(" ")[1]])

    return script


def twice(chain: dict[str, Any]) -> Script:
    """The first hop's answer, then the second's: for two hops that are one URL on the wire."""
    answers = [
        reply(b"here", status=hop["status"], fields={"Location": hop["location"]} if hop.get("location") else {})
        for hop in chain["hops"]
    ]

    def script(peer: Peer) -> None:
        peer.request()
        peer.send(answers.pop(0))

    return script


@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: f"{chain['verdict']}:{chain['why']}")
def test_the_chain_ends_as_it_must(chain: dict[str, Any], net: Any, serve: Callable[..., Hostile], get: Any) -> None:
    fragment_only = "#" in chain["hops"][-1]["url"]
    net.answers = {hop["url"].split("/")[2].partition(":")[0]: hop["answer"] for hop in chain["hops"]}
    plain = serve(twice(chain) if fragment_only else script_of(chain, "http"))
    net.sites = {80: plain, 443: serve(script_of(chain, "https"), certificate="site.pem")}
    first = chain["hops"][0]["url"]

    if chain["verdict"] == "allow" and chain["hops"][-1]["status"] < 300:
        page: Page = get(None, first)
        assert page.body == b"here"
        assert page.url == first
        assert page.final_url == chain["hops"][-1]["url"].partition("#")[0].replace(":443/", "/")
        assert net.dialled == ["93.184.216.34"] * len(chain["hops"])
    else:
        refused = Blocked if chain["verdict"] == "refuse" else Unreachable
        with pytest.raises(refused, match=TEXTS.get(chain["verdict"])):
            get(None, first)
        assert set(net.dialled) == {"93.184.216.34"}
    assert len(plain.requests) <= 11


def test_there_are_enough_chains() -> None:
    assert len(CHAINS) >= 55
