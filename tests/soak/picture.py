"""The dashboard as a picture: a calm soak, scraped by a real Prometheus, every panel's own queries drawn.

`python -m tests.soak.picture FILE.png [--seconds 240]`; it takes Debian's `prometheus`, and matplotlib.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from importlib.resources import files
from pathlib import Path
from typing import Any

from tests.soak.callers import Caller, Seen
from tests.soak.server import CALLERS, Server
from tests.soak.site import site

PORT = 19090
SCRAPE_S = 2
RATE = "20s"
INK, PAPER, PANEL, GRID = "#d8d9da", "#111217", "#181b1f", "#2c3235"
COLOURS = ("#73bf69", "#f2cc0c", "#8ab8ff", "#ff780a", "#f2495c", "#b877d9", "#5794f2", "#705da0", "#37872d", "#fade2a")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak.picture")
    parser.add_argument("file", type=Path)
    parser.add_argument("--seconds", type=float, default=240.0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sift-picture-") as directory:
        panels = measured(Path(directory), asked.seconds)
    draw(panels, asked.file)
    return 0


def measured(directory: Path, seconds: float) -> list[tuple[Any, list[tuple[str, list[tuple[float, float]]]]]]:
    """Each panel with its lines: names and points, seconds from the start."""
    pages = site()
    server = Server(directory, pages.port)
    prometheus = start_prometheus(directory, server.port)
    seen, stopped = Seen(), threading.Event()
    began_s = time.time()
    callers = [Caller(server, name, seen, stopped, number) for number, name in enumerate(CALLERS)]
    time.sleep(seconds)
    panels = json.loads(files("sift").joinpath("ops", "alerts", "sift.dashboard.json").read_text())["panels"]
    found = [(panel, lines_of(panel, began_s + 20, time.time())) for panel in panels if panel["type"] == "timeseries"]
    stopped.set()
    for caller in callers:
        caller.thread.join()
    prometheus.terminate()
    prometheus.wait(20)
    server.stop()
    pages.close()
    return found


def start_prometheus(directory: Path, port: int) -> subprocess.Popen[bytes]:
    config = directory / "prometheus.yml"
    targets = f"static_configs: [{{targets: ['127.0.0.1:{port}']}}]"
    config.write_text(f"global: {{scrape_interval: {SCRAPE_S}s}}\nscrape_configs:\n  - job_name: sift\n    {targets}\n")
    command = ["prometheus", f"--config.file={config}", f"--web.listen-address=127.0.0.1:{PORT}"]
    with (directory / "prometheus.log").open("wb") as log:
        return subprocess.Popen([*command, f"--storage.tsdb.path={directory / 'tsdb'}"], stdout=log, stderr=log)


def lines_of(panel: Any, start_s: float, end_s: float) -> list[tuple[str, list[tuple[float, float]]]]:
    lines = []
    for target in panel["targets"]:
        expression = (
            target["expr"].replace("$__rate_interval", RATE).replace("$instance", ".*").replace("[1h]", "[10m]")
        )
        query = urllib.parse.urlencode({"query": expression, "start": start_s, "end": end_s, "step": SCRAPE_S})
        with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/api/v1/query_range?{query}", timeout=20) as answer:
            series = json.load(answer)["data"]["result"]
        for each in series:
            name = target["legendFormat"]
            for label, word in each["metric"].items():
                name = name.replace("{{" + label + "}}", word)
            points = [(at - start_s, float(value)) for at, value in each["values"]]
            lines.append((name, [(at, value) for at, value in points if math.isfinite(value)]))
    return lines


def draw(panels: list[tuple[Any, list[tuple[str, list[tuple[float, float]]]]]], file: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FuncFormatter
    from PIL import Image

    plt.rcParams.update({"font.size": 7, "text.color": INK, "axes.labelcolor": INK, "font.family": "DejaVu Sans"})
    rows = 1 + math.ceil((len(panels) - 1) / 3)
    figure = plt.figure(figsize=(11, 1.95 * rows), dpi=90, facecolor=PAPER)
    grid = figure.add_gridspec(rows, 3, hspace=0.75, wspace=0.16, left=0.045, right=0.985, top=0.965, bottom=0.04)
    for number, (panel, lines) in enumerate(panels):
        place = grid[0, :] if number == 0 else grid[1 + (number - 1) // 3, (number - 1) % 3]
        axes = figure.add_subplot(place, facecolor=PANEL)
        axes.set_title(panel["title"], loc="left", fontsize=8, color=INK)
        shown = [(name, points) for name, points in lines if points and any(value for _, value in points)] or lines
        for count, (name, points) in enumerate(shown[:10]):
            colour = COLOURS[count % len(COLOURS)]
            xs, ys = [at for at, _ in points], [value for _, value in points]
            axes.plot(xs, ys, linewidth=1.1, color=colour, label=name)
            axes.fill_between(xs, ys, alpha=0.08, color=colour)
        axes.set_ylim(bottom=0)
        axes.grid(color=GRID, linewidth=0.5)
        axes.tick_params(colors=INK, length=0)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda at, _: f"{int(at // 60)}:{int(at % 60):02d}"))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _, unit=panel: scaled(value, unit)))
        for spine in axes.spines.values():
            spine.set_visible(False)
        if shown:
            columns = min(6 if number == 0 else 4, len(shown))
            axes.legend(
                loc="upper left", bbox_to_anchor=(-0.02, -0.1), fontsize=6, ncols=columns, frameon=False, labelcolor=INK
            )
    figure.savefig(file, facecolor=PAPER)
    with Image.open(file) as picture:  # few colours are in it: half of the bytes
        few = picture.convert("RGB").quantize(128, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        few.save(file, optimize=True)


def scaled(value: float, panel: Any) -> str:
    unit = panel["fieldConfig"]["defaults"]["unit"]
    if unit == "bytes":
        for size, word in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
            if value >= size:
                return f"{value / size:.3g} {word}"
    if unit == "s":
        return f"{value * 1000:.3g} ms" if 0 < value < 1 else f"{value:.3g} s"
    return f"{value:.3g}"


if __name__ == "__main__":
    sys.exit(main())
