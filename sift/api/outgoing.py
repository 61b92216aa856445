"""Large answers on their way out: sent from where they lie, without a copy for every write.

waitress copies what it is given into a buffer of its own, and what is left of that once more before every write to
the socket. A buffer that hands out views of the answer itself costs neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from waitress.buffers import ReadOnlyFileBasedBuffer

LARGE_BYTES = 64 << 10
"""Below this a copy costs less than a second write to the socket: head and answer go out apart."""


class Lying(ReadOnlyFileBasedBuffer):
    """An answer in memory as waitress's buffer of a file that is only read."""

    def __init__(self, answer: bytes) -> None:
        self._left = memoryview(answer)
        self.remain = len(answer)

    def prepare(self, size: int | None = None) -> int:
        """How many bytes there are to send."""
        return self.remain

    def get(self, numbytes: int = -1, skip: bool = False) -> memoryview:
        """The next bytes; all of them for -1."""
        found = self._left if numbytes < 0 else self._left[:numbytes]
        if skip:
            self.skip(len(found))
        return found

    def skip(self, numbytes: int, allow_prune: int = 0) -> None:
        """Takes note that so many were sent."""
        self._left = self._left[numbytes:]
        self.remain -= numbytes

    def close(self) -> None:
        """Lets go of the answer."""
        self._left = memoryview(b"")
        self.remain = 0


def uncopied(answer: Iterable[bytes]) -> Iterable[bytes]:
    """An app's answer as waitress should have it: taken out of its shell, which is closed, where it is large."""
    try:
        pieces = list(answer)
    finally:
        close: Callable[[], None] | None = getattr(answer, "close", None)
        if close is not None:
            close()
    if len(pieces) == 1 and len(pieces[0]) >= LARGE_BYTES:
        return Lying(pieces[0])
    return pieces
