"""The wiring: builds the service in one function, runs it, stops it in order.

No logic lives here.

    Threads: the main one waits for signals; `sift-http` is waitress's loop, which hands requests to its own
    `waitress-N`. All others are named where they are owned: `batch.Runner`, `workers.Pool`, `fetch.Lookups`.
"""

from __future__ import annotations

import dataclasses
import os
import queue
import signal
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry

from sift import __version__
from sift.api import Services, create_app, note_refused
from sift.api.wsgi import HttpServer
from sift.auth import Callers, local_caller
from sift.batch import Runner
from sift.clock import Clock
from sift.config import Config, check_callers, load, need_restart
from sift.datadir import DataDir
from sift.dcache import Store
from sift.errors import ConfigError
from sift.fetch import Dial, Fetcher, Resolve, system_dial, system_resolve
from sift.gate import Gate
from sift.guard import Guard
from sift.logs import Log, silence_libraries
from sift.metrics import Metrics
from sift.ops.systemd import Systemd
from sift.pipeline import Pipeline
from sift.pipeline.messages import PRELOAD
from sift.process import prepare
from sift.workers import Pool, end_fork_server

DATABASE = "dcache.sqlite3"
STORE_SILENT_S = 2.0
NO_WORKER_S = 5.0
LOOP_STUCK_S = 5.0
STOP, RELOAD = "stop", "reload"


def build(
    config: Config,
    *,
    resolve: Resolve = system_resolve,
    dial: Dial = system_dial,
    log: Log | None = None,
    clock: Clock | None = None,
    sockets: Sequence[Any] = (),
) -> Server:
    """A server that holds its data directory and listens, ready to `start`; nothing is answered before that.

    The lock comes first, then the address, then the store: where one of them is taken, nothing was changed.
    `sockets` are listened on where they were passed, in place of the config's address.
    Raises `ConfigError`, `StartError` or `StoreError`.
    """
    clock = clock or Clock()
    log = log or Log(config.log)
    data_dir = DataDir.lock(Path(config.server.data_dir))
    try:
        hosts = [str(each.getsockname()[0]) for each in sockets] or [config.server.host]
        check_callers(config, hosts)
        http = HttpServer.bind(config.server, sockets)
        config = _with_local_caller(config)
        metrics = Metrics(CollectorRegistry())
        store = Store.open(data_dir.path / DATABASE, cache_bytes=config.cache.max_bytes)
    except BaseException:
        data_dir.release()
        raise
    guard = Guard(config.guard, own=http.addresses())
    gate = Gate(config.gate, metrics, clock.monotonic)
    pool = Pool(config.workers, PRELOAD, metrics, log, clock.monotonic)
    fetcher = Fetcher(config.fetch, guard, resolve=resolve, dial=dial, clock=clock)
    pipeline = Pipeline(config, guard, gate, fetcher, store, pool, metrics=metrics, log=log, clock=clock)
    runner = Runner(store, pipeline.fetch_target, config.batch, clock=clock, metrics=metrics, log=log)
    watch = Watch(runner, pool, store, http, gate)
    services = Services(
        fetch_target=pipeline.fetch_target,
        check_programs=pipeline.check_programs,
        runner=runner,
        guard=guard,
        callers=Callers(config.callers),
        metrics=metrics,
        log=log,
        clock=clock,
        wait_s=config.gate.wait_s,
        most_age_s=config.cache.ttl_s,
        threads=config.server.threads,
        troubles=watch.troubles,
    )
    parts = Parts(data_dir, http, store, gate, pool, fetcher, pipeline, runner, services, log, watch)
    return Server(config, hosts, parts)


def run(config: Config, *, resolve: Resolve = system_resolve, dial: Dial = system_dial) -> None:
    """Runs the service of `config` in this process until a signal ends it, and talks with systemd where it is there.

    Raises `ConfigError`, `StartError` or `StoreError`.
    """
    systemd = Systemd.of(os.environ)
    prepare()
    build(config, resolve=resolve, dial=dial, sockets=systemd.sockets).serve(systemd)


def _with_local_caller(config: Config) -> Config:
    if config.callers:
        return config
    return dataclasses.replace(config, callers=(local_caller(config.server.data_dir),))


@dataclass(frozen=True, slots=True)
class Parts:
    """What a server is made of, in the order in which it was built."""

    data_dir: DataDir
    http: HttpServer
    store: Store
    gate: Gate
    pool: Pool
    fetcher: Fetcher
    pipeline: Pipeline
    runner: Runner
    services: Services
    log: Log
    watch: Watch


@dataclass(frozen=True, slots=True)
class Watch:
    """What `/healthz` and the watchdog look at."""

    runner: Runner
    pool: Pool
    store: Store
    http: HttpServer
    gate: Gate

    def troubles(self) -> list[str]:
        """What is wrong, in words; empty where all is well."""
        found = self._dead()
        if self.pool.unready_s() > NO_WORKER_S:
            found.append("no worker process is ready")
        trouble = self.store.probe(STORE_SILENT_S)
        return [*found, trouble] if trouble else found

    def hopeless(self) -> list[str]:
        """What is wrong and stays so until a restart: a dead thread, a loop that does not turn."""
        found = self._dead()
        if self.http.stuck_s() > LOOP_STUCK_S:
            found.append("the loop of connections is stuck")
        return found

    def status(self) -> str:
        """One line on what it does, for the operator."""
        host, port = self.http.addresses()[0]
        return f"answering on {host}:{port}, {self.gate.inuse()['global']} slots in use"

    def _dead(self) -> list[str]:
        found = [f"thread {name} is dead" for name in self.runner.dead_threads()]
        return found if self.pool.is_alive() else [*found, "thread sift-workers is dead"]


class Server:
    """One service of a data directory. `serve` runs it until a signal ends it; tests `start` and `stop` it."""

    def __init__(self, config: Config, hosts: Sequence[str], parts: Parts) -> None:
        self._config = config
        self._hosts = hosts
        self._parts = parts
        self._environ = dict(os.environ)  # as it was: the pool hides the environment for a moment, now and then
        self._signals: queue.SimpleQueue[str] = queue.SimpleQueue()

    @property
    def address(self) -> tuple[str, int]:
        """Where it listens, the first of several."""
        return self._parts.http.addresses()[0]

    @property
    def parts(self) -> Parts:
        """What it is made of, for tests and for the doors beside it."""
        return self._parts

    def start(self) -> None:
        """Starts processes and threads, and answers from now on. Raises `StoreError`, and is closed then."""
        parts = self._parts
        try:
            parts.pool.start()
            parts.runner.start()
            parts.http.start(create_app(parts.services), partial(note_refused, parts.services))
        except BaseException:
            self.stop(grace_s=0.0)
            raise
        host, port = self.address
        parts.log.event("started", version=__version__, host=host, port=port)

    def stop(self, grace_s: float | None = None) -> None:
        """Starts no target, lets those in flight be stored within the grace, wakes who waits, closes everything."""
        parts = self._parts
        grace_s = self._config.server.grace_s if grace_s is None else grace_s
        parts.services.stopping.set()
        parts.log.event("stopping", grace_s=grace_s)
        ends_at = parts.services.clock.monotonic() + grace_s
        parts.runner.stop(grace_s)
        parts.http.drain(max(0.0, ends_at - parts.services.clock.monotonic()))
        parts.pipeline.abort()
        parts.pool.close()
        parts.http.stop()
        parts.fetcher.close()
        parts.store.close()
        parts.data_dir.release()
        parts.log.event("stopped")

    def reload(self) -> None:
        """Reads the config file again and puts in force what can be; a bad file leaves the old one in force."""
        parts = self._parts
        try:
            new = load(self._config.path, self._environ)
            check_callers(new, self._hosts)
        except ConfigError as error:
            parts.log.event("config_refused", "error", error=str(error))
            return
        for key in need_restart(self._config, new):
            parts.log.event("needs_restart", "warning", key=key)
        new = _with_local_caller(dataclasses.replace(new, server=self._config.server))
        gone = {caller.name for caller in self._config.callers} - {caller.name for caller in new.callers}
        parts.services.callers = Callers(new.callers)
        parts.services.wait_s = new.gate.wait_s
        parts.gate.configure(new.gate)
        parts.runner.configure(new.batch)
        parts.runner.cancel_callers(gone)
        parts.log.set_level(new.log.level)
        self._config = dataclasses.replace(
            self._config, callers=new.callers, gate=new.gate, batch=new.batch, log=new.log
        )
        parts.log.event("reloaded")

    def serve(self, systemd: Systemd | None = None) -> None:
        """Runs until SIGTERM or SIGINT; SIGHUP reloads. A second SIGTERM or SIGINT cuts the grace short."""
        systemd = systemd or Systemd()
        restore_libraries = silence_libraries(self._parts.log)
        words = {signal.SIGTERM: STOP, signal.SIGINT: STOP, signal.SIGHUP: RELOAD}
        before = {number: signal.signal(number, self._noted(word)) for number, word in words.items()}
        try:
            self.start()
            systemd.ready(self._parts.watch.status())
            while (word := self._next_word(systemd.beat_s)) != STOP:
                if word == RELOAD:
                    systemd.reloading()
                    self.reload()
                    systemd.ready(self._parts.watch.status())
                else:
                    self._beat(systemd)
            systemd.stopping()
            self._stop_once_more_means_now()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            restore_libraries()
            end_fork_server()

    def _next_word(self, most_s: float | None) -> str | None:
        """The next signal's word; `None` where none has come for `most_s`."""
        try:
            return self._signals.get(timeout=most_s)
        except queue.Empty:
            return None

    def _beat(self, systemd: Systemd) -> None:
        if troubles := self._parts.watch.hopeless():
            self._parts.log.event("ailing", "error", trouble=troubles[0])
            systemd.ailing(troubles[0])
        else:
            systemd.alive(self._parts.watch.status())

    def _stop_once_more_means_now(self) -> None:
        stopping = threading.Thread(target=self.stop, name="sift-stop")
        stopping.start()
        while stopping.is_alive():
            stopping.join(0.1)
            if not self._signals.empty() and self._signals.get() == STOP:
                os._exit(1)  # the next start's rule takes care of what was in flight

    def _noted(self, word: str) -> Any:
        return lambda _number, _frame: self._signals.put(word)
