"""The canonical form: what makes two submits equal, and the way of options through the store."""

import hashlib

import pytest

from sift.batch.canonical import canonical, idem_key, options_text, target_of
from sift.target import Caller, Target

EVERYTHING = Target("http://a.test/", "full", "why?", None, "a+", None, True, True, 60.0)


def test_defaults_are_left_out_and_keys_are_sorted_and_compact():
    assert canonical([Target("http://a.test/#x")]) == b'[{"url":"http://a.test/#x"}]'
    assert canonical([Target("http://a.test/", mode="full", grep="ü", context=True, max_age_s=60.0)]) == (
        '[{"context":true,"grep":"ü","max_age":60,"mode":"full","url":"http://a.test/"}]'.encode()
    )


def test_saying_a_default_changes_nothing():
    said = Target("http://a.test/", mode="clean", context=False, recover=False)

    assert idem_key(Caller("ann"), [said]) == idem_key(Caller("ann"), [Target("http://a.test/")])


@pytest.mark.parametrize(
    "other",
    [
        [Target("http://a.test/", max_age_s=0)],
        [Target("http://a.test/", max_age_s=900.0)],
        [Target("http://A.test/")],
        [Target("http://a.test/"), Target("http://a.test/")],
        [Target("http://a.test/", question="")],
    ],
)
def test_whatever_differs_makes_another_key(other):
    assert idem_key(Caller("ann"), other) != idem_key(Caller("ann"), [Target("http://a.test/")])


def test_the_order_of_targets_and_the_caller_matter():
    a, b = Target("http://a.test/"), Target("http://b.test/")

    assert len({idem_key(Caller("ann"), [a, b]), idem_key(Caller("ann"), [b, a]), idem_key(Caller("bob"), [a, b])}) == 3


def test_the_key_is_the_digest_of_caller_and_canonical_targets():
    targets = [EVERYTHING]

    assert idem_key(Caller("ann"), targets) == hashlib.sha256(b"ann\0" + canonical(targets)).hexdigest()


@pytest.mark.parametrize("target", [EVERYTHING, Target("http://a"), Target("http://a", jq=".x", max_age_s=0.5)])
def test_a_target_comes_back_from_the_store_as_it_was(target):
    assert target_of(target.url, options_text(target)) == target


def test_the_options_do_not_hold_the_url():
    assert options_text(Target("http://a.test/", pages="1-3")) == '{"pages":"1-3"}'
