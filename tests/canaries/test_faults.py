"""A fault at every step: whatever breaks, and whatever its text holds, nobody is told more than its place.

And it costs the one who asked: the next one is served.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import sift.api.body
import sift.pipeline.envelope
import sift.pipeline.messages
from sift.logs import silence_libraries
from tests.support.canaries import without_host
from tests.support.service import Service, config_of
from tests.support.world import CONFIG, World

SECRET = "c4n4ry"
Boom = Callable[..., Any]
FAULTS: dict[str, Callable[[], BaseException]] = {
    "RuntimeError": lambda: RuntimeError(f"no {SECRET}"),
    "OSError": lambda: OSError(5, f"no {SECRET}", f"/{SECRET}"),
    "UnicodeDecodeError": lambda: UnicodeDecodeError("utf-8", SECRET.encode(), 0, 1, SECRET),
    "KeyError": lambda: KeyError(SECRET),
    "MemoryError": lambda: MemoryError(SECRET),
    "RecursionError": lambda: RecursionError(SECRET),
}
# Where in a built server a step is taken: the object by its path from the parts, and the method.
STEPS = (
    "gate take",
    "pipeline._source page",
    "pipeline._source._fetcher get",
    "store.content get",
    "store.content put",
    "pool call",
    "pipeline _steps",
    "pipeline _work",
    "services.metrics fetch",
    "services.guard check_url",
    "services.callers authorize",
    "store.batch admit",
    "store.batch snapshot",
    "store.batch list_jobs",
    "store.batch cancel",
    "runner.reader read",
    "runner submit",
)
MODULES = ((sift.pipeline.envelope, "build"), (sift.api.body, "read_fetch"), (sift.api.body, "read_submit"))


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    found = World()
    yield found
    found.close()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, world: World) -> Iterator[Service]:
    tables = {"workers": {"count": 1}, "batch": {"jobs_per_caller": 50, "jobs_total": 60}}
    directory = tmp_path_factory.mktemp("faults")
    found = Service(config_of(directory, CONFIG | tables), resolve=world.resolve, dial=world.dial)
    undo = silence_libraries(found.server.parts.log)
    yield found
    undo()
    found.close(0.2)


@pytest.fixture(autouse=True)
def no_thread_is_left() -> None:
    """In place of the suite's: the service of this module lives on between its tests."""


def failing(fault: str) -> Boom:
    def boom(*_: Any, **__: Any) -> Any:
        try:
            raise ValueError(f"the cause: {SECRET}")
        except ValueError as cause:
            raise FAULTS[fault]() from cause

    return boom


def ask_everything(service: Service, world: World, name: str) -> list[bytes]:
    """What alice and vault ask for in both lanes, with the secret in it; bob's answers."""
    for caller in ("alice", "vault"):
        target = {"url": world.url("ok", f"{SECRET}-{name}"), "question": SECRET, "max_age": 0}
        service.ask("POST", "/v1/fetch", target, caller=caller)
        service.ask("POST", "/v2/scrape", {"url": target["url"], "timeout": 2000}, caller=caller)
        job = service.ask("POST", "/v1/batch", {"targets": [target]}, caller=caller).json
        service.ask("GET", f"/v1/batch/{job.get('job_id')}?wait=2", caller=caller)
        service.ask("GET", "/v1/batch", caller=caller)
        service.ask("DELETE", f"/v1/batch/{job.get('job_id')}", caller=caller)
    paths = ("/v1/batch", f"/v1/batch/{job.get('job_id')}", "/healthz", "/metrics")
    return [service.ask("GET", path, caller="bob").body for path in paths]


def check(service: Service, answers: list[bytes], capfd: pytest.CaptureFixture[str]) -> None:
    said = without_host(service.log.getvalue())
    assert SECRET not in said
    assert "Traceback" not in said
    assert all(SECRET.encode() not in answer for answer in answers)
    assert capfd.readouterr() == ("", "")


def name_of(path: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in path.lower()).replace("--", "-")


@pytest.mark.parametrize("step", STEPS)
def test_a_fault_at_a_step_is_its_place_and_no_more(
    step: str, service: Service, world: World, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    path, method = step.split()
    owner: Any = service.server.parts
    for part in path.split("."):
        owner = getattr(owner, part)
    fault = list(FAULTS)[STEPS.index(step) % len(FAULTS)]

    with monkeypatch.context() as patch:
        patch.setattr(type(owner), method, failing(fault))
        answers = ask_everything(service, world, name_of(step))

    check(service, answers, capfd)
    assert service.fetch(world.url("ok", "after")).status == 200
    assert service.ask("GET", "/healthz", caller=None).status == 200


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(("module", "function"), MODULES, ids=[function for _, function in MODULES])
def test_a_fault_in_a_function_is_its_place_and_no_more(
    module: Any,
    function: str,
    fault: str,
    service: Service,
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(module, function, failing(fault))
        answers = ask_everything(service, world, name_of(f"{function}-{fault}"))

    check(service, answers, capfd)
    assert f'error="{fault} at test_faults.py:' in service.log.getvalue()


def test_a_fault_in_a_worker_is_its_place_and_no_more(
    service: Service, world: World, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sift.pipeline.messages, "PAGE", f"sift.pipeline.work:{SECRET}")
        answers = ask_everything(service, world, "worker")

    check(service, answers, capfd)
    assert 'worker_fault error="AttributeError at child.py:' in service.log.getvalue()


def test_a_fault_after_the_route_is_internal_and_tells_nothing(
    service: Service, world: World, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(type(service.server.parts.services.metrics), "request", failing("RuntimeError"))
        answer = service.ask("GET", f"/v1/batch/{SECRET}?{SECRET}")

    assert (answer.status, answer.json["reason"]) == (500, "internal")
    assert SECRET.encode() not in answer.body
    check(service, [], capfd)
