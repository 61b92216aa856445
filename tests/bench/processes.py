"""What a tree of processes costs: CPU seconds and memory, as the kernel counts them."""

from __future__ import annotations

import os
from pathlib import Path

_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def tree(pid: int) -> list[int]:
    """A process and all below it."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        if (fields := _fields(path)) is not None:
            children.setdefault(int(fields[1]), []).append(int(path.parent.name))
    found = [pid]
    for known in found:
        found += children.get(known, [])
    return found


def cpu_s(pid: int) -> float:
    """CPU seconds of a process and of all that are or were below it, counted in the kernel's ticks of 10 ms."""
    ticks = 0
    for member in tree(pid):
        if (fields := _fields(Path(f"/proc/{member}/stat"))) is not None:
            ticks += sum(map(int, fields[11:15]))  # own user and system time, and those of ended children
    return ticks * _TICK_S


def pss_bytes(pid: int) -> dict[str, int]:
    """What each process of a tree has in memory, shared pages divided by those who share them; by name and number."""
    found = {}
    for member in tree(pid):
        lines = Path(f"/proc/{member}/smaps_rollup").read_text().splitlines()
        kib = next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        name = Path(f"/proc/{member}/cmdline").read_bytes().replace(b"\0", b" ").decode()[:60]
        found[f"{member} {name}"] = kib * 1024
    return found


def _fields(path: Path) -> list[str] | None:
    """What stands behind the name in a `stat` file: state, parent …"""
    try:
        return path.read_text().rpartition(")")[2].split()
    except OSError:
        return None
