"""Text and a question to an answer: the passages that tell it, and, where one is configured, a model's words.

Never fetches a page, and never lets what a page says change what is done.
"""

from __future__ import annotations

from sift.digest.extract import Digest, Found, extract

__all__ = ["Digest", "Found", "extract"]
