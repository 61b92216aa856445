"""How long a busy answer is waited for; time is turned by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sift.cli.patience import patiently
from sift.client import Busy, CallerBusy


class _Time:
    """A clock that moves only when it is slept on."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 3))
        self.now += seconds


def _busy(times: int, retry_after_s: float | None) -> Callable[[], str]:
    left = [Busy(429, {"error": "busy: no slot"}, retry_after_s) for _ in range(times)]

    def call() -> str:
        if left:
            raise left.pop()
        return "came"

    return call


def _patiently(call: Callable[[], str], timeout_s: float, time: _Time) -> str:
    return patiently(call, timeout_s, sleep=time.sleep, monotonic=lambda: time.now)


def test_it_is_tried_again_when_the_server_said_so() -> None:
    time = _Time()

    assert _patiently(_busy(3, 2), 60, time) == "came"
    assert time.slept == [2, 2, 2]


def test_the_last_try_is_at_the_very_end() -> None:
    time = _Time()

    with pytest.raises(Busy):
        _patiently(_busy(99, 25), 60, time)

    assert time.slept == [25, 25, 10]


def test_no_time_at_all_is_one_try() -> None:
    time = _Time()

    with pytest.raises(Busy):
        _patiently(_busy(1, 2), 0, time)

    assert time.slept == []


@pytest.mark.parametrize(("retry_after_s", "pause_s"), [(None, 1.0), (0, 0.1)])
def test_a_server_that_names_no_time_is_not_stormed(retry_after_s: float | None, pause_s: float) -> None:
    time = _Time()

    _patiently(_busy(1, retry_after_s), 60, time)

    assert time.slept == [pause_s]


def test_a_caller_who_is_busy_himself_is_told_at_once() -> None:
    time = _Time()

    def call() -> str:
        raise CallerBusy(429, {"error": "you already have a live job"}, 5)

    with pytest.raises(CallerBusy):
        _patiently(call, 60, time)
    assert time.slept == []
