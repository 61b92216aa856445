"""What the client raises for what the server says."""

from __future__ import annotations

import pytest

import sift.errors
from sift import client as client_module
from sift.client import (
    Answered,
    Blocked,
    CallerBusy,
    ClientError,
    Malformed,
    NotSift,
    RequestRefused,
    Sift,
    TargetFailed,
)
from sift.client.errors import answered
from sift.target import Outcome
from tests.support.answers import error
from tests.support.scripted import Said, Scripted


def test_every_reason_and_outcome_of_sift_has_an_error_of_its_own_name() -> None:
    for kind in sift.errors.RequestError.__subclasses__():
        assert type(answered(400, {"error": "no", "reason": kind.reason})).__name__ == kind.__name__
    for outcome in set(Outcome) - {Outcome.OK}:
        assert isinstance(answered(400, {"error": "no", "reason": outcome.value}), TargetFailed)


def test_every_error_can_be_had_from_the_package() -> None:
    kinds = {*RequestRefused.__subclasses__(), *TargetFailed.__subclasses__(), *ClientError.__subclasses__()}

    assert {kind.__name__ for kind in kinds} <= set(client_module.__all__)


def test_an_error_carries_all_that_the_server_said(server: Scripted, sift_client: Sift) -> None:
    body = error("caller_busy", "you already have a live job", job_id="j_9", retry_after_s=5)
    server.says(Said(429, body, {"Retry-After": "6"}))

    with pytest.raises(CallerBusy) as caught:
        sift_client.submit(["https://example.com/"])

    assert (caught.value.job_id, caught.value.retry_after_s, caught.value.status) == ("j_9", 5, 429)
    assert str(caught.value) == "you already have a live job"
    assert caught.value.body == body


def test_an_error_names_every_wrong_place(server: Scripted, sift_client: Sift) -> None:
    places = [{"at": "targets[0].mode", "error": "x"}, {"at": "targets[1].url", "error": "y"}]
    server.says(Said(400, error("malformed", errors=places)))

    with pytest.raises(Malformed) as caught:
        sift_client.submit(["https://example.com/"])

    assert caught.value.places == (("targets[0].mode", "x"), ("targets[1].url", "y"))


def test_a_failed_fetch_raises_its_outcome(server: Scripted, sift_client: Sift) -> None:
    server.says(Said(422, error("blocked", "blocked: private address 10.0.0.1", hint="browser")))

    with pytest.raises(Blocked, match=r"blocked: private address 10\.0\.0\.1") as caught:
        sift_client.fetch("http://10.0.0.1/")

    assert caught.value.hint == "browser"


def test_a_reason_of_a_later_version_is_a_plain_answered_error(server: Scripted, sift_client: Sift) -> None:
    server.says(Said(418, error("teapot", "short and stout"), {"Retry-After": "3"}))

    with pytest.raises(Answered, match="short and stout") as caught:
        sift_client.list()

    assert (type(caught.value), caught.value.reason, caught.value.retry_after_s) == (Answered, "teapot", 3.0)


@pytest.mark.parametrize(
    "said", [Said(502, b"<html>bad gateway"), Said(200, b"[]"), Said(200, b"\xff"), Said(301, {"a": 1}), Said(500, {})]
)
def test_an_answer_that_is_not_sifts_is_said_to_be_none(server: Scripted, sift_client: Sift, said: Said) -> None:
    server.says(said)

    with pytest.raises(NotSift, match="is the address right"):
        sift_client.list()
