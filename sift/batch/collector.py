"""The collector: jobs past their lease and over the bytes go, and what was deleted leaves the file.

It decides nothing that a reader could notice: an expired job is gone for readers before it comes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from sift.batch.leases import LeaseClock
from sift.batch.ledger import Ledger
from sift.clock import Clock
from sift.config import BatchConfig
from sift.dcache import Gone, Store
from sift.errors import Stopping, StorageFailed
from sift.logs import Log
from sift.metrics import Metrics

EVERY_S = 5.0
# The promise is that deleted rows have left the file within a minute. Each tidying empties the WAL, which then grows
# anew, and a growing file is the slower one to sync: so not at every round.
_TIDY_EVERY_S = 20.0


class Collector:
    """One thread, `sift-collector`: a round every few seconds, and at once when asked to hurry.

    It touches the store and the gauges; `stop` ends it after the round it is in.
    """

    def __init__(
        self,
        store: Store,
        config: Callable[[], BatchConfig],
        *,
        clock: Clock,
        leases: LeaseClock,
        ledger: Ledger,
        metrics: Metrics,
        log: Log,
    ) -> None:
        self._store = store
        self._config = config
        self._clock = clock
        self._leases = leases
        self._ledger = ledger
        self._metrics = metrics
        self._log = log
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._tidied_s = clock.monotonic()
        self.thread = threading.Thread(target=self._run, name="sift-collector", daemon=True)

    def start(self) -> None:
        self._metrics.batch_bytes.set_function(self._store.batch.nbytes)
        self._metrics.cache_bytes.labels("content").set_function(self._store.content.nbytes)
        for kind in ("digest", "embed"):
            self._metrics.cache_bytes.labels(kind).set_function(partial(self._store.digest.nbytes, kind))
        self._show()
        self.thread.start()

    def hurry(self) -> None:
        """Hold the next round now."""
        self._wake.set()

    def stop(self) -> None:
        """Begin no further round; whoever wants to see the end of this one joins the thread."""
        self._stopping.set()
        self._wake.set()

    def collect(self) -> None:
        """One round: leases, bytes, tidying, gauges. What the store refuses is left for the next one."""
        for step in (self._expire, self._evict, self._tidy, self._show):
            try:
                step()
            except (StorageFailed, OSError) as error:
                self._log.fault("collector", error)

    def _run(self) -> None:
        while True:
            self._wake.wait(EVERY_S)
            self._wake.clear()
            if self._stopping.is_set():
                return
            with suppress(Stopping):
                self.collect()

    def _expire(self) -> None:
        now = self._leases.now()
        while gone := self._store.batch.sweep(now=now, ttl_s=self._config().ttl_s):
            self._account("lease", gone, now)

    def _evict(self) -> None:
        now = self._leases.now()
        while gone := self._store.batch.evict_bytes(self._config().max_bytes):
            self._account("bytes", gone, now)

    def _account(self, cause: str, gone: tuple[Gone, ...], now: float) -> None:
        for job in gone:
            self._ledger.evicted(cause, now - job.lease)

    def _tidy(self) -> None:
        now_s = self._clock.monotonic()
        if now_s - self._tidied_s >= _TIDY_EVERY_S and self._store.tidy():
            self._tidied_s = now_s

    def _show(self) -> None:
        self._metrics.disk_free_bytes.set(self._store.disk_free_bytes())
