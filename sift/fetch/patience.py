"""How long a fetch may still wait: every wait on the wire goes through here, in slices.

What is waited for is not known here.
"""

from __future__ import annotations

from sift.clock import Deadline
from sift.errors import Cancelled, TimedOut

SLICE_S = 0.25
"""The longest that any wait goes on without looking at the deadline's `stopped`."""


def check(deadline: Deadline) -> None:
    """Raises `TimedOut` where the deadline has passed, `Cancelled` where the fetch was stopped."""
    if deadline.stopped():
        raise Cancelled("stopped while under way")
    if deadline.left() <= 0:
        raise TimedOut(f"no complete answer within {deadline.seconds:.3g} s")


def slice_s(deadline: Deadline) -> float:
    """How long the next wait may take, in seconds; checks first."""
    check(deadline)
    return min(SLICE_S, max(0.0, deadline.left()))
