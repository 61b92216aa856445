"""The host of a URL: a canonical IP literal, or a name by the rules of IDNA and DNS, made canonical once.

No port, no verdict about where it may lead.
"""

from __future__ import annotations

import re
import unicodedata
from ipaddress import IPv6Address

import idna

MOST_LABEL, MOST_NAME = 63, 253
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?", re.ASCII)
# WHATWG URL, "ends in a number": such a host is an IPv4 address or nothing, whatever DNS might make of it.
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)
_QUAD = re.compile(r"(?:0|[1-9][0-9]{0,2})(?:\.(?:0|[1-9][0-9]{0,2})){3}", re.ASCII)
# What nearly every host is: nothing is to be mapped, encoded or taken for a number.
_PLAIN = re.compile(r"(?!.*xn--)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z](?:[a-z-]{0,61}[a-z])?", re.ASCII)
_BRACKETED = re.compile(r"\[([0-9a-fA-F:.]+)\]", re.ASCII)
_NOT_A_NAME = "a host that is not a name by the rules of DNS"


class BadHost(ValueError):
    """The text says what is wrong, to stand after `blocked: `; it never repeats the host."""


def read_host(text: str) -> tuple[str, str | None]:
    """`(host, literal)`: the host as it goes on the wire (lower case, ASCII, no trailing dot, no brackets).

    `literal` is the address as text where the host is one, else `None`. Raises BadHost.
    """
    if _PLAIN.fullmatch(text) and len(text) <= MOST_NAME:
        return text, None
    if not text:
        raise BadHost("no host")
    if text.startswith("["):
        address = _ipv6(text)
        return address, address
    if "%" in text:
        raise BadHost("a host with percent-encoding")
    name = _ascii_name(text)
    if not _NUMBER.fullmatch(name.rpartition(".")[2]):
        return name, None
    if name == text and _QUAD.fullmatch(name) and all(int(octet) < 256 for octet in name.split(".")):
        return name, name
    raise BadHost("an IP address that is not in its canonical form")


def _ipv6(text: str) -> str:
    match = _BRACKETED.fullmatch(text)
    try:
        return str(IPv6Address(match[1] if match else ""))
    except ValueError:
        raise BadHost("brackets without an IPv6 address") from None


def _ascii_name(text: str) -> str:
    """The name mapped by UTS 46 (non-transitional) and encoded, once; whatever is looked up is this."""
    try:
        mapped = text.lower() if text.isascii() else idna.uts46_remap(text, std3_rules=False)
        labels = [_ascii_label(label) for label in mapped.removesuffix(".").split(".")]
    except UnicodeError:
        raise BadHost(_NOT_A_NAME) from None
    name = ".".join(labels)
    if len(name) > MOST_NAME:
        raise BadHost(_NOT_A_NAME)
    return name


def _ascii_label(label: str) -> str:
    if label.isascii():
        ascii_label = label
        if label.startswith("xn--"):
            _check_decodes(label)
    else:
        ascii_label = _encoded(label)
    if len(ascii_label) > MOST_LABEL or not _LABEL.fullmatch(ascii_label):
        raise BadHost(_NOT_A_NAME)
    return ascii_label


def _check_decodes(label: str) -> None:
    """An encoded label must be what encoding its own meaning gives: no second spelling of one name."""
    meaning = label[4:].encode("ascii").decode("punycode")
    if meaning.isascii() or idna.uts46_remap(meaning, std3_rules=False) != meaning or _encoded(meaning) != label:
        raise BadHost(_NOT_A_NAME)


def _encoded(label: str) -> str:
    if any(c.isascii() and not (c.isalnum() or c in "-_") for c in label):
        raise BadHost(_NOT_A_NAME)
    try:
        idna.check_label(label)
    except idna.InvalidCodepoint as error:
        # IDNA 2008 knows no symbols, UTS 46 and every browser do: names such as those of emoji are in use.
        if not any(unicodedata.category(c).startswith("S") for c in label):
            raise BadHost(_NOT_A_NAME) from error
    return "xn--" + label.encode("punycode").decode("ascii")
