"""A digest in the server's hands: where models are configured and the caller's text may go there, they improve it.

What a passage is, and what a model is told, is `digest`'s; how bytes get there is `fetch`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sift.clock import Clock, Deadline
from sift.config import DigestConfig, read_secret
from sift.dcache import BlobCache, partition
from sift.digest import SPARE, Digest, Model, Models
from sift.fetch import Fetcher
from sift.metrics import Metrics
from sift.target import Caller


@dataclass(frozen=True, slots=True)
class _Kept:
    """One kind of a caller's cached results, as `digest` sees it; counts hits and misses."""

    blobs: BlobCache
    kind: str
    part: str
    ttl_s: float
    clock: Clock
    metrics: Metrics

    def get(self, key: str) -> bytes | None:
        found = self.blobs.get(self.kind, self.part, key, newer_than=self.clock.now() - self.ttl_s)
        self.metrics.cache_requests_total.labels(self.kind, "miss" if found is None else "hit").inc()
        return found

    def put(self, key: str, value: bytes) -> None:
        self.blobs.put(self.kind, self.part, key, value, now=self.clock.now())


class Answering:
    """The models of the config, for any thread; without any, digests stay as they are and nothing leaves the host."""

    def __init__(
        self, config: DigestConfig, fetcher: Fetcher, blobs: BlobCache, *, ttl_s: float, clock: Clock, metrics: Metrics
    ) -> None:
        self._config = config
        self._blobs = blobs
        self._ttl_s = ttl_s
        self._clock = clock
        self._metrics = metrics
        self._services = {url: fetcher.for_service(url) for url in (config.llm_url, config.embed_url) if url}
        self._models = Models(
            self._post,
            max_chars=config.max_chars,
            timeout_s=config.timeout_s,
            llm=_model(config.llm_url, config.llm_model, config.llm_key_file),
            embed=_model(config.embed_url, config.embed_model, config.embed_key_file),
            monotonic=clock.monotonic,
        )

    @property
    def is_configured(self) -> bool:
        """Whether there is a model at all."""
        return bool(self._services)

    def may_ask(self, caller: Caller) -> bool:
        """Whether this caller's text may leave the host for a model."""
        return self.is_configured and (not caller.restricted or self._config.restricted)

    def spare(self, caller: Caller) -> int:
        """How many passages beyond the digest a model would want to see."""
        return SPARE if self.may_ask(caller) else 0

    def improved(self, caller: Caller, question: str, digest: Digest) -> Digest:
        """The digest as good as the models make it; as it was where they may not be asked, fail, or talk nonsense."""
        if not self.may_ask(caller):
            return digest
        kept = {
            kind: _Kept(self._blobs, kind, partition(caller), self._ttl_s, self._clock, self._metrics)
            for kind in ("digest", "embed")
        }
        return self._models.improve(question, digest, answers=kept["digest"], vectors=kept["embed"])

    def _post(self, url: str, body: bytes, headers: Mapping[str, str], timeout_s: float) -> bytes:
        service = next(service for base, service in self._services.items() if url.startswith(base.rstrip("/")))
        return service.post_json(url, body, headers, Deadline(timeout_s, self._clock.monotonic))


def _model(url: str | None, name: str | None, key_file: str | None) -> Model | None:
    if url is None or name is None:
        return None
    return Model(url, name, read_secret(key_file) if key_file else None)
