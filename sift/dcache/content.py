"""The content cache: complete answers of sites as they came, by partition and URL without fragment.

Whether a page is fresh, and whether it may be kept at all, is decided by who asks.
"""

from __future__ import annotations

import hashlib
import json
from urllib.parse import urldefrag

from sift.dcache.lru import Entry, LruTable
from sift.target import Caller, Page

KIND = "content"

# One fetch's cookies are nobody else's.
_NOT_KEPT = frozenset({"set-cookie", "set-cookie2"})


def partition(caller: Caller) -> str:
    """The part of the caches that a caller sees: all standard callers share one, a restricted one has his own."""
    return f"restricted {caller.name}" if caller.restricted else "standard"


def hashed(*parts: str) -> bytes:
    """The key under which something is kept: nothing of `parts` can be read from it."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()


class ContentCache:
    """Pages within the caches' budget. Never raises for storage that fails: then it misses, and forgets."""

    def __init__(self, table: LruTable) -> None:
        self._table = table

    def get(self, partition: str, url: str) -> Page | None:
        """The page kept for `url`, whatever its age; `None` where there is none."""
        entry = self._table.get(KIND, _key(partition, url))
        if entry is None:
            return None
        meta = json.loads(entry.meta)
        return Page(
            url=url,
            final_url=meta.get("final_url", _bare(url)),
            status=meta["status"],
            headers=meta["headers"],
            body=entry.body,
            fetched_at=entry.fetched_at,
            archive_url=meta.get("archive_url"),
            captured_at=meta.get("captured_at"),
        )

    def put(self, partition: str, url: str, page: Page) -> None:
        """Keep `page` as the answer for `url`, in place of what was kept before."""
        self._table.put(KIND, _key(partition, url), Entry(_meta(url, page), page.body, page.fetched_at))

    def touch(self, partition: str, url: str, page: Page, *, known: Page) -> None:
        """After `known` was revalidated: keep `page`'s headers and `fetched_at`; the body stays as it is.

        Nothing where another page than `known` is kept by now: its body is not what these headers are about.
        """
        self._table.touch(KIND, _key(partition, url), _meta(url, page), page.fetched_at, of=known.fetched_at)

    def delete(self, partition: str, url: str) -> None:
        """Keep nothing for `url` any more."""
        self._table.delete(KIND, _key(partition, url))

    def nbytes(self) -> int:
        """What the kept pages count towards the caches' budget."""
        return self._table.nbytes(KIND)


class BlobCache:
    """Small results by kind (`digest`, `embed`), partition and key, within the same budget; as forgiving."""

    def __init__(self, table: LruTable) -> None:
        self._table = table

    def get(self, kind: str, partition: str, key: str, *, newer_than: float = 0.0) -> bytes | None:
        """The bytes kept for `key`, `None` where there are none or they were put at or before `newer_than`."""
        entry = self._table.get(kind, hashed(partition, key))
        return entry.body if entry is not None and entry.fetched_at > newer_than else None

    def put(self, kind: str, partition: str, key: str, value: bytes, *, now: float) -> None:
        """Keep `value` for `key`, in place of what was kept before."""
        self._table.put(kind, hashed(partition, key), Entry(b"", value, now))

    def nbytes(self, kind: str) -> int:
        """What the kept bytes of `kind` count towards the caches' budget."""
        return self._table.nbytes(kind)


def _bare(url: str) -> str:
    return urldefrag(url).url if "#" in url else url


def _key(partition: str, url: str) -> bytes:
    return hashed(partition, _bare(url))


def _meta(url: str, page: Page) -> bytes:
    """All but the body. The final URL is written only where it is not the URL whose hash is the key."""
    meta: dict[str, object] = {
        "status": page.status,
        "headers": {name: value for name, value in page.headers.items() if name not in _NOT_KEPT},
    }
    if page.final_url != _bare(url):
        meta["final_url"] = page.final_url
    if page.archive_url is not None:
        meta |= {"archive_url": page.archive_url, "captured_at": page.captured_at}
    return json.dumps(meta).encode()
