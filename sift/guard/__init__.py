"""May we? A pure yes or no about a URL and about an address, by Sift's own tables.

No socket, no DNS: who asks brings the addresses along.
"""

from sift.guard.judge import Guard
from sift.guard.url import CheckedUrl

__all__ = ["CheckedUrl", "Guard"]
