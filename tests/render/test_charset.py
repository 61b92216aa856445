"""Character sets as browsers decide them: BOM, header, the document's own word, detection."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sift.render import charset, sniff
from tests.support import writings


def page(head: str, text: str) -> str:
    return f"<html><head>{head}<title>t</title></head><body><p>{text}</p></body></html>"


def test_utf8_without_any_label_is_utf8() -> None:
    assert charset.decode("Größe – 尊厳".encode(), "text/html", sniff.HTML) == "Größe – 尊厳"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_bom_beats_header_and_meta(encoding: str) -> None:
    text = page('<meta charset="windows-1251">', "Größe")
    assert charset.decode(text.encode(encoding), "text/html; charset=koi8-r", sniff.HTML) == text


def test_a_big_endian_bom_is_read() -> None:
    assert charset.decode(b"\xfe\xff\x00h\x00i", None) == "hi"


def test_a_bom_before_json_is_not_part_of_it() -> None:
    assert charset.decode(b'\xef\xbb\xbf{"a": 1}', "application/json", sniff.JSON) == '{"a": 1}'


def test_where_header_and_meta_disagree_the_header_wins() -> None:
    text = page('<meta charset="utf-8">', writings.RUSSIAN)
    assert charset.decode(text.encode("windows-1251"), "text/html; charset=windows-1251", sniff.HTML) == text


@pytest.mark.parametrize(
    "content_type",
    ["text/html;charset=Shift_JIS", 'text/html; CHARSET = "shift_jis"', "text/html; q=1; charset='sjis' ; x=y"],
)
def test_the_header_is_read_in_all_its_spellings(content_type: str) -> None:
    body = writings.JAPANESE.encode("shift_jis")
    assert charset.decode(body, content_type, sniff.HTML) == writings.JAPANESE


@pytest.mark.parametrize("label", ["no-such-charset", "utf-7", "", "x" * 500])
def test_a_label_that_does_not_exist_is_as_good_as_none(label: str) -> None:
    text = page(f'<meta charset="{label}"><meta charset="windows-1251">', writings.RUSSIAN)
    assert charset.decode(text.encode("windows-1251"), f"text/html; charset={label}", sniff.HTML) == text


@pytest.mark.parametrize(
    ("declaration", "encoding", "text"),
    [
        ('<meta charset="Shift_JIS">', "shift_jis", writings.JAPANESE),
        ("<META CHARSET=windows-1251>", "windows-1251", writings.RUSSIAN),
        ("<meta http-equiv='Content-Type' content='text/html; charset=Shift_JIS'>", "shift_jis", writings.JAPANESE),
        ('<meta content="text/html;charset=koi8-r" http-equiv=content-type />', "koi8-r", writings.RUSSIAN),
        ("<!-- <meta charset=utf-8> -->\n<meta charset=euc-kr>", "euc-kr", writings.KOREAN),
        ("<!--> <meta charset=big5>", "big5", writings.TAIWANESE),
        ("<meta name=a content='charset=utf-8'><meta charset=euc-jp>", "euc-jp", writings.JAPANESE),
    ],
)
def test_html_may_say_its_charset_itself(declaration: str, encoding: str, text: str) -> None:
    whole = page(declaration, text)
    assert charset.encoding(whole.encode(encoding), "text/html", sniff.HTML)[0] == encoding
    assert charset.decode(whole.encode(encoding), "text/html", sniff.HTML) == whole


def test_a_declaration_after_1024_bytes_counts() -> None:
    text = page(
        f"<!-- {'x' * 3000} --><script>{'y' * 20_000}</script><meta charset=windows-1251>", writings.RUSSIAN[:9]
    )
    assert charset.decode(text.encode("windows-1251"), "text/html", sniff.HTML) == text


def test_a_meta_that_claims_utf16_is_utf8_since_it_could_be_read() -> None:
    text = page('<meta charset="utf-16">', "Größe")
    assert charset.decode(text.encode(), "text/html", sniff.HTML) == text


def test_a_declaration_in_plain_text_is_only_text() -> None:
    text = '<meta charset="windows-1251"> Größe'
    assert charset.decode(text.encode(), "text/plain", sniff.TEXT) == text


@pytest.mark.parametrize("kind", [sniff.XML, sniff.FEED, sniff.HTML])
def test_an_xml_declaration_counts(kind: str) -> None:
    text = f'<?xml version="1.0" encoding="windows-1251"?>\n<a>{writings.RUSSIAN[:20]}</a>'
    assert charset.decode(text.encode("windows-1251"), None, kind) == text


def test_gb2312_is_gb18030() -> None:
    text = writings.CHINESE + "镕\U00020087"
    assert charset.decode(text.encode("gb18030"), "text/html; charset=GB2312", sniff.HTML) == text


def test_iso_8859_1_is_windows_1252() -> None:
    assert charset.decode(b"\x93it\x92s\x94 \x80", "text/plain; charset=ISO-8859-1") == "“it’s” €"


def test_shift_jis_and_euc_jp_have_the_signs_of_windows() -> None:
    assert charset.decode("①髙".encode("cp932"), "text/plain; charset=shift_jis") == "①髙"
    assert charset.decode(b"\xad\xa1\xa4\xa2abc", "text/plain; charset=euc-jp") == "①あabc"


def test_euc_kr_is_windows_949() -> None:
    assert charset.decode("똠방각하".encode("cp949"), "text/plain; charset=euc-kr") == "똠방각하"


def test_x_user_defined_is_private_use_in_a_header_and_windows_1252_in_a_meta() -> None:
    assert charset.decode(b"a\x80\xff", "text/plain; charset=x-user-defined") == "a\uf780\uf7ff"
    assert charset.encoding(b"<meta charset=x-user-defined>", None, sniff.HTML)[0] == "windows-1252"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "text", [writings.ENGLISH, writings.RUSSIAN, writings.JAPANESE, writings.CHINESE, writings.KOREAN, writings.ARABIC]
)
def test_utf16_without_a_bom_is_told_by_its_bytes(encoding: str, text: str) -> None:
    whole = page("", text)
    assert charset.decode(whole.encode(encoding), "text/html", sniff.HTML) == whole
    assert charset.decode(text.encode(encoding), "text/plain") == text


@pytest.mark.parametrize(("text", "encoding"), writings.UNLABELLED)
def test_an_unlabelled_page_is_detected(text: str, encoding: str) -> None:
    whole = page("", text)
    assert charset.decode(whole.encode(encoding), "text/html", sniff.HTML) == whole


def test_utf8_with_a_few_broken_places_stays_utf8() -> None:
    body = writings.RUSSIAN.encode() * 3 + b"\xff\xfe\xc3(" + writings.RUSSIAN.encode()
    assert charset.decode(body, "text/plain").startswith(writings.RUSSIAN)


def test_json_is_utf8_where_it_is_valid_utf8_whatever_the_header_says() -> None:
    assert charset.decode('{"a": "é"}'.encode(), "application/json; charset=iso-8859-1", sniff.JSON) == '{"a": "é"}'
    assert (
        charset.decode('{"a": "é"}'.encode("latin-1"), "application/json; charset=iso-8859-1", sniff.JSON)
        == '{"a": "é"}'
    )
    assert charset.decode('{"a": "é"}'.encode("utf-16-le"), "application/json", sniff.JSON) == '{"a": "é"}'


def test_nuls_are_dropped() -> None:
    assert charset.decode(b"a\0b", "text/plain; charset=utf-8") == "ab"


def test_surrogates_that_stand_alone_are_replaced() -> None:
    assert charset.decode(b"a\xed\xa0\x80b", "text/plain; charset=utf-8") == "a\ufffd\ufffd\ufffdb"
    assert charset.decode(b"\x00\xd8a\x00", "text/plain; charset=utf-16le") == "\ufffda"


HOSTILE = [b"\xff", b"\xa1", b"\x8f\xa1", b"<meta ", b"<!--", b"<meta a='", b"\x1b$B", b"\0a", b"a\xe9"]


@pytest.mark.parametrize("unit", HOSTILE)
@pytest.mark.parametrize("content_type", [None, "text/html; charset=euc-jp", "text/html; charset=gbk"])
def test_two_megabytes_of_anything_take_less_than_two_seconds(unit: bytes, content_type: str | None) -> None:
    body = unit * (2_000_000 // len(unit))
    began = time.process_time()
    charset.decode(body, content_type, sniff.HTML).encode()
    assert time.process_time() - began < 2


@settings(max_examples=150, deadline=None)
@given(
    st.binary(max_size=300),
    st.sampled_from(
        [None, "text/html", "x/y; charset=shift_jis", "charset=euc-jp", "; charset=utf-16be", "a; charset=\0"]
    ),
    st.sampled_from([sniff.HTML, sniff.JSON, sniff.XML, sniff.TEXT]),
)
def test_any_bytes_give_valid_unicode(body: bytes, content_type: str | None, kind: str) -> None:
    text = charset.decode(body, content_type, kind)
    assert "\0" not in text
    assert text.encode().decode() == text
