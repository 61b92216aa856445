"""Guessing the character set of a body that does not say it, and decoding by a WHATWG name.

Works on a sample: a body of any size takes milliseconds to guess. Reads no header and no markup.
"""

from __future__ import annotations

import codecs
import re
from functools import partial

import webencodings
from charset_normalizer import from_bytes

from sift.render import sniff

_SAMPLE = 64 * 1024
_SEARCHED = 1024 * 1024
_HIGH = re.compile(rb"[\x80-\xff]")
# ISO-2022-JP is seven-bit; these escapes switch its sets, and stand in no other text.
_ESCAPES = re.compile(rb"\x1b(?:\$[@B]|\([JI])")
_CANDIDATES = {
    "gb18030": "gb18030",
    "big5hkscs": "big5",
    "cp932": "shift_jis",
    "euc_jp": "euc-jp",
    "cp949": "euc-kr",
    "cp1251": "windows-1251",
    "koi8_r": "koi8-r",
    "koi8_u": "koi8-u",
    "iso8859_5": "iso-8859-5",
    "cp866": "ibm866",
    "cp1253": "windows-1253",
    "iso8859_7": "iso-8859-7",
    "cp1255": "windows-1255",
    "cp1256": "windows-1256",
    "cp874": "windows-874",
    "cp1252": "windows-1252",
    "cp1250": "windows-1250",
    "iso8859_2": "iso-8859-2",
    "cp1254": "windows-1254",
}
_EUC_JP_UNIT = re.compile(rb"\x8f?[\xa1-\xfe][\xa1-\xfe]|[\x00-\x8d]+|\x8e.|.", re.DOTALL)
_REPAIRED = 5000
_MULTI_BYTE = frozenset(
    {"utf-8", "utf-16le", "utf-16be", "gbk", "gb18030", "big5", "euc-jp", "iso-2022-jp", "shift_jis", "euc-kr"}
)
_LATIN = frozenset({"windows-1252", "windows-1250", "iso-8859-2", "windows-1254"})
_MARKS = "“”‘’„–—…§°«»©®·"
# What tells the Latin sets apart is whose letters come out. The first of equals wins, so the common come first.
_ALPHABETS = (
    ("windows-1252", "éèàâçêëîïôûùüœ€" + _MARKS),
    ("windows-1252", "äöüßé€" + _MARKS),
    ("windows-1252", "áéíóúñü¿¡ºª€" + _MARKS),
    ("windows-1252", "ãõçáéíóúâêôàºª€" + _MARKS),
    ("windows-1252", "åäöæøé€" + _MARKS),
    ("windows-1252", "àèéìòù€" + _MARKS),
    ("windows-1250", "áéíóöőúüű€" + _MARKS),
    ("iso-8859-2", "áéíóöőúüű"),
    ("windows-1250", "ąćęłńóśźż€" + _MARKS),
    ("iso-8859-2", "ąćęłńóśźż"),
    ("windows-1250", "áčďéěíľĺňóôŕřšťúůýžä€" + _MARKS),
    ("iso-8859-2", "áčďéěíľĺňóôŕřšťúůýžä"),
    ("windows-1250", "čćđšž€" + _MARKS),
    ("iso-8859-2", "čćđšž"),
    ("windows-1250", "ăâîşţ€" + _MARKS),
    ("windows-1254", "çğıöşüâîİ€" + _MARKS),
    ("windows-1252", "áðéíóúýþæö€" + _MARKS),
    ("windows-1252", "äöüõšž€" + _MARKS),
)


def _loaded() -> frozenset[str]:
    """The codecs of all WHATWG encodings, loaded. A worker opens no file once it takes jobs, and a codec is a file."""
    known = {webencodings.lookup(label) for label in webencodings.LABELS}
    names = {found.codec_info.name for found in known if found} - {"replacement", "x-user-defined"}
    from_bytes("Все люди".encode("cp1251"), cp_isolation=list(_CANDIDATES))  # loads what it needs itself
    return frozenset(codecs.lookup(name).name for name in (*names, *_CANDIDATES, "utf_8_sig", "gb18030"))


_LOADED = _loaded()


def detect(body: bytes) -> str:
    """The WHATWG name of the encoding that `body` seems to be in; `windows-1252` where nothing tells."""
    order = sniff.utf16_order(body)
    if order:
        return order
    if has_escapes(body):
        return "iso-2022-jp"
    if is_utf8(body) or _is_nearly_utf8(body):
        return "utf-8"
    sample = _sample(body)
    if _is_kana_of_euc(sample):
        return "euc-jp"
    best = from_bytes(sample, cp_isolation=list(_CANDIDATES)).best()
    name = _CANDIDATES.get(best.encoding, "windows-1252") if best else "windows-1252"
    return _latin(sample) if name in _LATIN else name


def is_utf8(body: bytes) -> bool:
    """Whether every byte of `body` is valid UTF-8 (plain ASCII is)."""
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def has_escapes(body: bytes) -> bool:
    """Whether `body` is seven-bit text that switches to a Japanese set by ISO-2022-JP's escapes."""
    return _ESCAPES.search(body, 0, _SEARCHED) is not None and _HIGH.search(body, 0, _SEARCHED) is None


def to_text(body: bytes, name: str) -> str:
    """`body` decoded by the WHATWG encoding `name`; what does not decode becomes U+FFFD. Never fails."""
    found = webencodings.lookup(name)
    codec = found.codec_info.name if found else name
    if name == "gbk":  # WHATWG: the decoder of gb18030, which has more
        codec = "gb18030"
    if name == "euc-jp":
        return _euc_jp(body)
    if name in _MULTI_BYTE:
        return codecs.decode(body, codec, "replace")
    return codecs.charmap_decode(body, "replace", _table(codec))[0]


def _table(codec: str) -> str:
    """The 256 characters of a single-byte codec, without a gap: its error handler would take 10 s on 20 MB."""
    if codec == "x-user-defined":
        return "".join(chr(b if b < 128 else 0xF700 + b) for b in range(256))
    return codecs.decode(bytes(range(256)), codec, "replace")


def _euc_jp(body: bytes) -> str:
    """EUC-JP as browsers read it: with the rows of NEC and IBM that Python's codec lacks and Windows' has.

    The rare rows are looked for in bodies of up to 1 MiB with a few gaps: it is done one character at a time.
    """
    text = body.decode("euc_jp", "replace")
    if not 0 < text.count("\ufffd") <= _REPAIRED or len(body) > _SEARCHED:
        return text
    return _EUC_JP_UNIT.sub(_euc_jp_unit, body).decode()


def _euc_jp_unit(match: re.Match[bytes]) -> bytes:
    """One character (or run of ASCII) of EUC-JP as UTF-8."""
    unit = match[0]
    try:
        return unit.decode("euc_jp").encode()
    except UnicodeDecodeError:
        return _as_windows(unit).encode()


def _as_windows(unit: bytes) -> str:
    if len(unit) != 2 or unit[0] < 0xA1:
        return "\ufffd"
    row, cell = unit[0] - 0xA1, unit[1] - 0xA1
    lead = row // 2 + (0x81 if row < 62 else 0xC1)
    trail = cell + 0x9F if row % 2 else cell + (0x40 if cell < 63 else 0x41)
    return bytes((lead, trail)).decode("cp932", "replace")[:1]


def _is_nearly_utf8(body: bytes) -> bool:
    """UTF-8 with a few broken places, as pages pasted together have; never a legacy set by chance."""
    text = _around_the_first_high_byte(body).decode("utf-8", "replace")
    bad = text.count("\ufffd")
    good = sum(map(len, re.findall(r"[^\x00-\x7f\ufffd]+", text)))
    return good >= 10 * bad


def _around_the_first_high_byte(body: bytes) -> bytes:
    first = _HIGH.search(body)
    begin = max(0, first.start() - 256) if first else 0
    return body[begin : begin + _SEARCHED]


def _sample(body: bytes) -> bytes:
    """The pieces of the text that hold bytes above ASCII: markup says nothing about the set."""
    pieces, size = [], 0
    for piece in re.split(rb"[<>\n]", _around_the_first_high_byte(body)):
        if piece.isascii():
            continue
        pieces.append(piece[: _SAMPLE - size])
        size += len(piece)
        if size >= _SAMPLE:
            break
    return b"\n".join(pieces)


def _is_kana_of_euc(sample: bytes) -> bool:
    """Valid EUC-JP with much kana: the same bytes are rare signs in Chinese and Korean sets."""
    pairs = re.findall(rb"[\xa1-\xfe][\xa1-\xfe]", sample)
    kana = sum(1 for pair in pairs if pair[0] in b"\xa4\xa5")
    if not pairs or kana < 0.2 * len(pairs):
        return False
    return sample.decode("euc_jp", "replace").count("\ufffd") <= len(pairs) // 50


def _latin(sample: bytes) -> str:
    high = b"".join(re.findall(rb"[\x80-\xff]+", sample))
    return max(_ALPHABETS, key=partial(_fit, high))[0]


def _fit(high: bytes, alphabet: tuple[str, str]) -> int:
    """How well bytes read as letters of an alphabet: a stranger costs twice what a letter gives."""
    codec, letters = alphabet
    text = to_text(high, codec).lower()
    return sum(1 if char in letters else -2 for char in text)
