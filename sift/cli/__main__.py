"""`python -m sift.cli`: the command where it is not installed."""

from sift.cli import main

main()
