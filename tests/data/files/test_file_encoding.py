"""Bytes as text: marks, given encodings, and refusals that name the line and the way out."""

import re

import pytest

from netwright.core.errors import ConfigError, DataError
from netwright.data.files.file_encoding import decode_bytes, detected_encoding, utf8_bytes
from tests.repetition import for_each

TEXT = "größe\n1\n"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_mark_says_how_bytes_are_read(encoding: str) -> None:
    text, note = decode_bytes("t.csv", TEXT.encode(encoding), "latin-1")
    assert text == TEXT
    assert "mark (BOM)" in note
    assert encoding.removesuffix("-sig").upper() in note


@for_each("encoding", ["latin-1", "cp1252", "utf-16-le", "UTF_8"])
def test_an_encoding_can_be_given(encoding: str) -> None:
    assert decode_bytes("t.csv", TEXT.encode(encoding), encoding) == (TEXT, "")


def test_what_is_not_in_its_encoding_is_refused() -> None:
    wrong = "t.csv:2: byte 0xe9 at position 5 is not UTF-8; save the file as UTF-8"
    with pytest.raises(DataError, match=f"^{re.escape(wrong)}$"):
        decode_bytes("t.csv", b"a\r\nbc\xe9")  # it is read where no setting could help
    way_out = f"{wrong}, or give its encoding, as in --set data.encoding=latin-1"
    with pytest.raises(DataError, match=f"^{re.escape(way_out)}$"):
        decode_bytes("t.csv", b"a\r\nbc\xe9", "")
    with pytest.raises(DataError, match=r"^t.csv:1: byte 0xc3 at position 2 is not ascii; "):
        decode_bytes("t.csv", TEXT.encode(), "ascii")
    with pytest.raises(DataError, match=r"^t.csv:3: a NUL byte; the file is not text"):
        decode_bytes("t.csv", b"a\r1\r\0")


@for_each("encoding", ["latin1x", "base64", "rot13", "hex", "\0"])
def test_what_is_no_encoding_of_text_is_refused(encoding: str) -> None:
    with pytest.raises(ConfigError, match=r"^encoding must be a text encoding such as latin-1"):
        decode_bytes("t.csv", b"a", encoding)


@for_each(
    ("content", "encoding", "note"),
    [
        (b"caf\xc3\xa9", "", ""),
        (b"\xef\xbb\xbfcaf\xc3\xa9", "", "a UTF-8 byte order mark (BOM) was skipped"),
        ("caf\u00e9".encode("latin-1"), "latin-1", ""),
        (
            "caf\u00e9".encode("utf-16"),
            "",
            "the file is UTF-16, according to its byte order mark (BOM)",
        ),
    ],
)
def test_the_same_text_as_bytes_of_utf_8(content: bytes, encoding: str, note: str) -> None:
    assert utf8_bytes("t", content, encoding) == ("caf\u00e9".encode(), note)


def test_an_unknown_encoding_is_refused_whatever_mark_the_bytes_have() -> None:
    with pytest.raises(ConfigError, match="got 'nonsense'"):
        utf8_bytes("t", b"\xef\xbb\xbfa", "nonsense")


WESTERN = "name,preis\nGröße,5 €\nl\u2019été \u201cça\u201d,½\nStraße,3\n"


@for_each(
    ("content", "encoding"),
    [
        (WESTERN.encode("cp1252"), "cp1252"),
        ("é".encode("latin-1"), "cp1252"),
        (WESTERN.encode("utf-16-le"), "utf-16-le"),
        (WESTERN.encode("utf-16-be"), "utf-16-be"),
        (WESTERN.encode("utf-16"), ""),  # the mark tells
        (WESTERN.encode(), ""),
        (b"a,b\n1,2\n", ""),
        (b"", ""),
        ("москва,1".encode("cp1251"), ""),
        ("東京,1".encode("shift-jis"), ""),
        ("pałka,1".encode("cp1250"), ""),  # pa³ka
        (WESTERN.encode() + "é".encode("latin-1"), ""),
        (b"a,b\n\x00\x01\xe9\n", ""),
        (b"a\n\xff\n", ""),
        ("a,é\n".encode() * 200_000 + b"\xe9", ""),  # far behind the first piece
    ],
)
def test_encodings_are_detected_where_they_can_be_told(content: bytes, encoding: str) -> None:
    assert detected_encoding(content) == encoding
