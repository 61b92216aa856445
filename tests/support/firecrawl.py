"""Firecrawl's own Python client, each version in an environment of its own below `$SIFT_TEST_CLIENTS`.

python3 -m venv DIR/firecrawl-4.17.0 && DIR/firecrawl-4.17.0/bin/pip install firecrawl-py==4.17.0
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

VERSIONS = ("4.17.0", "4.55.0")
_SCRIPT = """
import json, sys
from firecrawl import Firecrawl

asked = json.loads(sys.stdin.read())
client = Firecrawl(api_url=asked["api_url"], api_key=asked["api_key"])
try:
    document = client.scrape(asked["url"], **asked["options"])
    said = {"document": document.model_dump(exclude_none=True)}
except Exception as error:
    said = {"error": type(error).__name__, "text": str(error), "status": getattr(error, "status_code", None)}
print(json.dumps(said, default=str))
"""


def python_of(version: str) -> Path | None:
    """The interpreter that has this version of the client; `None` where it is not installed."""
    where = os.environ.get("SIFT_TEST_CLIENTS") or Path(__file__).parents[2] / ".venv-clients"
    python = Path(where) / f"firecrawl-{version}" / "bin" / "python"
    return python if python.exists() else None


def scrape(python: Path, api_url: str, api_key: str, url: str, **options: Any) -> dict[str, Any]:
    """What the client makes of one scrape: `document`, or `error`, `text` and `status`."""
    asked = {"api_url": api_url, "api_key": api_key, "url": url, "options": options}
    done = subprocess.run(
        [str(python), "-c", _SCRIPT],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=60,
        env={"PATH": os.environ.get("PATH", ""), "HOME": "/nonexistent"},
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found
