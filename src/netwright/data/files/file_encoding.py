"""Bytes of a file -> text: UTF-8, unless a mark (BOM) at the head or a setting says otherwise."""

import codecs
import io
import re
from itertools import chain
from typing import BinaryIO

from netwright.core.errors import ConfigError, DataError

MARKS = {  # UTF-32 first: its mark begins with that of UTF-16
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
    codecs.BOM_UTF8: "UTF-8-sig",
}
HEAD, PIECE = 4096, 2**20  # bytes
MANY_ZEROS = 0.6  # of every other byte
UNWESTERN = re.compile(
    rb"[\xc2-\xf4][\x80-\xbf]"  # a letter of UTF-8
    rb"|[\0\x81\x8d\x8f\x90\x9d\xfe\xff]"  # no letter of Windows-1252, or nearly none
    rb"|[\x80-\xff]{4}"
    rb"|[A-Za-z][\xa1-\xb6\xb8-\xbf][a-z]"
)


def decode_bytes(name: str, content: bytes, encoding: str | None = None) -> tuple[str, str]:
    """The text of a file, and a note where a mark at its head was read.

    Args:
        name: the file's name, for refusals, which tell the line.
        content: its bytes.
        encoding: as Python names it; empty: UTF-8; None: UTF-8, and there is no setting for it.
    """
    asked, marked = encoding or "UTF-8", marked_encoding(content)
    check_encoding(asked)
    try:
        text = content.decode(marked or asked)
    except UnicodeDecodeError as error:
        line = _line_at(content, error.start)
        way_out = "the file is truncated or damaged" if marked else "save the file as UTF-8"
        if encoding is not None and not marked:
            way_out += ", or give its encoding, as in --set data.encoding=latin-1"
        raise DataError(
            f"{name}:{line}: byte 0x{content[error.start]:02x} at position {error.start} is not "
            f"{marked or asked}; {way_out}"
        ) from None
    nul = text.find("\0")
    if nul >= 0:
        line = _line_at(text[:nul].encode(errors="replace"), None)
        raise DataError(f"{name}:{line}: a NUL byte; the file is not text (save it as UTF-8)")
    return text, _note(marked)


def detected_encoding(content: bytes) -> str:
    """The encoding of a file that has no mark and is not UTF-8; empty where it cannot be told.

    UTF-16 has a zero in every other byte of ASCII. Windows-1252, and with it Latin-1, is what reads
    as Western text: its letters with accents stand alone or in twos and threes, a sign never stands
    between two letters, and no two bytes together are a letter of UTF-8. A few short words of other
    encodings may look so, too.
    """
    return detected_in_file(io.BytesIO(content))


def detected_in_file(file: BinaryIO) -> str:
    """The same of an open file, from where it stands to its end; a piece is held at a time."""
    head = file.read(HEAD)
    if marked_encoding(head):
        return ""
    zeros = [half.count(0) / max(1, len(half)) for half in (head[::2], head[1::2])]
    if max(zeros) > MANY_ZEROS and min(zeros) == 0:
        return "utf-16-le" if zeros[1] else "utf-16-be"
    decoder = codecs.getincrementaldecoder("utf-8")()
    is_utf8, is_western, last = True, True, b""
    for piece in chain([head], iter(lambda: file.read(PIECE), b"")):
        is_ascii = last.isascii() and piece.isascii()  # so that no letter of several bytes is open
        is_utf8 = is_utf8 and (is_ascii or _decodes(decoder, piece))
        is_plain = is_ascii and b"\0" not in piece
        is_western = is_western and (is_plain or not UNWESTERN.search(last + piece))
        last = (last + piece[-3:])[-3:]  # the longest of what is not Western has four bytes
        if not is_utf8 and not is_western:
            return ""
    is_utf8 = is_utf8 and _decodes(decoder, b"", final=True)
    return "cp1252" if is_western and not is_utf8 else ""


def _decodes(decoder: codecs.IncrementalDecoder, piece: bytes, *, final: bool = False) -> bool:
    try:
        decoder.decode(piece, final)
    except UnicodeDecodeError:
        return False
    return True


def utf8_bytes(name: str, content: bytes, encoding: str | None = None) -> tuple[bytes, str]:
    """The same as bytes of UTF-8, without the mark; those that are said to be so are not checked.

    Args:
        name: the file's name, for refusals.
        content: its bytes.
        encoding: as `decode_bytes` takes it.
    """
    asked, marked = encoding or "UTF-8", marked_encoding(content)
    check_encoding(asked)
    if marked == "UTF-8-sig":
        return content.removeprefix(codecs.BOM_UTF8), _note(marked)
    if not marked and codecs.lookup(asked).name == "utf-8":
        return content, ""
    text, note = decode_bytes(name, content, encoding)
    return text.encode("utf-8", "surrogatepass"), note


def marked_encoding(content: bytes) -> str:
    """The encoding that a mark at the head of a file says; empty where there is none."""
    return next((its for mark, its in MARKS.items() if content.startswith(mark)), "")


def _note(marked: str) -> str:
    if marked == "UTF-8-sig":
        return "a UTF-8 byte order mark (BOM) was skipped"
    return f"the file is {marked}, according to its byte order mark (BOM)" if marked else ""


def check_encoding(encoding: str) -> None:
    """Refuse what is no encoding of text."""
    try:
        b"a".decode(encoding)
    except UnicodeDecodeError:  # half a letter of UTF-16
        return
    except (LookupError, ValueError):  # unknown, or one that turns bytes into bytes
        raise ConfigError(
            f"encoding must be a text encoding such as latin-1, cp1252 or utf-16, got {encoding!r}"
        ) from None


def _line_at(content: bytes, position: int | None) -> int:
    before = content[:position]
    return before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n") + 1
