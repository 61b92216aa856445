"""`sift serve` over a made-up Internet: `python -m tests.support.serve_world CONFIG PORT`, PORT being the world's."""

import os
import sys

from sift.config import load
from sift.server import run
from tests.support.world import Net


def main(file: str, port: str) -> None:
    """Runs until a signal ends it."""
    net = Net("127.0.0.1", int(port))
    run(load(file, os.environ), resolve=net.resolve, dial=net.dial)


if __name__ == "__main__":
    main(*sys.argv[1:])
