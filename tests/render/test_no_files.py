"""What runs in a worker opens no file once it takes jobs: whatever is loaded lazily must be there by then."""

from __future__ import annotations

import base64
import json
import subprocess
import sys

from tests.support import pdfs, writings

# Reads [[name, content type, body]], closes the door, renders all of them.
_SCRIPT = """
import base64, json, resource, sys
import jq, re2
from sift.digest.extract import extract
from sift.render import charset, pdf, query, sniff, text
cases = json.load(sys.stdin)
resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
shown = {}
for name, content_type, body in cases:
    body = base64.b64decode(body)
    kind = sniff.kind(content_type, body)
    if kind.name == sniff.PDF:
        shown[name] = pdf.render(body, None, context=True).text
    else:
        decoded = charset.decode(body, content_type, kind.name)
        shown[name] = text.render(decoded, kind.name, mode="clean")[0]
shown["jq"] = query.jq('now | todate | test("Z")', "1")
shown["grep"] = query.grep("b", "a\\nb")[0]
shown["digest"] = extract("One.\\n\\nThe zebra runs.", "zebra", max_chars=200).content
print(json.dumps(shown))
"""
_LABELS = (
    "big5",
    "euc-jp",
    "euc-kr",
    "gb2312",
    "gb18030",
    "ibm866",
    "iso-2022-jp",
    "iso-8859-2",
    "iso-8859-15",
    "koi8-r",
)
_LABELS += ("koi8-u", "macintosh", "shift_jis", "windows-874", "windows-1251", "windows-1258", "x-user-defined")


def test_every_charset_a_pdf_a_feed_and_all_queries_are_read_without_opening_a_file() -> None:
    cases = [(f"{n}", "text/plain", text.encode(encoding)) for n, (text, encoding) in enumerate(writings.UNLABELLED)]
    cases += [(label, f"text/plain; charset={label}", b"plain words") for label in _LABELS]
    cases += [("pdf", None, pdfs.pdf([pdfs.lines("hello")], about={"Title": "x"}))]
    date = "<pubDate>Sat, 28 Nov 2026 21:30:00 +0100</pubDate>"
    cases += [("feed", None, f"<?xml version='1.0'?><rss><channel><item><title>a &amp;amp; b</title>{date}".encode())]
    told = json.dumps([(name, kind, base64.b64encode(body).decode()) for name, kind, body in cases])
    run = subprocess.run([sys.executable, "-c", _SCRIPT], input=told, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    shown = json.loads(run.stdout)
    assert [shown[f"{n}"] for n in range(len(writings.UNLABELLED))] == [text for text, _ in writings.UNLABELLED]
    assert {shown[label] for label in _LABELS} == {"plain words"}
    assert shown["pdf"] == "## Page 1\n\nhello\n"
    assert shown["feed"] == "- a & b – 2026-11-28T20:30:00Z\n"
    assert (shown["jq"], shown["grep"], shown["digest"]) == ("true", "2:b", "One.\n\nThe zebra runs.")
