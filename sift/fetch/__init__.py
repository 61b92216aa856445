"""The wire: the one factory of outgoing connections, and what is fetched over them.

No jobs and no SQL; whether an address may be dialled is the guard's, when it may be dialled the gate's.
"""

from sift.fetch.archive import Archive, NoCopy
from sift.fetch.fetcher import Fetcher, Refresh, Slots
from sift.fetch.lookup import Resolve, system_resolve
from sift.fetch.wire import Dial
from sift.fetch.wire import dial as system_dial

__all__ = ["Archive", "Dial", "Fetcher", "NoCopy", "Refresh", "Resolve", "Slots", "system_dial", "system_resolve"]
