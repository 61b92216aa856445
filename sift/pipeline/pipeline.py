"""`fetch_target`: guard → gate → cache or fetch → recover → render … cap → envelope, one line a step.

What waits, waits here in the caller's thread: at gates (`gate`), on the wire (`fetch`), for a worker (`workers`).
"""

from __future__ import annotations

from typing import Any

import msgspec

from sift.clock import Clock
from sift.config import Config
from sift.dcache import Store
from sift.errors import (
    Internal,
    Invalid,
    RequestError,
    TargetError,
    TooLong,
    Unsupported,
)
from sift.fetch import Fetcher
from sift.gate import Gate
from sift.guard import CheckedUrl, Guard
from sift.logs import Log
from sift.metrics import Metrics
from sift.pipeline import envelope, messages
from sift.pipeline.answering import Answering
from sift.pipeline.cutting import fitting
from sift.pipeline.recall import KIND, Recall
from sift.pipeline.source import Arrival, LaneSlots, Source, forbids_storing
from sift.target import INTERACTIVE, Caller, Lane, Outcome, Result, Target
from sift.workers import Pool

WORTH_KEEPING_BYTES = 16 << 10
_REFUSALS = {"unsupported": Unsupported, "invalid": Invalid, "too_long": TooLong}


class Pipeline:
    """Everything that one target needs. Any thread may use it; it owns none."""

    def __init__(
        self,
        config: Config,
        guard: Guard,
        gate: Gate,
        fetcher: Fetcher,
        store: Store,
        pool: Pool,
        *,
        metrics: Metrics,
        log: Log,
        clock: Clock,
    ) -> None:
        self._config = config
        self._guard = guard
        self._gate = gate
        self._answering = Answering(
            config.digest, fetcher, store.digest, ttl_s=config.cache.ttl_s, clock=clock, metrics=metrics
        )
        self._recall = Recall(store.digest, ttl_s=config.cache.ttl_s, clock=clock)
        self._source = Source(config, fetcher, store.content, pool, metrics=metrics, clock=clock)
        self._pool = pool
        self._metrics = metrics
        self._log = log
        self._clock = clock

    def fetch_target(self, caller: Caller, target: Target, lane: Lane) -> Result:
        """The result of one target; raises `TargetError`. Logs a line and counts the outcome, either way."""
        began = self._clock.monotonic()
        outcome: Outcome | None = Outcome.INTERNAL
        host, status, nbytes = "", None, 0  # no host for the log where the guard finds none: it may be anything
        try:
            checked = self._guard.check_url(target.url)
            host = checked.host
            result = self._steps(caller, target, checked, lane, began)
            outcome, status = Outcome.OK, result.envelope["status"]
            nbytes = result.envelope["content_bytes"]
        except TargetError as error:
            outcome, status = error.outcome, error.status
            raise _without_used_hint(error, target) from None
        except RequestError:  # its lane could not begin it now (a full disk, a stop): it is nobody's failure
            outcome = None
            raise
        except Exception as error:  # the last resort: a fault of ours is this target's, and tells nothing
            self._log.fault("fetch_target", error, caller=caller, job=lane.job_id, idx=lane.idx)
            raise Internal from None
        finally:
            if outcome is not None:
                seconds = self._clock.monotonic() - began
                self._metrics.fetch(outcome, seconds - lane.waited_s)
                elapsed_ms = int(seconds * 1000)
                self._log.target(caller, lane, outcome, status=status, elapsed_ms=elapsed_ms, nbytes=nbytes, host=host)
        return result

    def abort(self) -> None:
        """Ends every fetch under way: the grace of a stop is over."""
        self._source.abort()

    def check_programs(self, programs: list[str]) -> list[str]:
        """For each jq program what is wrong with it, "" where nothing is known to be."""
        if not programs:
            return []
        try:
            answer = self._pool.call(messages.CHECK_PROGRAMS, msgspec.msgpack.encode(programs), lane=INTERACTIVE)
        except TargetError:
            return [""] * len(programs)  # no worker now, or it died of one: the target itself will tell
        return msgspec.msgpack.decode(answer, type=list[str])

    def _steps(self, caller: Caller, target: Target, checked: CheckedUrl, lane: Lane, began: float) -> Result:
        with self._gate.ticket(caller, lane) as ticket:
            slots = LaneSlots(ticket, lane)
            arrival = self._source.page(caller, target, checked, lane, slots)
            slots.begin()  # a cached copy needs no slots, but a cancelled job gets nothing either
        done = self._answered(caller, target, self._work(caller, arrival, target, lane))
        elapsed_ms = int((self._clock.monotonic() - began) * 1000)
        cap_bytes = self._config.fetch.output_cap_bytes
        page, cached = arrival.page, arrival.cached
        found = envelope.build(target, page, done, cached=cached, elapsed_ms=elapsed_ms, cap_bytes=cap_bytes)
        if withheld := self._withheld(caller, target):
            found["withheld"] = withheld
        return Result(found)

    def _withheld(self, caller: Caller, target: Target) -> list[str]:
        """What was asked for and is not done for a restricted caller: it would show others what he reads."""
        if not caller.restricted:
            return []
        asks_model = target.question is not None and self._answering.is_configured
        withheld = {
            "recover": target.recover and not self._source.may_recover(caller),
            "digest": asks_model and not self._answering.may_ask(caller),
        }
        return [option for option, is_withheld in withheld.items() if is_withheld]

    def _answered(self, caller: Caller, target: Target, done: messages.Yield) -> messages.Yield:
        """What a model makes of a digest, if there is one and it may be asked."""
        if target.question is None or done.digest is None:
            return done
        digest = self._answering.improved(caller, target.question, done.digest)
        if digest.content == done.digest.content:
            return msgspec.structs.replace(done, digest=digest)
        text, whole_bytes = fitting(digest.content, self._config.fetch.output_cap_bytes), len(digest.content.encode())
        truncated = len(text) < len(digest.content)
        return msgspec.structs.replace(done, digest=digest, text=text, whole_bytes=whole_bytes, truncated=truncated)

    def _work(self, caller: Caller, arrival: Arrival, target: Target, lane: Lane) -> messages.Yield:
        page = arrival.page
        if not page.body:
            arrival.keep()
            return messages.Yield(media_type=_bare(page.headers.get("content-type")))
        wish = messages.Wish(
            url=page.final_url,
            content_type=page.headers.get("content-type"),
            body=page.body,
            mode=target.mode,
            pages=target.pages,
            jq=target.jq,
            grep=target.grep,
            question=target.question,
            context=target.context,
            cap_bytes=self._config.fetch.output_cap_bytes,
            digest_chars=self._config.digest.max_chars,
            digest_spare=self._answering.spare(caller),
        )
        answer = self._made(caller, arrival, target, msgspec.msgpack.encode(wish), lane)
        done = msgspec.msgpack.decode(answer, type=messages.Yield)
        if done.refused is not None:
            refusal = _REFUSALS.get(done.refused)
            if refusal is None:
                raise Internal
            raise refusal(done.why.removeprefix(f"{done.refused}: "), hint=done.hint)
        return done

    def _made(self, caller: Caller, arrival: Arrival, target: Target, payload: bytes, lane: Lane) -> bytes:
        """What a worker makes of it, or made of it before."""

        def work() -> bytes:
            return self._pool.call(messages.PAGE, payload, lane=lane.name, meanwhile=arrival.keep)

        page = arrival.page
        if forbids_storing(page):
            return work()
        # A batch's result is stored with its job, and a small page is worked faster than it is stored: a second copy
        # would only keep others waiting for the store.
        keep = lane.name == INTERACTIVE and (len(page.body) >= WORTH_KEEPING_BYTES or target.question is not None)
        answer, was_known = self._recall.answer(caller, payload, work, is_new=not arrival.cached, keep=keep)
        if was_known:
            arrival.keep()
        if target.question is not None and not self._answering.may_ask(caller):  # else a model's answer is what counts
            self._metrics.cache_requests_total.labels(KIND, "hit" if was_known else "miss").inc()
        return answer


def _without_used_hint(error: TargetError, target: Target) -> TargetError:
    used: dict[str, Any] = {"recover": target.recover, "jq": target.jq, "pages": target.pages, "grep": target.grep}
    if error.hint is not None and used.get(error.hint):
        error.hint = None
    return error


def _bare(content_type: str | None) -> str:
    return (content_type or "").partition(";")[0].strip().lower()
