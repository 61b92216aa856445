"""Every series that `/metrics` shows, on a registry that is passed in.

No label with open values: a word that is not known is counted as `other`.
"""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest

from sift import __version__
from sift.target import BATCH, INTERACTIVE, Outcome

OTHER = "other"
JOB_OUTCOMES = ("created", "reused", "done", "partial", "failed", "cancelled", "restart")
BATCH_OUTCOMES = (
    "ok",
    "blocked",
    "timeout",
    "busy",
    "upstream_4xx",
    "upstream_5xx",
    "unsupported",
    "too_long",
    "cancel",
)
ENDPOINTS = (
    "/v1/fetch",
    "/v1/batch",
    "/v1/batch/{id}",
    "/v2/scrape",
    "/healthz",
    "/metrics",
    "/openapi.json",
    "/",
)
CODES = (
    "200", "202", "304", "400", "401", "404", "405", "408", "413", "415", "422", "424", "429", "431", "500", "501",
    "502", "503", "504",
)  # fmt: skip
GATES = ("host", "caller", "batch", "global")
LANES = (INTERACTIVE, BATCH)
CACHES = ("content", "digest", "embed")
CACHE_RESULTS = ("hit", "stale", "miss")
RESTART_CAUSES = ("timeout", "memory", "death", "recycle")

_QUICK = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_FETCH = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120)
_JOB = (1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600)
_AGE = (60, 300, 900, 1800, 3600, 7200, 21600, 43200, 86400, 172800)
_BYTES = (1 << 10, 4 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10, 320 << 10, 1 << 20)


def _known(word: str, words: Iterable[str]) -> str:
    return word if word in words else OTHER


class Metrics:
    """All series of one server. Attributes carry the series' names without the prefix `sift_`."""

    def __init__(self, registry: CollectorRegistry) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = registry
        self._batch()
        self._service()
        self._zero()

    def _batch(self) -> None:
        self.batch_jobs_total = self._counter("batch_jobs_total", "Jobs by what became of them.", "outcome")
        self.batch_targets_total = self._counter("batch_targets_total", "Batch targets by how they ended.", "outcome")
        self.batch_queue_depth = self._gauge("batch_queue_depth", "Jobs that are queued.")
        self.batch_targets_inflight = self._gauge("batch_targets_inflight", "Batch targets that are running.")
        self.batch_job_seconds = self._histogram("batch_job_seconds", "From a job's creation to its end.", _JOB)
        self.batch_target_seconds = self._histogram(
            "batch_target_seconds", "One batch target, without its waits at gates.", _FETCH
        )
        self.batch_result_bytes = self._histogram("batch_result_bytes", "Size of one stored result.", _BYTES)
        self.batch_bytes = self._gauge("batch_bytes", "Bytes that stored jobs count for in the batch's budget.")
        self.batch_evictions_total = self._counter("batch_evictions_total", "Jobs removed, by cause.", "cause")
        self.batch_evicted_age_seconds = self._histogram(
            "batch_evicted_age_seconds", "Time since its last use of a job evicted for bytes.", _AGE
        )
        self.batch_oldest_live_seconds = self._gauge(
            "batch_oldest_live_seconds", "Age of the oldest queued or running job, 0 without one."
        )
        self.batch_refused_total = self._counter("batch_refused_total", "Submits refused, by the cap met.", "cap")

    def _service(self) -> None:
        self.requests_total = self._counter("requests_total", "HTTP requests answered.", "endpoint", "code")
        self.request_seconds = self._histogram("request_seconds", "Time to answer a request.", _QUICK, "endpoint")
        self.fetches_total = self._counter("fetches_total", "Targets fetched in either lane, by outcome.", "outcome")
        self.fetch_seconds = self._histogram("fetch_seconds", "One target, without its waits at gates.", _FETCH)
        self.gate_inuse = self._gauge("gate_inuse", "Slots held, by gate.", "gate")
        self.gate_wait_seconds = self._histogram("gate_wait_seconds", "Wait for slots, by lane.", _QUICK, "lane")
        self.cache_requests_total = self._counter("cache_requests_total", "Cache look-ups.", "cache", "result")
        self.cache_bytes = self._gauge("cache_bytes", "Bytes held by a cache.", "cache")
        self.worker_restarts_total = self._counter("worker_restarts_total", "Worker processes replaced.", "cause")
        self.disk_free_bytes = self._gauge("disk_free_bytes", "Free space where the data directory lies.")
        self.build_info = self._gauge("build_info", "1, with the version that runs.", "version")

    def _zero(self) -> None:
        """Every known label value is there from the start: a rate over a series that appears late misses its first."""
        for words, counter in (
            (JOB_OUTCOMES, self.batch_jobs_total),
            ((*BATCH_OUTCOMES, OTHER), self.batch_targets_total),
            (("lease", "bytes"), self.batch_evictions_total),
            (("targets", "caller", "jobs"), self.batch_refused_total),
            (tuple(outcome.value for outcome in Outcome), self.fetches_total),
            (RESTART_CAUSES, self.worker_restarts_total),
        ):
            for word in words:
                counter.labels(word)
        for endpoint in (*ENDPOINTS, OTHER):
            self.request_seconds.labels(endpoint)
            for code in CODES:
                self.requests_total.labels(endpoint, code)
        for cache in CACHES:
            self.cache_bytes.labels(cache)
            for result in CACHE_RESULTS:
                self.cache_requests_total.labels(cache, result)
        for gate in GATES:
            self.gate_inuse.labels(gate)
        for lane in LANES:
            self.gate_wait_seconds.labels(lane)
        self.build_info.labels(__version__).set(1)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"sift_{name}", text, labels, registry=self._registry)

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        return Gauge(f"sift_{name}", text, labels, registry=self._registry)

    def _histogram(self, name: str, text: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
        return Histogram(f"sift_{name}", text, labels, registry=self._registry, buckets=buckets)

    def batch_job(self, outcome: str) -> None:
        """One job created, reused, or ended; unknown words fold to `other`."""
        self.batch_jobs_total.labels(_known(outcome, JOB_OUTCOMES)).inc()

    def batch_target(self, outcome: str, count: int = 1) -> None:
        """`count` batch targets ended so; what the batch's counter does not know folds to `other`."""
        self.batch_targets_total.labels(_known(outcome, BATCH_OUTCOMES)).inc(count)

    def fetch(self, outcome: str, seconds: float) -> None:
        """One `fetch_target` ended; all outcome words are kept."""
        self.fetches_total.labels(Outcome(outcome).value).inc()
        self.fetch_seconds.observe(seconds)

    def request(self, endpoint: str, code: int, seconds: float) -> None:
        """One HTTP request answered. `endpoint` is the route, never the path."""
        route = _known(endpoint, ENDPOINTS)
        self.requests_total.labels(route, _known(str(code), CODES)).inc()
        self.request_seconds.labels(route).observe(seconds)

    def exposition(self) -> bytes:
        """All series in the Prometheus text format."""
        return generate_latest(self._registry)
