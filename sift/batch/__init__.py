"""Many targets: jobs are submitted, drained one target at a time, and kept until they are collected.

No SQL, no HTTP.
"""

from sift.batch.bell import MOST_LONG_POLLS
from sift.batch.body import View
from sift.batch.drain import FetchTarget, Pauses
from sift.batch.reader import Answer, Reader
from sift.batch.runner import Runner, Submitted

__all__ = ["MOST_LONG_POLLS", "Answer", "FetchTarget", "Pauses", "Reader", "Runner", "Submitted", "View"]
