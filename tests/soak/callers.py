"""The callers of the soak, and their memory of what they have seen finished."""

from __future__ import annotations

import hashlib
import http.client
import json
import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests.soak.server import Server
from tests.soak.site import target

LIVE = ("queued", "running")


@dataclass
class Seen:
    """What all callers saw. `finished`: by job and idx, a hash of the entry once it was done or failed."""

    lock: threading.Lock = field(default_factory=threading.Lock)  # guards the rest
    outcomes: Counter[str] = field(default_factory=Counter)
    jobs: Counter[str] = field(default_factory=Counter)
    cut_off: int = 0
    finished: dict[tuple[str, str, int], str] = field(default_factory=dict)
    submitted: list[tuple[str, str]] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    fetch_s: list[float] = field(default_factory=list)

    def note(self, caller: str, job: Any) -> None:
        """Takes a status body in, and compares it with what was seen before."""
        with self.lock:
            for entry in job["targets"]:
                key = (caller, job["job_id"], entry["idx"])
                if entry["status"] in ("done", "failed"):
                    now = _digest(entry)
                    if self.finished.setdefault(key, now) != now:
                        self.changed.append(f"{key} is not what it was")
                elif key in self.finished:
                    self.changed.append(f"{key} was finished and is {entry['status']}")


def _digest(entry: Any) -> str:
    return hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()


class Caller:
    """One caller in a thread of its own, until `stopped`."""

    def __init__(self, server: Server, name: str, seen: Seen, stopped: threading.Event, seed: int) -> None:
        self._server = server
        self._name = name
        self._seen = seen
        self._stopped = stopped
        self._random = random.Random(seed)
        self.thread = threading.Thread(target=self._run, name=name)
        self.thread.start()

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                if self._random.random() < 0.3:
                    self._batch()
                else:
                    self._fetch()
            except (OSError, http.client.HTTPException):
                with self._seen.lock:
                    self._seen.cut_off += 1
                self._stopped.wait(0.2)

    def _fetch(self) -> None:
        began_s = time.monotonic()
        status, answer = self._server.ask("POST", "/v1/fetch", target(self._random), caller=self._name)
        with self._seen.lock:
            self._seen.outcomes[answer.get("reason", "ok")] += 1
            if status == 200:
                self._seen.fetch_s.append(time.monotonic() - began_s)
        if status == 429:
            self._stopped.wait(0.3)

    def _batch(self) -> None:
        targets = [target(self._random) for _ in range(self._random.randrange(1, 17))]
        status, answer = self._server.ask("POST", "/v1/batch", {"targets": targets}, caller=self._name)
        if status != 202:
            with self._seen.lock:
                self._seen.jobs[answer["reason"]] += 1
            self._stopped.wait(0.5)
            return
        job_id = answer["job_id"]
        with self._seen.lock:
            self._seen.submitted.append((self._name, job_id))
        if self._random.random() < 0.1:
            self._server.ask("DELETE", f"/v1/batch/{job_id}", caller=self._name)
        ends_s = time.monotonic() + self._random.uniform(1, 30)
        while time.monotonic() < ends_s and not self._stopped.is_set():
            job = self._server.ask("GET", f"/v1/batch/{job_id}?wait=2", caller=self._name)[1]
            self._seen.note(self._name, job)
            if job["status"] not in LIVE:
                return
            self._stopped.wait(0.5)  # one above the cap of long polls was answered at once


def settle(server: Server, seen: Seen, most_s: float) -> list[str]:
    """Waits until every job has ended, and compares each with what was seen; those that are stuck or gone."""
    wrong = []
    ends_s = time.monotonic() + most_s
    for caller, job_id in seen.submitted:
        while True:
            status, job = server.ask("GET", f"/v1/batch/{job_id}?wait=5", caller=caller)
            if status != 200 or job["status"] not in LIVE or time.monotonic() > ends_s:
                break
        if status != 200:
            wrong.append(f"{job_id} is gone: {status}")
            continue
        seen.note(caller, job)
        seen.jobs[job["status"]] += 1
        if job["status"] in LIVE:
            wrong.append(f"{job_id} is stuck: {job['counts']}")
        if job["counts"]["running"]:
            wrong.append(f"{job_id} has ended with a target running")
    return wrong
