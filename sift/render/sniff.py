"""What a body is: HTML, PDF, JSON, a feed, text of some sort, or nothing that Sift reads.

Decided from the `Content-Type` and the bytes; decodes nothing and renders nothing.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

import msgspec

from sift.errors import Unsupported

HTML = "html"
PDF = "pdf"
JSON = "json"
NDJSON = "ndjson"
FEED = "feed"
XML = "xml"
MARKDOWN = "markdown"
CSV = "csv"
TEXT = "text"
UNSUPPORTED = "unsupported"

_BY_TYPE = {
    "text/html": HTML,
    "application/xhtml+xml": HTML,
    "application/vnd.wap.xhtml+xml": HTML,
    "application/pdf": PDF,
    "application/x-pdf": PDF,
    "text/pdf": PDF,
    "application/json": JSON,
    "application/x-json": JSON,
    "text/json": JSON,
    "text/x-json": JSON,
    "application/geo+json-seq": NDJSON,
    "application/json-seq": NDJSON,
    "application/jsonl": NDJSON,
    "application/jsonlines": NDJSON,
    "application/ndjson": NDJSON,
    "application/x-jsonlines": NDJSON,
    "application/x-ndjson": NDJSON,
    "text/jsonl": NDJSON,
    "text/x-ndjson": NDJSON,
    "application/rss+xml": FEED,
    "application/atom+xml": FEED,
    "application/rdf+xml": FEED,
    "application/xml": XML,
    "application/xml-dtd": XML,
    "text/xml": XML,
    "text/markdown": MARKDOWN,
    "text/x-markdown": MARKDOWN,
    "application/markdown": MARKDOWN,
    "text/csv": CSV,
    "text/tab-separated-values": CSV,
    "application/csv": CSV,
    # text that registries file under application/
    "application/ecmascript": TEXT,
    "application/javascript": TEXT,
    "application/sql": TEXT,
    "application/toml": TEXT,
    "application/x-javascript": TEXT,
    "application/x-sh": TEXT,
    "application/x-yaml": TEXT,
    "application/yaml": TEXT,
}
# Types by which a server says that it does not know.
_NO_TYPE = frozenset(
    {
        "",
        "application/binary",
        "application/download",
        "application/force-download",
        "application/octet-stream",
        "application/unknown",
        "application/x-download",
        "application/x-unknown-content-type",
        "binary/octet-stream",
        "content/unknown",
        "unknown/unknown",
        "*/*",
    }
)
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"PK\x03\x04", "application/zip"),
    (b"PK\x05\x06", "application/zip"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ\x00", "application/x-xz"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"\x7fELF", "application/x-elf"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (b"\x00asm", "application/wasm"),
    (b"SQLite format 3\x00", "application/vnd.sqlite3"),
    (b"OggS\x00", "application/ogg"),
    (b"ID3\x02", "audio/mpeg"),
    (b"ID3\x03", "audio/mpeg"),
    (b"ID3\x04", "audio/mpeg"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
    (b"\x00\x01\x00\x00\x00", "font/ttf"),
    (b"\x1a\x45\xdf\xa3", "video/webm"),
    (b"\xca\xfe\xba\xbe", "application/java-vm"),
)
_PDF_HEAD = re.compile(rb"%PDF-\d")
_TAG = re.compile(
    rb"<(?:!doctype\s+html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|meta|link|main|article|ul)"
    rb"(?=[\s/>])|<!--",
    re.IGNORECASE,
)
_XML_HEAD = re.compile(rb"<\?xml[\s?]", re.IGNORECASE)
# What may stand before a document's root element; each part is bounded by the sample it runs over.
_PROLOG = re.compile(rb"(?:\s+|<\?.*?\?>|<!--.*?-->|<!doctype[^\[>]*(?:\[.*?\]\s*)?>)", re.IGNORECASE | re.DOTALL)
_ROOT = re.compile(rb"<(?:[\w.-]+:)?([\w.-]+)([^>]*)")
_UTF16_XML = (b"<\x00?\x00x\x00", b"\x00<\x00?\x00x")
_BOMS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CONTROLS = bytes(b for b in range(32) if b not in b"\t\n\x0c\r\x1b")
_NOT_CONTROLS = bytes(b for b in range(256) if b not in _CONTROLS)
_IDEOGRAPHIC = re.compile("[\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uffef]+")
_KANA_OR_SIGN = re.compile("[\u3000-\u30ff\uff01-\uff60]")
_SAMPLE = 64 * 1024


@dataclass(frozen=True, slots=True)
class Kind:
    """What a body is. `name` is one of this module's words; `media_type` is the bare type, `""` where none came.

    `problem` says why an `unsupported` body is not read; `None` for all others.
    """

    name: str
    media_type: str
    problem: str | None = None

    def unsupported(self) -> Unsupported:
        """The error for a body that is not read, naming its type."""
        return Unsupported(
            self.problem or f"{self.media_type or 'a body without a type'} is not a type that Sift reads"
        )


def kind(content_type: str | None, body: bytes) -> Kind:
    """What `body` is; never raises. A body that is binary is `unsupported` whatever its type says."""
    media_type = bare_type(content_type)
    named = _named(media_type)
    if _is_pdf(named, body):
        return Kind(PDF, media_type)
    if named == PDF:
        return Kind(HTML if looks_html(body) else PDF, media_type)
    if named == UNSUPPORTED and media_type not in _NO_TYPE:
        return Kind(UNSUPPORTED, media_type, f"{_shown(media_type)} is not a type that Sift reads")
    found = is_binary(body, content_type)
    if found:
        return Kind(UNSUPPORTED, media_type, _binary_problem(media_type, found))
    return Kind(_textual(named, media_type, body), media_type)


def bare_type(content_type: str | None) -> str:
    """`text/html` for `Text/HTML; charset=x`; `""` for none and for what is not a type at all."""
    bare = re.split(r"[;,]", content_type or "", maxsplit=1)[0].strip().lower()
    return bare if re.fullmatch(r"[!-~]+/[!-~]+", bare) and len(bare) <= 200 else ""


def looks_html(body: bytes) -> bool:
    """Whether the body begins as an HTML page does (the WHATWG sniffing table, and an XHTML prolog)."""
    start = _start(body)
    if _TAG.match(start):
        return not start.startswith(b"<!--") or _root(start)[0] in {b"html", b"", b"head", b"body"}
    return bool(_XML_HEAD.match(start) or start[:9].lower() == b"<!doctype") and _root(start)[0] == b"html"


def is_binary(body: bytes, content_type: str | None = None) -> str | None:
    """The type that a binary body seems to have (`"binary data"` where unknown); `None` for a text."""
    if body.startswith(_BOMS):
        return None
    for magic, name in _MAGIC:
        if body.startswith(magic):
            return name
    if re.search(r"charset\s*=\s*[\"']?\s*(utf-?16|ucs-2|unicode)", content_type or "", re.IGNORECASE):
        return None
    if body[257:262] == b"ustar":
        return "application/x-tar"
    controls = len(body.translate(None, delete=_NOT_CONTROLS))
    if not controls or utf16_order(body):
        return None
    # Text with a stray NUL is text. Compressed data has about 10 % of these bytes, and is hardly ever valid UTF-8.
    limit = 0.1 if _is_utf8(body) else 0.01
    return "binary data" if controls > limit * len(body) else None


def utf16_order(body: bytes) -> str | None:
    """`utf-16le` or `utf-16be` for text in UTF-16 without a BOM, told by where its NULs stand; else `None`."""
    sample = body[: min(len(body), 4096) & ~1]
    controls = len(sample.translate(None, delete=_NOT_CONTROLS))
    # UTF-16 of an alphabet is a fifth control bytes and more, that of ideographs is no UTF-8; a stray NUL is neither.
    if controls < 0.2 * len(sample) and _is_utf8(sample[:-3]):
        return None
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    for name, zeros, others in (("utf-16le", odd, even), ("utf-16be", even, odd)):
        if zeros > max(4 * others, len(sample) // 400) and _is_utf16_text(sample, name):
            return name
    return _ideographic_order(sample)


def _ideographic_order(sample: bytes) -> str | None:
    """The order of Chinese or Japanese in UTF-16 that has not one ASCII character, and so no NUL."""
    if len(sample) < 16:
        return None
    for name in ("utf-16le", "utf-16be"):
        text = sample.decode(name, "replace")
        if _IDEOGRAPHIC.fullmatch(text) and 20 * len(_KANA_OR_SIGN.findall(text)) >= len(text):
            return name
    return None


def _is_utf16_text(sample: bytes, name: str) -> bool:
    try:
        text = codecs.getincrementaldecoder(name)("strict").decode(sample)
    except UnicodeDecodeError:
        return False
    odd = sum(1 for c in text if not c.isprintable() and c not in "\t\n\r\f\u3000\u00a0\u200b\u00ad\ufeff")
    return odd <= len(text) // 50


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _named(media_type: str) -> str:
    """The kind that the type alone says."""
    if media_type in _BY_TYPE:
        return _BY_TYPE[media_type]
    if media_type.endswith("+json"):
        return JSON
    if media_type.endswith("+xml"):
        return XML
    if media_type.endswith("+yaml") or media_type.startswith("text/"):
        return TEXT
    return UNSUPPORTED


def _textual(named: str, media_type: str, body: bytes) -> str:
    """The kind of a body that is text of some sort, where the bytes may know better than the type."""
    if named == UNSUPPORTED:
        return _sniffed(body)
    if named in {XML, FEED}:
        return _xml_kind(body)
    if named == HTML and _XML_HEAD.match(_start(body)) and _xml_kind(body) == FEED:
        return FEED
    if media_type in {"text/html", "text/plain", "text/javascript", "application/javascript"} and _is_json(body):
        return JSON
    return named


def _sniffed(body: bytes) -> str:
    """The kind of a text without a type."""
    if looks_html(body):
        return HTML
    if _is_json(body):
        return JSON
    if _XML_HEAD.match(_start(body)):
        return _xml_kind(body)
    return TEXT


def _xml_kind(body: bytes) -> str:
    name, attributes = _root(_start(body))
    if name == b"html":
        return HTML
    if name == b"rss" or (name == b"feed" and b"atom" in attributes.lower()) or name == b"rdf":
        return FEED
    return XML


def _root(start: bytes) -> tuple[bytes, bytes]:
    """The local name of the root element, in lower case, and its attributes; empty where there is none."""
    at = 0
    while match := _PROLOG.match(start, at):
        at = match.end()
    root = _ROOT.match(start, at)
    return (root[1].lower(), root[2]) if root else (b"", b"")


def _start(body: bytes) -> bytes:
    """The beginning of the body, without BOM, leading space, or the NULs of UTF-16."""
    return body[:_SAMPLE].removeprefix(codecs.BOM_UTF8).lstrip(b"\xff\xfe").replace(b"\0", b"").lstrip()


def _is_pdf(named: str, body: bytes) -> bool:
    if body[:_SAMPLE].removeprefix(codecs.BOM_UTF8).lstrip(b"\0 \t\r\n\x0c").startswith(b"%PDF"):
        return True
    # Readers take up to 1,024 bytes of junk before the header; a page that quotes one is no PDF.
    if not _PDF_HEAD.search(body, 0, 1032) or looks_html(body):
        return False
    return named in {PDF, UNSUPPORTED} or b"%%EOF" in body[-1024:]


def _is_json(body: bytes) -> bool:
    stripped = body.removeprefix(codecs.BOM_UTF8).strip()
    if (stripped[:1], stripped[-1:]) not in {(b"{", b"}"), (b"[", b"]")}:
        return False
    try:
        msgspec.json.decode(stripped, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return False
    return True


def _binary_problem(media_type: str, found: str) -> str:
    if media_type in _NO_TYPE:
        return (
            f"{_shown(media_type) or 'a body without a type'}, which looks like {found}, is not a type that Sift reads"
        )
    return f"the body is called {_shown(media_type)}, but is {found}"


def _shown(media_type: str) -> str:
    return media_type[:100]
