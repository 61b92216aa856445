"""`sift demo`, whole, in a process of its own; and the PDF that it writes by hand."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pypdfium2

from sift.cli.site import PAPER, pdf

Environment = dict[str, str]


def test_the_demo_shows_five_outcomes_and_leaves_nothing_behind(
    environment: Environment, command: list[str], tmp_path: Path
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {**environment, "TMPDIR": str(temporary)}
    before = time.monotonic()

    ran = subprocess.run(
        [*command, "demo"], env=environment, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=60
    )

    assert (ran.returncode, ran.stderr) == (0, "")
    assert time.monotonic() - before < 10
    for words in (
        "0  ok            http://127.0.0.1:",
        "| Oc | occulting: more light than dark |",
        '{"version":"2.0","notes":"a new lens"}',
        "Observers on three boats timed twelve lights",
        "upstream_4xx: the site answered 404",
        "blocked: private address 10.0.0.1",
    ):
        assert words in ran.stdout
    assert "newsletter" not in ran.stdout
    assert "Page one holds the summary" not in ran.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["temporary"]
    assert list(temporary.iterdir()) == []


def test_an_interrupted_demo_leaves_nothing_behind_either(
    environment: Environment, command: list[str], tmp_path: Path
) -> None:
    environment = {**environment, "TMPDIR": str(tmp_path)}

    with subprocess.Popen(
        [*command, "demo"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=30)

    # Python that was hit in an `exec`, as a dataclass is made, ends by the signal though it was caught: 130 to a shell.
    assert process.returncode in (130, -signal.SIGINT)
    assert b"Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_the_pdf_is_one_and_says_what_it_should() -> None:
    document = pypdfium2.PdfDocument(pdf(PAPER))

    texts = [page.get_textpage().get_text_bounded().replace("\r\n", "\n") for page in document]

    assert texts == ["\n".join(lines) for lines in PAPER]
    document.close()
