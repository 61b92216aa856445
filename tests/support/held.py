"""A page that answers when the test lets it."""

from __future__ import annotations

from threading import Event

from tests.support.site import Answer, html

LONGEST_S = 20


class Held:
    """A page of a `Site` that does not answer before it is let go; `asked` is set when the first request is there."""

    def __init__(self) -> None:
        self.asked = Event()
        self._gone = Event()

    def let_go(self) -> None:
        """Lets every request for it have its answer, now and from now on."""
        self._gone.set()

    def __call__(self, _headers: object) -> Answer:
        self.asked.set()
        self._gone.wait(LONGEST_S)
        return html("Held", "It came in the end. " * 20)
