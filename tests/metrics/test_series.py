"""What `/metrics` shows of a server that has done nothing: exactly these series, all of them at 0."""

import shutil
import subprocess

import pytest
from prometheus_client import CollectorRegistry

from sift import __version__
from sift.metrics import Metrics
from tests.support.series import kinds, read, value

WORDS = ("ok", "blocked", "timeout", "busy", "upstream_4xx", "upstream_5xx", "unsupported", "too_long", "cancel")
ENDPOINTS = ("/v1/fetch", "/v1/batch", "/v1/batch/{id}", "/v2/scrape", "/healthz", "/metrics", "/openapi.json", "/")
LABELLED = {
    "sift_batch_jobs_total": {"outcome": ("created", "reused", "done", "partial", "failed", "cancelled", "restart")},
    "sift_batch_targets_total": {"outcome": (*WORDS, "other")},
    "sift_batch_evictions_total": {"cause": ("lease", "bytes")},
    "sift_batch_refused_total": {"cap": ("targets", "caller", "jobs")},
    "sift_fetches_total": {"outcome": (*WORDS, "unreachable", "invalid", "internal")},
    "sift_gate_inuse": {"gate": ("host", "caller", "batch", "global")},
    "sift_cache_bytes": {"cache": ("content", "digest", "embed")},
    "sift_cache_requests_total": {"cache": ("content", "digest", "embed"), "result": ("hit", "stale", "miss")},
    "sift_worker_restarts_total": {"cause": ("timeout", "memory", "death", "recycle")},
}
TYPES = {
    "sift_batch_jobs_total": "counter",
    "sift_batch_targets_total": "counter",
    "sift_batch_queue_depth": "gauge",
    "sift_batch_targets_inflight": "gauge",
    "sift_batch_job_seconds": "histogram",
    "sift_batch_target_seconds": "histogram",
    "sift_batch_result_bytes": "histogram",
    "sift_requests_total": "counter",
    "sift_request_seconds": "histogram",
    "sift_fetches_total": "counter",
    "sift_fetch_seconds": "histogram",
    "sift_gate_inuse": "gauge",
    "sift_gate_wait_seconds": "histogram",
    "sift_cache_requests_total": "counter",
    "sift_cache_bytes": "gauge",
    "sift_batch_bytes": "gauge",
    "sift_worker_restarts_total": "counter",
    "sift_build_info": "gauge",
    "sift_batch_evictions_total": "counter",
    "sift_batch_evicted_age_seconds": "histogram",
    "sift_batch_oldest_live_seconds": "gauge",
    "sift_batch_refused_total": "counter",
    "sift_disk_free_bytes": "gauge",
}


@pytest.fixture
def exposition(metrics: Metrics) -> bytes:
    return metrics.exposition()


def test_there_are_these_families_and_no_other(exposition: bytes) -> None:
    assert kinds(exposition) == TYPES


@pytest.mark.parametrize("name", LABELLED)
def test_every_known_label_value_is_there_at_0(exposition: bytes, name: str) -> None:
    shown = {labels: found for (series, labels), found in read(exposition).items() if series == name}
    combined = [frozenset[tuple[str, str]]()]
    for label, words in LABELLED[name].items():
        combined = [labels | {(label, word)} for labels in combined for word in words]

    assert shown == dict.fromkeys(combined, 0.0)


@pytest.mark.parametrize("endpoint", [*ENDPOINTS, "other"])
def test_every_endpoint_is_there_at_0(exposition: bytes, endpoint: str) -> None:
    series = read(exposition)

    assert value(series, "sift_request_seconds_count", endpoint=endpoint) == 0
    for code in ("200", "202", "400", "401", "404", "413", "422", "429", "500", "502", "503", "504"):
        assert value(series, "sift_requests_total", endpoint=endpoint, code=code) == 0


@pytest.mark.parametrize("lane", ["interactive", "batch"])
def test_both_lanes_are_there_at_0(exposition: bytes, lane: str) -> None:
    assert value(read(exposition), "sift_gate_wait_seconds_count", lane=lane) == 0


def test_the_build_says_its_version(exposition: bytes) -> None:
    assert value(read(exposition), "sift_build_info", version=__version__) == 1


def test_no_series_tells_when_it_was_created(exposition: bytes) -> None:
    assert b"_created" not in exposition


@pytest.mark.parametrize("word", ["unreachable", "invalid", "internal", "restart", "http://x/", ""])
def test_the_batch_folds_what_it_does_not_count_by_name(metrics: Metrics, word: str) -> None:
    metrics.batch_target(word, 2)

    assert value(read(metrics.exposition()), "sift_batch_targets_total", outcome="other") == 2


def test_a_jobs_unknown_outcome_is_folded(metrics: Metrics) -> None:
    metrics.batch_job("exploded")

    series = read(metrics.exposition())
    assert value(series, "sift_batch_jobs_total", outcome="other") == 1
    assert ("sift_batch_jobs_total", frozenset({("outcome", "exploded")})) not in series


def test_an_unknown_endpoint_or_code_is_folded(metrics: Metrics) -> None:
    metrics.request("/v1/batch/j_secret", 418, 0.1)

    assert value(read(metrics.exposition()), "sift_requests_total", endpoint="other", code="other") == 1


def test_two_servers_in_one_process_count_apart(metrics: Metrics) -> None:
    other = Metrics(CollectorRegistry())

    metrics.batch_job("created")

    assert value(read(other.exposition()), "sift_batch_jobs_total", outcome="created") == 0


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed (Debian: prometheus)")
def test_promtool_has_nothing_to_say(exposition: bytes) -> None:
    done = subprocess.run(["promtool", "check", "metrics"], input=exposition, capture_output=True, timeout=60)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
