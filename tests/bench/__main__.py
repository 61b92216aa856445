"""The benchmarks: one script a question, each prints one table.

    python -m tests.bench [NAME …] [--shared DIR] [--rounds N] [--peers VENV]

Without names the twelve questions of the README run one after the other. `growth`, `plans` and `hosts` answer how the
figures grow; `quality` and `digest` judge texts and take options of their own (`python tests/bench/quality.py --help`).
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

from tests.bench.rounds import Options

QUESTIONS = (
    "batch",
    "cpu",
    "polls",
    "fetches",
    "results",
    "status",
    "finish",
    "tls",
    "submit",
    "cached",
    "command",
    "memory",
)
BESIDE = ("growth", "plans", "hosts")


def main() -> None:
    """Runs what is named."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join((*QUESTIONS, *BESIDE)))
    parser.add_argument("--shared", type=Path, help="a directory with data/articles and data/docs: real pages")
    parser.add_argument("--rounds", type=int, default=7, help="paired rounds, of which the median counts")
    parser.add_argument("--peers", type=Path, help="a virtual environment with the peers' packages")
    asked = parser.parse_args()
    unknown = [name for name in asked.names if name not in (*QUESTIONS, *BESIDE)]
    if unknown:
        parser.error(f"no such question: {', '.join(unknown)}; there are {', '.join((*QUESTIONS, *BESIDE))}")
    options = Options(asked.shared, asked.rounds, asked.peers)
    for name in asked.names or QUESTIONS:
        importlib.import_module(f"tests.bench.{name}").main(options)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
