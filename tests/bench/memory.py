"""12. Memory of an idle server, all processes, shared pages divided by those who share them (PSS)."""

from __future__ import annotations

from tests.bench.processes import pss_bytes
from tests.bench.rounds import Options, show
from tests.bench.serving import serving
from tests.bench.site import site

MOST_MIB = 130
MIB = 1 << 20


def main(options: Options) -> None:
    """Prints the table: fresh from the start, and idle again after a batch of 32 pages."""
    with site(options.shared) as port, serving(port) as server:
        fresh = pss_bytes(server.pid)
        server.drained([f"http://127.0.0.1:{port}/page/{page}" for page in range(32)])
        after = pss_bytes(server.pid)
    total = sum(fresh.values()) / MIB
    rows = [
        [name, f"{nbytes / MIB:.1f} MiB", f"{after.get(name, 0) / MIB:.1f} MiB", "", ""]
        for name, nbytes in fresh.items()
    ]
    verdict = "met" if total <= MOST_MIB else "missed"
    rows.append(["all", f"{total:.1f} MiB", f"{sum(after.values()) / MIB:.1f} MiB", f"≤ {MOST_MIB} MiB", verdict])
    show("12. Memory (PSS)", rows, ("process", "idle", "idle after 32 pages", "target", ""))
