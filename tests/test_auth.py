import stat
from pathlib import Path

import pytest

from sift.auth import Callers, digest_of, local_caller
from sift.config import CallerConfig
from sift.errors import Unauthorized
from sift.target import Caller


def callers() -> Callers:
    return Callers(
        [
            CallerConfig("alice", (digest_of("old"), digest_of("new"))),
            CallerConfig("vault", (digest_of("v"),), "restricted"),
        ]
    )


@pytest.mark.parametrize("token", ["old", "new"])
def test_a_token_can_be_changed_without_a_gap(token: str) -> None:
    assert callers().authorize(f"Bearer {token}") == Caller("alice")


def test_a_restricted_caller_is_known_as_such() -> None:
    assert callers().authorize("bearer  v ").restricted


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer ", "Basic old", "old", "Bearer wrong", "Bearer \udc80"])
def test_anybody_else_is_not_let_in(header: str | None) -> None:
    with pytest.raises(Unauthorized):
        callers().authorize(header)


def test_the_local_token_is_made_once_and_kept_to_its_owner(tmp_path: Path) -> None:
    first = local_caller(str(tmp_path))
    second = local_caller(str(tmp_path))

    token = (tmp_path / "token").read_text().strip()
    assert first == second
    assert Callers([first]).authorize(f"Bearer {token}") == Caller("local")
    assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600


def test_an_empty_token_file_of_a_killed_start_lets_nobody_in(tmp_path: Path) -> None:
    (tmp_path / "token").touch(mode=0o600)

    caller = local_caller(str(tmp_path))

    assert caller.token_sha256 != (digest_of(""),)
