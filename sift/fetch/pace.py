"""How often an archive may be asked: a bucket of turns, and a pause after it says that it was too often.

Nothing is asked here, and nobody waits.
"""

from __future__ import annotations

import threading
from math import inf

from sift.clock import Clock

# The index takes 24 look-ups a minute and blocks for an hour who goes on after its 429s: 4 at once and one every
# 3 s are at most 24 in any minute.
BURST, EVERY_S = 4, 3.0
LEAST_PAUSE_S, LONGEST_PAUSE_S = 60.0, 3600.0
"""How long the archive is left alone after a 429, at least and at most; in between, its Retry-After says."""


class Paused(Exception):
    """The archive wants to be left alone, and it is."""


class TooOften(Exception):
    """The next turn comes too late for who asks."""


class Pace:
    """Turns for any thread."""

    def __init__(self, clock: Clock, *, every_s: float = EVERY_S) -> None:
        self._clock = clock
        self._every_s = every_s
        self._lock = threading.Lock()  # guards the three below
        self._last_at = -inf  # when the turn taken last is due; a burst before now, where none was of late
        self._paused_until = -inf
        self._pause_s = LEAST_PAUSE_S

    def take(self, most_s: float) -> float:
        """Takes the next turn; how long until it is due, in seconds, less than `most_s`. Raises Paused, TooOften."""
        with self._lock:
            now = self._clock.monotonic()
            if now < self._paused_until:
                raise Paused
            due_at = max(self._last_at, now - BURST * self._every_s) + self._every_s
            if due_at - now >= most_s:
                raise TooOften
            self._last_at = due_at
            return max(0.0, due_at - now)

    def pause(self, asked_s: float | None) -> None:
        """No turn for as long as was asked, and twice as long each time that it happens again."""
        with self._lock:
            pause_s = min(max(self._pause_s, asked_s or 0.0), LONGEST_PAUSE_S)
            self._paused_until = self._clock.monotonic() + pause_s
            self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)

    def answered(self) -> None:
        """An answer came: the next pause starts small again."""
        with self._lock:
            self._pause_s = LEAST_PAUSE_S
