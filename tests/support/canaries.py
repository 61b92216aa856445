"""What the canary tests ask for, and what a log may say of it."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.support.world import CASES, World


def targets(world: World, secret: str) -> list[dict[str, Any]]:
    """A target for every outcome and every option, each with `secret` wherever something can be written."""
    page, data, pdf = (world.url(label, secret) for label in ("ok", "json", "pdf"))
    return [
        *({"url": world.url(case.label, secret), **case.options} for case in CASES),
        {"url": page, "question": f"what of {secret}?", "context": True},
        {"url": page, "grep": f"({secret})+"},
        {"url": page, "mode": "links"},
        {"url": page, "mode": "raw", "max_age": 0},
        {"url": data, "jq": f'."{secret}"'},
        {"url": data, "jq": f'error("{secret}")'},
        {"url": data, "jq": f'input_filename, "{secret}" | debug'},
        {"url": pdf, "pages": "1-", "question": secret},
    ]


def without_host(text: str) -> str:
    """A log without what it may say: the host, in the lines of the standard caller's (alice's) interactive fetches."""
    return "\n".join(_without_host(line) for line in text.splitlines())


def _without_host(line: str) -> str:
    if line.startswith("{"):
        fields = json.loads(line)
        if fields["event"] == "target" and fields["lane"] == "interactive" and fields["caller"] == "alice":
            fields.pop("host")
        return json.dumps(fields)
    if " target caller=alice lane=interactive " in line:
        return re.sub(r" host=\S+", "", line)
    return line
