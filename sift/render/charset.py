"""Bytes to text: which character set a body is in, as browsers decide it, and its decoding.

Never raises: what cannot be decoded becomes U+FFFD. Never looks at what the text means.
"""

from __future__ import annotations

import codecs
import re

import webencodings

from sift.render import detect, sniff

# A browser stops its own search at 1,024 bytes, but takes a later declaration when its parser meets it.
_DECLARED_WITHIN = 256 * 1024
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16le"), (codecs.BOM_UTF16_BE, "utf-16be"))
_HEADER = re.compile(r";\s*charset\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s;,\"']+))", re.IGNORECASE)
_XML_DECLARATION = re.compile(rb"\s*<\?xml\s[^>]{0,512}?encoding\s*=\s*[\"']\s*([A-Za-z0-9._:-]+)", re.IGNORECASE)
_COMMENT_OR_META = re.compile(rb"<!--|<meta(?=[\s/])", re.IGNORECASE)
_ATTRIBUTE = re.compile(rb"[\s/]*([^\s/>=][^\s/>=]*)\s*(?:=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>\"'][^\s>]*)))?")
_IN_CONTENT = re.compile(rb"charset\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s;\"']+))", re.IGNORECASE)
_ATTRIBUTES_OF_A_TAG = 64


def decode(body: bytes, content_type: str | None, kind: str = sniff.TEXT) -> str:
    """The text of a body of `kind` (a word of `sniff`): valid Unicode without NULs or a BOM.

    The order is a browser's: BOM, `Content-Type` header, the document's own declaration, detection. Labels
    are the WHATWG's; one that does not exist counts as absent. JSON is UTF-8 whenever it is valid as such.
    """
    name, skip = encoding(body, content_type, kind)
    text = detect.to_text(body[skip:], name)
    return text.replace("\0", "") if "\0" in text else text


def encoding(body: bytes, content_type: str | None, kind: str = sniff.TEXT) -> tuple[str, int]:
    """The WHATWG name of the encoding, and how many bytes of BOM to skip."""
    for bom, name in _BOMS:
        if body.startswith(bom):
            return name, len(bom)
    if kind in {sniff.JSON, sniff.NDJSON} and _is_plain_utf8(body):
        return "utf-8", 0
    name = from_header(content_type) or _declared(body, kind) or detect.detect(body)
    return name, 0


def _is_plain_utf8(body: bytes) -> bool:
    return detect.is_utf8(body) and not detect.has_escapes(body) and not sniff.utf16_order(body)


def from_header(content_type: str | None) -> str | None:
    """The encoding that a `Content-Type` names, if it exists."""
    match = _HEADER.search(f";{content_type}" if content_type else "")
    return _label(next(filter(None, match.groups()), "")) if match else None


def _label(label: str) -> str | None:
    found = webencodings.lookup(label)
    # `replacement` is how a browser refuses the encodings that hide scripts; here they are text all the same
    return found.name if found and found.name != "replacement" else None


def _declared(body: bytes, kind: str) -> str | None:
    """What the document says of itself: `<meta>` for HTML, the XML declaration for both."""
    if kind not in {sniff.HTML, sniff.XML, sniff.FEED}:
        return None
    head = body[:_DECLARED_WITHIN]
    if head.startswith((b"<\0?\0", b"\0<\0?")):
        return "utf-16le" if head[0] else "utf-16be"
    from_xml = _XML_DECLARATION.match(head)
    label = _meta(head) if kind == sniff.HTML else None
    return label or (_as_declared(from_xml[1]) if from_xml else None)


def _meta(head: bytes) -> str | None:
    """The encoding of the first `<meta>` that names one that exists; comments are skipped."""
    at = 0
    while found := _COMMENT_OR_META.search(head, at):
        if found[0] == b"<!--":
            end = head.find(b"-->", found.end() - 2)
            at = end + 3 if end >= 0 else len(head)
            continue
        label, at = _meta_label(head, found.end())
        name = _as_declared(label) if label else None
        if name:
            return name
    return None


def _meta_label(head: bytes, at: int) -> tuple[bytes | None, int]:
    """What one `<meta>` names, and where it ends."""
    attributes: dict[bytes, bytes] = {}
    for _ in range(_ATTRIBUTES_OF_A_TAG):
        match = _ATTRIBUTE.match(head, at)
        if not match:
            break
        at = match.end()
        attributes.setdefault(match[1].lower(), next((g for g in match.groups()[1:] if g is not None), b""))
    if b"charset" in attributes:
        return attributes[b"charset"].strip(), at
    if attributes.get(b"http-equiv", b"").strip().lower() != b"content-type":
        return None, at
    content = _IN_CONTENT.search(attributes.get(b"content", b""))
    return (next(filter(None, content.groups()), None) if content else None), at


def _as_declared(label: bytes) -> str | None:
    """A label that was read as ASCII cannot be UTF-16 (WHATWG: then it is UTF-8)."""
    name = _label(label.decode("ascii", "replace").strip())
    if name in {"utf-16le", "utf-16be"}:
        return "utf-8"
    return "windows-1252" if name == "x-user-defined" else name
