"""The time that leases are told in: the wall clock, with the leases moved along where it jumps.

Nothing is collected here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from sift.clock import Clock
from sift.errors import StorageFailed

JUMP_S = 60.0
"""How far the wall clock may drift from the monotonic one at once before it counts as a jump."""


class LeaseClock:
    """Any thread asks; whoever asks first after a jump moves the leases before he gets his answer."""

    def __init__(self, clock: Clock, shift_leases: Callable[[float], None]) -> None:
        self._clock = clock
        self._shift_leases = shift_leases
        self._lock = threading.Lock()  # guards _offset, and that a jump is followed once
        self._offset = clock.now() - clock.monotonic()

    def now(self) -> float:
        """Epoch seconds that stored leases can be compared with.

        While a jump cannot be written down, time goes on as if the clock had not jumped.
        """
        with self._lock:
            steady = self._clock.monotonic()
            jump = self._clock.now() - steady - self._offset
            if abs(jump) > JUMP_S:
                try:
                    self._shift_leases(jump)
                except StorageFailed:
                    return steady + self._offset
            self._offset += jump
            return steady + self._offset
