"""The caches: what is kept for whom, what makes room, and that a failing store is only a miss."""

import random
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from sift.dcache import Store, partition
from sift.target import Caller, Page

URL = "http://site.test/page?q=1"
PAGE = Page(URL, URL, 200, {"content-type": "text/html", "etag": '"1"'}, b"<p>body</p>", 1000.0)


def raw(store):
    with closing(sqlite3.connect(store._path)) as outside:
        return outside.execute("SELECT key, meta FROM cache_entry").fetchall()


def test_a_page_comes_back_as_it_was_put_whatever_its_age(store):
    store.content.put("standard", URL, PAGE)

    assert store.content.get("standard", URL) == PAGE


def test_nothing_is_nothing(store):
    assert store.content.get("standard", URL) is None


def test_the_fragment_does_not_matter_and_the_url_asked_for_comes_back(store):
    store.content.put("standard", URL + "#part", replace(PAGE, url=URL + "#part"))

    assert store.content.get("standard", URL).url == URL
    assert store.content.get("standard", URL + "#else") == replace(PAGE, url=URL + "#else")


def test_a_redirected_or_archived_page_keeps_where_it_came_from(store):
    page = replace(
        PAGE, final_url="http://other.test/", archive_url="http://a.test/x", captured_at="2020-01-01T00:00:00Z"
    )
    store.content.put("standard", URL, page)

    assert store.content.get("standard", URL) == page


def test_a_second_put_replaces_the_first(store):
    store.content.put("standard", URL, PAGE)
    store.content.put("standard", URL, replace(PAGE, body=b"new"))

    assert store.content.get("standard", URL).body == b"new"
    assert len(raw(store)) == 1


def test_cookies_are_not_kept(store):
    store.content.put("standard", URL, replace(PAGE, headers={"set-cookie": "id=1", "etag": '"1"'}))

    assert store.content.get("standard", URL).headers == {"etag": '"1"'}


def test_a_touched_page_has_new_headers_and_time_and_the_old_body(store):
    store.content.put("standard", URL, PAGE)
    store.content.touch(
        "standard", URL, replace(PAGE, headers={"etag": '"2"'}, fetched_at=2000.0, body=b""), known=PAGE
    )

    page = store.content.get("standard", URL)

    assert (page.headers, page.fetched_at, page.body) == ({"etag": '"2"'}, 2000.0, PAGE.body)


def test_touching_what_is_gone_brings_nothing_back(store):
    store.content.touch("standard", URL, PAGE, known=PAGE)

    assert store.content.get("standard", URL) is None


def test_headers_of_a_page_that_was_replaced_meanwhile_do_not_go_to_the_new_one(store):
    other = replace(PAGE, body=b"<p>another</p>", headers={"etag": '"2"'}, fetched_at=1500.0)
    store.content.put("standard", URL, other)

    store.content.touch("standard", URL, replace(PAGE, fetched_at=2000.0), known=PAGE)

    assert store.content.get("standard", URL) == other


def test_a_deleted_page_is_gone(store):
    store.content.put("standard", URL, PAGE)
    store.content.delete("standard", URL)

    assert store.content.get("standard", URL) is None
    assert store.content.nbytes() == 0


def test_standard_callers_share_a_partition_and_a_restricted_one_has_his_own():
    names = [
        partition(Caller("ann")),
        partition(Caller("bob")),
        partition(Caller("ann", restricted=True)),
        partition(Caller("bob", restricted=True)),
        partition(Caller("standard", restricted=True)),
    ]

    assert names[0] == names[1]
    assert len(set(names)) == 4


def test_a_partition_does_not_see_anothers_pages(store):
    store.content.put("restricted ann", URL, PAGE)

    assert store.content.get("standard", URL) is None
    assert store.content.get("restricted bob", URL) is None


def test_keys_are_hashes_and_a_plain_url_is_not_stored_beside_them(store):
    store.content.put("restricted ann", URL, PAGE)

    ((key, meta),) = raw(store)

    assert len(key) == 32
    assert b"site.test" not in meta
    assert b"ann" not in meta


def on_disk(store: Store) -> int:
    """Bytes of all bodies as they lie in the file."""
    with store._database.alone() as connection:
        return int(connection.execute("SELECT coalesce(sum(length(body)), 0) FROM cache_body").fetchone()[0])


@pytest.mark.parametrize("body", [b"", b"x", b"<p>words</p>" * 20_000, random.Random(7).randbytes(20_000)])
def test_a_body_comes_back_as_it_was_however_it_is_stored(store, body):
    store.content.put("standard", URL, replace(PAGE, body=body))
    store.content.touch("standard", URL, replace(PAGE, fetched_at=2000.0), known=PAGE)

    assert store.content.get("standard", URL) == replace(PAGE, body=body, fetched_at=2000.0)
    assert on_disk(store) <= len(body)


@pytest.mark.parametrize("seed", range(20))
def test_a_packed_body_that_was_damaged_is_a_miss_and_goes(store, seed):
    store.content.put("standard", URL, replace(PAGE, body=b"".join(b"<p>%d words</p>" % n for n in range(2_000))))
    with store._database.alone() as connection:
        (body,) = connection.execute("SELECT body FROM cache_body").fetchone()
        at = random.Random(seed).randrange(len(body))
        flipped = body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :]
        connection.execute("UPDATE cache_body SET body = ?", (flipped,))

    assert store.content.get("standard", URL) is None
    assert store.content.nbytes() == 0


def test_a_page_takes_less_room_in_the_file_than_it_counts(store):
    store.content.put("standard", URL, replace(PAGE, body=b"<p>words</p>" * 20_000))

    assert on_disk(store) < 24_000
    assert store.content.nbytes() > 240_000


def test_what_was_used_longest_ago_makes_room(store):
    page = replace(PAGE, body=b"x" * 300_000)
    for name in "abc":
        store.content.put("standard", f"http://{name}.test/", page)
    store.content.get("standard", "http://a.test/")

    store.content.put("standard", "http://d.test/", page)

    kept = [name for name in "abcd" if store.content.get("standard", f"http://{name}.test/")]
    assert kept == ["a", "c", "d"]
    assert store.content.nbytes() <= 1 << 20


def test_all_kinds_share_one_budget(store):
    store.content.put("standard", URL, replace(PAGE, body=b"x" * 900_000))
    store.digest.put("digest", "standard", "key", b"x" * 100_000, now=1.0)
    store.digest.put("embed", "standard", "key", b"x" * 100_000, now=1.0)

    assert store.content.get("standard", URL) is None
    sizes = [store.content.nbytes(), *map(store.digest.nbytes, ("digest", "embed"))]
    assert sizes == [0, 100_512, 100_512]


def test_what_is_larger_than_the_budget_is_not_kept_and_takes_nothing_elses_place(store):
    store.content.put("standard", "http://small.test/", PAGE)
    store.content.put("standard", URL, PAGE)
    store.content.put("standard", URL, replace(PAGE, body=b"x" * (1 << 20)))

    assert store.content.get("standard", URL) is None
    assert store.content.get("standard", "http://small.test/")


def test_use_and_sizes_outlive_the_process(store):
    page = replace(PAGE, body=b"x" * 300_000)
    for name in "abc":
        store.content.put("standard", f"http://{name}.test/", page)
    store.content.get("standard", "http://a.test/")
    nbytes = store.content.nbytes()
    store.close()

    again = Store.open(store._path, cache_bytes=1 << 20)
    assert again.content.nbytes() == nbytes
    again.content.put("standard", "http://d.test/", page)
    assert again.content.get("standard", "http://a.test/")
    assert again.content.get("standard", "http://b.test/") is None
    again.close()


def test_blobs_are_told_apart_by_kind_and_partition_and_have_an_age(store):
    store.digest.put("digest", "standard", "key", b"value", now=1000.0)

    assert store.digest.get("digest", "standard", "key") == b"value"
    assert store.digest.get("embed", "standard", "key") is None
    assert store.digest.get("digest", "restricted ann", "key") is None
    assert store.digest.get("digest", "standard", "key", newer_than=1000.0) is None


@pytest.mark.parametrize("name", ["page_count", "query_only"])
def test_a_store_that_cannot_be_written_makes_a_cache_that_forgets(store, name):
    store.content.put("standard", URL, PAGE)
    with store._database.alone() as connection:
        connection.execute("PRAGMA query_only = 1" if name == "query_only" else "PRAGMA max_page_count = 1")

    for number in range(50):
        store.content.put("standard", f"http://site.test/{number}", replace(PAGE, body=b"x" * 20_000))
    store.content.touch("standard", URL, PAGE, known=PAGE)
    store.tidy()

    assert store.content.get("standard", URL) == PAGE
