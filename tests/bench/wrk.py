"""wrk: many connections that cost little, with a token each."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

WRK = shutil.which("wrk")
_SCRIPT = """
local tokens, number = {}, 0
local asked = {%s}
function request()
  number = number %% #asked + 1
  local one = asked[number]
  return wrk.format(one[1], one[2], {Host = "127.0.0.1", Authorization = one[3]}, one[4])
end
"""
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}


@dataclass(frozen=True)
class Ask:
    """One request, as wrk is to send it; `token` is the caller's."""

    method: str
    path: str
    token: str
    body: str = ""


@dataclass(frozen=True)
class Served:
    """What came of it: requests a second, latencies in seconds, and how many answers were not 2xx or 3xx."""

    rate: float
    p50: float
    p99: float
    count: int
    refused: int


def wrk(port: int, connections: int, asks: list[Ask], seconds: int = 2) -> Served:
    """Sends the asks in turn over so many connections. Ask `WRK` first whether there is one."""
    assert WRK is not None
    with tempfile.TemporaryDirectory(prefix="sift-bench-") as name:
        script = Path(name) / "asks.lua"
        script.write_text(_SCRIPT % ", ".join(map(_lua, asks)))
        command = [WRK, "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "--timeout", "30s"]
        command += ["-s", str(script), f"http://127.0.0.1:{port}"]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return Served(
        float(_found(r"Requests/sec:\s+([\d.]+)", said)),
        _seconds(_found(r"50%\s+(\S+)", said)),
        _seconds(_found(r"99%\s+(\S+)", said)),
        int(_found(r"(\d+) requests in", said)),
        int(_found(r"Non-2xx or 3xx responses: (\d+)", said) or 0),
    )


def _lua(ask: Ask) -> str:
    return f"{{[[{ask.method}]], [[{ask.path}]], [[Bearer {ask.token}]], {f'[[{ask.body}]]' if ask.body else 'nil'}}}"


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    return match[1] if match else ""


def _seconds(text: str) -> float:
    match = re.fullmatch(r"([\d.]+)(us|ms|s|m)", text)
    return float(match[1]) * _UNITS[match[2]] if match else 0.0
