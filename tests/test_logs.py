import io
import json
import logging
import sys
import threading
import warnings

import pytest

from sift.config import LogConfig
from sift.logs import Log, silence_libraries, where
from sift.target import BATCH, Caller, Lane

STANDARD, RESTRICTED = Caller("alice"), Caller("vault", restricted=True)


def log_of(level: str = "info", kind: str = "text") -> tuple[Log, io.StringIO]:
    stream = io.StringIO()
    return Log(LogConfig(level=level, format=kind), stream), stream


def target_line(caller: Caller, lane: Lane, kind: str = "json") -> dict[str, object]:
    log, stream = log_of(kind=kind)
    log.target(caller, lane, "upstream_4xx", status=404, elapsed_ms=12, nbytes=3, host="secret.example")
    found: dict[str, object] = json.loads(stream.getvalue())
    return found


def test_an_interactive_line_of_a_standard_caller_names_the_host() -> None:
    line = target_line(STANDARD, Lane())

    assert line["host"] == "secret.example"
    assert (line["caller"], line["outcome"], line["status"], line["ms"], line["bytes"]) == (
        "alice",
        "upstream_4xx",
        404,
        12,
        3,
    )


def test_a_batch_line_carries_job_and_idx_and_no_host_for_anybody() -> None:
    line = target_line(STANDARD, Lane(BATCH, job_id="j1", idx=4))

    assert (line["job"], line["idx"]) == ("j1", 4)
    assert "secret" not in json.dumps(line)


def test_a_restricted_callers_line_says_failed_and_no_more() -> None:
    line = target_line(RESTRICTED, Lane())

    assert (line["outcome"], line["status"], line["host"]) == ("failed", None, None)


def test_a_value_from_outside_cannot_break_a_line() -> None:
    log, stream = log_of()

    log.target(STANDARD, Lane(), "ok", status=200, elapsed_ms=1, nbytes=1, host="a\nfake line\x1b[31m\u202e\x85")

    text = stream.getvalue()
    assert text.count("\n") == 1
    assert text[:-1].isprintable()


def test_a_fault_is_type_and_place() -> None:
    def fail() -> None:
        raise ValueError("token=hunter2")

    with pytest.raises(ValueError, match="hunter2") as caught:
        fail()

    assert where(caught.value).startswith("ValueError at test_logs.py:")
    assert "hunter2" not in where(caught.value)


@pytest.fixture
def silenced() -> io.StringIO:
    log, stream = log_of(level="debug")
    undo = silence_libraries(log)
    yield stream  # type: ignore[misc]
    undo()


def test_libraries_say_nothing_but_where_they_failed(silenced: io.StringIO, capfd: pytest.CaptureFixture[str]) -> None:
    library = logging.getLogger("urllib3.connectionpool")
    library.setLevel(logging.DEBUG)

    library.debug("GET secret.example/path?token=1")
    library.warning("retrying secret.example")
    try:
        raise OSError("secret.example refused")
    except OSError:
        library.exception("secret.example failed")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("secret.example is odd", stacklevel=1)

    assert "OSError at test_logs.py" in silenced.getvalue()
    assert "secret" not in silenced.getvalue()
    assert capfd.readouterr() == ("", "")
    library.setLevel(logging.NOTSET)


def test_an_uncaught_exception_is_type_and_place(silenced: io.StringIO, capfd: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise RuntimeError("secret")

    thread = threading.Thread(target=fail, name="failing")
    thread.start()
    thread.join()
    try:
        fail()
    except RuntimeError as error:
        sys.excepthook(RuntimeError, error, error.__traceback__)

    assert silenced.getvalue().count("RuntimeError at test_logs.py") == 2
    assert "secret" not in silenced.getvalue()
    assert capfd.readouterr() == ("", "")


def test_a_stream_that_is_gone_costs_the_line_and_no_more() -> None:
    log, stream = log_of()
    stream.close()

    log.event("started")


def test_a_finalizers_exception_is_type_and_place(silenced: io.StringIO, capfd: pytest.CaptureFixture[str]) -> None:
    class Finalized:
        def __del__(self) -> None:
            raise RuntimeError("secret")

    Finalized()

    assert "RuntimeError at test_logs.py" in silenced.getvalue()
    assert "secret" not in silenced.getvalue()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("lane", [Lane(), Lane(BATCH, job_id="j1", idx=4)])
@pytest.mark.parametrize("caller", [STANDARD, RESTRICTED])
def test_a_target_has_the_same_keys_whoever_asks(caller: Caller, lane: Lane) -> None:
    keys = ["at", "level", "event", "caller", "lane", "job", "idx", "outcome", "status", "ms", "bytes", "host"]

    assert list(target_line(caller, lane)) == keys


def test_nothing_in_a_fault_leads_to_a_restricted_caller() -> None:
    log, stream = log_of(kind="json")

    log.fault("batch", ValueError("secret"), caller=RESTRICTED, job="j1", idx=1, request_id="r1")
    log.fault("batch", ValueError("secret"), caller=STANDARD, job="j1", idx=1)

    restricted, standard = map(json.loads, stream.getvalue().splitlines())
    assert (restricted["error"], restricted["job"], restricted["idx"], restricted["id"]) == ("ValueError", *[None] * 3)
    assert (standard["job"], standard["idx"]) == ("j1", 1)
    assert list(standard) == list(restricted)


@pytest.mark.parametrize(
    "said", ["ValueError at page.py:12", "MemoryError", "ImportError at <frozen importlib._bootstrap>:1140"]
)
def test_a_workers_fault_is_type_and_place(said: str) -> None:
    log, stream = log_of(kind="json")

    log.worker_fault(said)

    assert json.loads(stream.getvalue())["error"] == said


@pytest.mark.parametrize("said", ["https://secret.example/", "what the page says", "A at b:1\nA at b:1", ""])
def test_a_worker_that_a_page_took_over_has_nothing_to_say(said: str) -> None:
    log, stream = log_of(kind="json")

    log.worker_fault(said)

    assert json.loads(stream.getvalue())["error"] is None
