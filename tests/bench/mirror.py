"""nginx sending bytes as a file: what one cannot send faster than."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.serving import Line, free_port

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
_CONFIG = """daemon off; master_process off; worker_processes 1; pid {where}/pid; error_log {where}/errors;
events {{ worker_connections 256; }}
http {{ access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000; default_type application/json;
client_body_temp_path {where}/a; proxy_temp_path {where}/b; fastcgi_temp_path {where}/c; uwsgi_temp_path {where}/d;
scgi_temp_path {where}/e; server {{ listen 127.0.0.1:{port}; root {where}/files; }} }}
"""


@contextlib.contextmanager
def mirror(body: bytes) -> Iterator[Line]:
    """A connection to an nginx that answers `GET /body`. Ask `NGINX` first whether there is one."""
    assert NGINX is not None
    with tempfile.TemporaryDirectory(prefix="sift-bench-") as name:
        where, port = Path(name), free_port()
        where.chmod(0o755)
        (where / "files").mkdir()
        (where / "files" / "body").write_bytes(body)
        (where / "nginx.conf").write_text(_CONFIG.format(where=where, port=port))
        with subprocess.Popen([NGINX, "-p", name, "-c", f"{name}/nginx.conf"], stderr=subprocess.DEVNULL) as process:
            try:
                yield _connected(port)
            finally:
                process.terminate()


def _connected(port: int) -> Line:
    ends = time.monotonic() + 10
    while True:
        try:
            return Line(port)
        except OSError:
            assert time.monotonic() < ends, "nginx did not start"
            time.sleep(0.02)  # between two looks at another process, which has no way to tell us
