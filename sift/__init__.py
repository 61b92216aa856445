"""Sift fetches web pages for agents: guarded, gated, as clean Markdown, one at a time or as a batch.

Importing this package creates nothing; `sift.server` builds the service, `sift.cli` speaks to it.
"""

__version__ = "0.1.0"
