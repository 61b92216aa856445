"""The benchmarks can be asked what the README says they answer; what they find is for hand and eye."""

import importlib
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.bench.__main__ import BESIDE, QUESTIONS
from tests.bench.hosts import CONFIG, HAPROXY
from tests.bench.pages import page, text
from tests.bench.rounds import p99, pair_of


@pytest.mark.parametrize(("number", "name"), list(enumerate(QUESTIONS, 1)))
def test_every_question_has_a_script_that_says_its_number(number: int, name: str) -> None:
    script = importlib.import_module(f"tests.bench.{name}")

    assert script.__doc__.startswith(f"{number}. ")
    assert callable(script.main)


@pytest.mark.parametrize("name", BESIDE)
def test_what_stands_beside_them_can_be_run_too(name: str) -> None:
    assert callable(importlib.import_module(f"tests.bench.{name}").main)


def test_the_ratio_is_the_median_of_the_rounds() -> None:
    pair = pair_of([(1.0, 2.0), (3.0, 3.0), (8.0, 2.0)])

    assert (pair.ratio, pair.spread) == (1.0, (0.5, 4.0))


def test_one_slow_answer_of_a_hundred_is_not_the_p99_and_two_are() -> None:
    assert p99([1.0] * 99 + [9.0]) == 1.0
    assert p99([1.0] * 98 + [9.0] * 2) == 9.0


@pytest.mark.parametrize("nbytes", [10_000, 2_000_000])
def test_made_pages_have_about_the_size_that_was_asked_for(nbytes: int) -> None:
    assert 0.8 * nbytes < len(page(nbytes)) < 1.2 * nbytes
    assert len(text(nbytes)) == nbytes


def test_the_proxys_config_is_one_that_haproxy_takes(tmp_path: Path) -> None:
    if HAPROXY is None:
        pytest.skip("haproxy is not installed")
    shutil.copy(CONFIG, tmp_path / "haproxy.cfg")

    checked = subprocess.run([HAPROXY, "-c", "-f", str(tmp_path / "haproxy.cfg")], capture_output=True, text=True)

    assert checked.returncode == 0, checked.stderr
    assert "WARNING" not in checked.stderr
