"""Child processes for hostile work: each does one job at a time, under a deadline and a memory limit.

What a page means is not known here: a job is a function's name and bytes, its answer is bytes.
"""

from sift.workers.pool import Pool, end_fork_server

__all__ = ["Pool", "end_fork_server"]
