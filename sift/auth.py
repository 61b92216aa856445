"""Who asks: a bearer token becomes a `Caller`.

No request object is known here.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Iterable

from sift.config import CallerConfig
from sift.errors import Unauthorized
from sift.target import Caller

LOCAL = "local"
TOKEN_FILE = "token"  # noqa: S105 (a file's name)
MOST_HEADER_CHARS = 4096


class Callers:
    """The callers that are let in, by the SHA-256 of their tokens. Immutable; a reload makes another."""

    def __init__(self, callers: Iterable[CallerConfig]) -> None:
        self._by_digest = [
            (digest, Caller(caller.name, caller.caller_class == "restricted"))
            for caller in callers
            for digest in caller.token_sha256
        ]
        self.names = frozenset(caller.name for _, caller in self._by_digest)

    def authorize(self, header: str | None) -> Caller:
        """The caller that an `Authorization` header stands for; raises `Unauthorized`."""
        scheme, _, token = (header or "")[:MOST_HEADER_CHARS].partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise Unauthorized("no token; send Authorization: Bearer TOKEN")
        digest = digest_of(token.strip())
        found = None
        for known, caller in self._by_digest:  # all of them, so that the time tells nothing
            if hmac.compare_digest(known, digest):
                found = caller
        if found is None:
            raise Unauthorized("unknown token; the operator of this server gives them out")
        return found


def digest_of(token: str) -> str:
    """The SHA-256 of a token in lower-case hex, as the config holds it."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def local_caller(data_dir: str) -> CallerConfig:
    """The one caller of a server without any in its config. His token is made once and kept in `data_dir/token`."""
    path = os.path.join(data_dir, TOKEN_FILE)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        pass
    else:
        with os.fdopen(descriptor, "w") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(secrets.token_urlsafe(32) + "\n")
            file.flush()
            os.fsync(file.fileno())
    with open(path) as file:
        token = file.read(MOST_HEADER_CHARS).strip()
    if not token:
        os.unlink(path)  # a start that was killed between the two; it holds nothing
        return local_caller(data_dir)
    return CallerConfig(name=LOCAL, token_sha256=(digest_of(token),))
