"""Bytes to text: what a page's body says, as Markdown or as it is.

Pure, and hostile work: `page` and all below it run in worker processes alone. The network is not known here.
This door stays light, since the server's process comes through it for `query`'s checks.
"""
