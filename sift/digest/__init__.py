"""Text and a question to an answer: the passages that tell it, and, where one is configured, a model's words.

Never fetches a page, and never lets what a page says change what is done.
"""

from __future__ import annotations

from sift.digest.extract import Digest, Found, extract
from sift.digest.llm import SPARE, Cache, Model, Models, Post

__all__ = ["SPARE", "Cache", "Digest", "Found", "Model", "Models", "Post", "extract"]
