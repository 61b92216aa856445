"""What workers have made of pages, kept a while: the same page and the same wishes give the same answer.

Whether a page may be kept at all is decided by who asks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from sift import __version__
from sift.clock import Clock
from sift.dcache import BlobCache, partition
from sift.target import Caller

KIND = "digest"


class Recall:
    """Answers of workers by the payload that they were given, within the caches' budget and their TTL.

    A caller sees what his own partition has made. Any thread may use it.
    """

    def __init__(self, blobs: BlobCache, *, ttl_s: float, clock: Clock) -> None:
        self._blobs = blobs
        self._ttl_s = ttl_s
        self._clock = clock

    def answer(
        self, caller: Caller, payload: bytes, work: Callable[[], bytes], *, is_new: bool = False, keep: bool = True
    ) -> tuple[bytes, bool]:
        """The answer to `payload`, and whether it was known; `work` makes it where it was not. Raises as `work` does.

        Found by the whole payload, the page's bytes among it: there is nothing that could have changed since.
        Not looked for where the page `is_new`; what was made is kept where `keep` says so.
        """
        if self._ttl_s <= 0 or (is_new and not keep):
            return work(), False
        part, key = partition(caller), f"work {__version__} {hashlib.sha256(payload).hexdigest()}"
        oldest = self._clock.now() - self._ttl_s
        known = None if is_new else self._blobs.get(KIND, part, key, newer_than=oldest)
        if known is not None:
            return known, True
        made = work()
        if keep:
            self._blobs.put(KIND, part, key, made, now=self._clock.now())
        return made, False
