"""Properties beyond the list: no spelling of a refused address is dialled, every public one is."""

import socket
from ipaddress import IPv4Address, IPv4Network, IPv6Address
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sift.config import GuardConfig
from sift.errors import Blocked
from sift.fetch.redirect import resolve_reference
from sift.guard import CheckedUrl, Guard

GUARD = GuardConfig()
REFUSED = [
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
    "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/3",
]  # fmt: skip
OTHER_REFUSED = ["168.63.129.16/32", "192.0.2.0/24", "192.88.99.0/24", "198.51.100.0/24", "203.0.113.0/24"]
ALL_REFUSED = [IPv4Network(network) for network in REFUSED + OTHER_REFUSED]
FULLWIDTH = str.maketrans("0123456789.abcdefx", "０１２３４５６７８９．ａｂｃｄｅｆｘ")


def within(network: str) -> st.SearchStrategy[IPv4Address]:
    return st.integers(int(IPv4Network(network)[0]), int(IPv4Network(network)[-1])).map(IPv4Address)


refused = st.one_of([within(network) for network in REFUSED])
public = st.integers(0, 2**32 - 1).map(IPv4Address).filter(lambda a: not any(a in net for net in ALL_REFUSED))


@st.composite
def spellings(draw: st.DrawFn, addresses: st.SearchStrategy[IPv4Address]) -> str:
    """A host that `inet_aton`, a browser or a careless parser takes for the address."""
    number = int(draw(addresses))
    count = draw(st.integers(1, 4))
    parts = [number >> 8 * (3 - i) & 0xFF for i in range(count - 1)] + [number & (1 << 8 * (5 - count)) - 1]
    text = ".".join(draw(st.sampled_from([str, hex, lambda n: f"0{n:o}", lambda n: f"0x0{n:X}"]))(n) for n in parts)
    text = draw(st.sampled_from([str, str.upper, lambda t: t.translate(FULLWIDTH)]))(text)
    text = text.replace(".", draw(st.sampled_from([".", "。", "．", "%2e"])))
    return text + draw(st.sampled_from(["", "."]))


@st.composite
def forms(draw: st.DrawFn, addresses: st.SearchStrategy[IPv4Address]) -> str:
    """An IPv6 literal that holds the address."""
    number = int(draw(addresses))
    prefix = draw(st.sampled_from(["::ffff:0:0", "::", "::ffff:0:0:0", "64:ff9b::", "2a00::5efe:0:0", "2001::"]))
    value = IPv6Address(int(IPv6Address(prefix)) | number)
    return f"[{draw(st.sampled_from([str(value), value.exploded, str(value).upper()]))}]"


def dialled(url: str, resolved: str | None = None) -> list[str]:
    """The addresses that would be dialled; the checks in the order of the connect path."""
    guard = Guard(GUARD)
    checked: CheckedUrl = guard.check_url(url)
    guard.check_host(checked)
    addresses = [checked.literal] if checked.literal else [resolved or "93.184.216.34"]
    return [guard.check_address(address, checked.port, checked.host) for address in addresses]


@settings(max_examples=400, deadline=None)
@given(spellings(refused), st.sampled_from(["http://{}/", "https://{}:443/x", "HTTP://{}?q", "http://{}#f"]))
def test_no_spelling_of_a_refused_address_is_dialled(host: str, template: str) -> None:
    with pytest.raises(Blocked):
        dialled(template.format(host))


@settings(max_examples=200, deadline=None)
@given(forms(refused))
def test_no_ipv6_form_of_a_refused_address_is_dialled(host: str) -> None:
    with pytest.raises(Blocked):
        dialled(f"http://{host}/")


@settings(max_examples=200, deadline=None)
@given(refused, st.booleans())
def test_no_name_of_a_refused_address_is_dialled(address: IPv4Address, mapped: bool) -> None:
    with pytest.raises(Blocked):
        dialled("http://site.example.org/", f"::ffff:{address}" if mapped else str(address))


@settings(max_examples=400, deadline=None)
@given(
    st.one_of(spellings(refused), forms(refused)),
    st.sampled_from(
        [
            "http://{}/",
            "//{}/",
            "///{}/",
            "http:///{}",
            "http:/{}/",
            "http:{}",
            "/\\{}/",
            "\\\\{}\\",
            "//a@{}/",
            "{}:80/",
        ]
    ),
)
def test_no_redirect_to_a_spelling_of_a_refused_address_leads_there(host: str, template: str) -> None:
    base = Guard(GUARD).check_url("http://site.example.org/dir/page")
    try:
        checked = Guard(GUARD).check_url(resolve_reference(base, template.format(host)))
    except Blocked:
        return
    if checked.host != "site.example.org":
        with pytest.raises(Blocked):
            Guard(GUARD).check_host(checked)


@settings(max_examples=400, deadline=None)
@given(public)
def test_every_public_address_passes_as_literal_and_as_answer(address: IPv4Address) -> None:
    assert dialled(f"http://{address}/") == [str(address)]
    assert dialled("https://site.example.org/", str(address)) == [str(address)]
    assert dialled("https://site.example.org/", f"::ffff:{address}") == [str(address)]


@settings(max_examples=400, deadline=None)
@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=60))
def test_any_text_is_judged_without_another_error(text: str) -> None:
    for url in (text, f"http://{text}", f"http://{text}/", f"http://example.com/{text}", f"http://example.com:{text}/"):
        try:
            checked = Guard(GUARD).check_url(url)
        except Blocked:
            continue
        assert checked.port in (80, 443)
        assert checked.url.isascii()
        assert not any(c.isspace() for c in checked.url)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="0123456789abcdefx.:[]%", min_size=1, max_size=24))
def test_a_host_that_passes_is_a_literal_as_the_system_reads_it_or_no_number_at_all(host: str) -> None:
    """What `getaddrinfo` would take for an address without DNS must be known to be one."""
    try:
        checked = Guard(GUARD).check_url(f"http://{host}/")
    except Blocked:
        return
    try:
        socket.inet_aton(checked.host)
    except OSError:
        return
    assert checked.literal == checked.host


@given(
    st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="#\\.") | st.just("é"), max_size=30)
)
def test_a_target_is_sent_encoded_whether_it_needs_it_or_not(rest: str) -> None:
    path, question, query = f"/{rest}".partition("?")
    path = path.replace("%2e", "2e").replace("%2E", "2E")  # dot segments are resolved, which is not asked here

    sent = Guard(GUARD).check_url(f"http://a.example{path}{question}{query}").target

    assert sent == quote(path, safe="!$%&'()*+,-./:;=@[]_|~") + question + quote(
        query, safe="!$%&()*+,-./:;=?@[]^_`{|}~"
    )
