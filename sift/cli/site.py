"""The demo's small site on loopback: a page, a JSON document, a PDF, and nothing at any other path.

Serves the demo alone; the service never imports it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>How lighthouses tell themselves apart | Harbour Notes</title>
<style>.menu { color: red }</style><script>document.title = "not this"</script></head>
<body>
<nav class="menu"><a href="/">Home</a> <a href="/about">About</a> <a href="/login">Log in</a></nav>
<main><article>
<h1>How lighthouses tell themselves apart</h1>
<p>A light that only shines says little: a sailor must know <em>which</em> light it is. So every lighthouse has a
character of its own, and the chart names it beside the tower. By day the paint does the same work: bands, spirals and
chequers are there to be told apart from the sea.</p>
<h2>Reading a character</h2>
<p>The chart gives rhythm, colour, period, height and range, in this order. <code>Fl(3) W 15s 40m 22M</code> is three
white flashes every fifteen seconds, from forty metres above the water, to be seen for twenty-two miles.</p>
<table><tr><th>Sign</th><th>Rhythm</th></tr>
<tr><td>F</td><td>steady</td></tr><tr><td>Fl</td><td>flashing: more dark than light</td></tr>
<tr><td>Oc</td><td>occulting: more light than dark</td></tr><tr><td>Iso</td><td>as much light as dark</td></tr></table>
<h2>Why the periods differ</h2>
<p>Two lights that can be seen from one place never share a character. Where a coast is crowded the keepers chose long
periods, which take patience to time with a watch; the <a href="/list">list of lights</a> says which.</p>
</article></main>
<footer>Subscribe to our newsletter! We use cookies. All rights reserved.</footer>
</body></html>
"""
RELEASES = """{"project": "lamp", "releases": [
 {"version": "2.1", "date": "2026-10-02", "notes": "a brighter bulb"},
 {"version": "2.0", "date": "2026-03-14", "notes": "a new lens"},
 {"version": "1.4", "date": "2025-11-30", "notes": "less rust"}]}
"""
PAPER = (
    ("On the Visibility of Small Lights", "Page one holds the summary, which the demo leaves out."),
    ("1 Method", "Observers on three boats timed twelve lights", "on forty nights between March and May."),
    ("2 Result", "A flash of a third of a second was named rightly", "by nine observers of ten at eight miles."),
)
GONE = "/gone"


class _Server(ThreadingHTTPServer):
    daemon_threads = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that the service ended early is no news."""


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        kind, body = self._pages().get(self.path, ("text/html", b"<h1>There is nothing here.</h1>"))
        self.send_response(200 if self.path in self._pages() else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _pages(self) -> dict[str, tuple[str, bytes]]:
        return {
            "/lighthouses": ("text/html; charset=utf-8", PAGE.encode()),
            "/releases.json": ("application/json", RELEASES.encode()),
            "/paper.pdf": ("application/pdf", pdf(PAPER)),
        }

    def log_message(self, *_: Any) -> None:
        """The demo shows results, not a log."""


@contextmanager
def site() -> Iterator[tuple[str, int]]:
    """The site, running: its URL without a slash, and its port. Its one thread, and those of requests, end with it."""
    server = _Server(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), name="sift-demo-site")
    thread.start()
    try:
        port = server.server_address[1]
        yield f"http://127.0.0.1:{port}", port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def pdf(pages: tuple[tuple[str, ...], ...]) -> bytes:
    """A PDF of a few lines of plain ASCII a page, the first of each larger."""
    count = len(pages)
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(count))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, lines in enumerate(pages):
        drawn = _drawn(lines)
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> "
            f"/Contents {5 + 2 * number} 0 R >>"
        )
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream")
    return _file(objects)


def _drawn(lines: tuple[str, ...]) -> str:
    """The content stream that shows the lines, from the top of the page down."""
    shown = [f"/F1 {20 if number == 0 else 12} Tf ({line}) Tj 0 -28 Td" for number, line in enumerate(lines)]
    return f"BT 72 740 Td {' '.join(shown)} ET"


def _file(objects: list[str]) -> bytes:
    """The objects as a file, with the table of where each of them begins."""
    data = b"%PDF-1.4\n"
    starts = []
    for number, body in enumerate(objects, 1):
        starts.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = "".join(f"{start:010d} 00000 n \n" for start in starts)
    end = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(data)}\n%%EOF\n"
    return data + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{end}".encode()
