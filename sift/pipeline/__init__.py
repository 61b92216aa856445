"""One target, start to finish: `fetch_target` takes its steps in the order of the contract, for every door alike.

There is no second way to do a step.
"""

from sift.pipeline.pipeline import Pipeline

__all__ = ["Pipeline"]
