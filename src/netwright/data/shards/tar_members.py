r"""The members of a tar file: where each lies, by headers alone. Nothing is ever unpacked.

    header (512 bytes): name, size, checksum, type ...    content, filled up to 512 bytes    ...
    two blocks of zeros: the end

Names are those of the header, of GNU's long names and of POSIX's extended headers (pax). They are
keys, not paths: no file is made by them. Python's `tarfile` reads an extended header of any size
that it claims into memory, and takes a file that was cut between two members for a whole one.

Source: POSIX.1-2017, pax, "ustar Interchange Format"; GNU tar manual, "Basic Tar Format".
"""

import os
from collections.abc import Iterator
from typing import NamedTuple

from netwright.core.errors import DataError
from netwright.data.files.file_names import shown

BLOCK = 512
MOST_NAME = 2**16  # bytes of an extended header or of a long name
FILES, FOLDER = (b"0", b"\0", b"7"), b"5"
LONG_NAME, LONG_LINK, EXTENDED, GLOBAL = b"L", b"K", b"x", b"g"
END = bytes(BLOCK)


class Member(NamedTuple):
    """A file in a tar file: its name, its first byte there, and how many there are."""

    name: str
    start: int
    size: int


def tar_members(handle: int, size: int, shard: str) -> Iterator[Member]:
    """The files of a tar file in their order; one that is damaged or cut short is refused.

    Args:
        handle: of the file.
        size: of the file.
        shard: what refusals call it.
    """
    place, told = 0, Told("", -1)
    while (header := os.pread(handle, BLOCK, place)) != END:
        if len(header) < BLOCK:
            raise DataError(f"{shard} has no end: it was cut short after {size:,} bytes")
        _check_sum(header, shard, place)
        kind, start = header[156:157], place + BLOCK
        name = told.name or _name(header)
        length = told.size if told.size >= 0 else _number(header[124:136], shard, place)
        if length > size - start:
            raise DataError(
                f"{shard} says that {shown(name)!r:.100} has {length:,} bytes, but ends after "
                f"{size - start:,}: it was cut short or damaged"
            )
        if kind in {LONG_NAME, EXTENDED}:
            told = _told(os.pread(handle, _checked(length, shard, place), start), kind, told)
        else:
            if kind in FILES and not name.endswith("/"):
                yield Member(name, start, length)
            elif kind not in {*FILES, FOLDER, GLOBAL, LONG_LINK}:
                raise DataError(
                    f"{shard} holds {shown(name)!r:.100}, which is a link or a device: a shard "
                    f"holds files alone"
                )
            told = told if kind in {GLOBAL, LONG_LINK} else Told("", -1)
        place = start + -(-length // BLOCK) * BLOCK


class Told(NamedTuple):
    """What headers before a member say of it: its name, or none; its size, or -1."""

    name: str
    size: int


def _told(content: bytes, kind: bytes, before: Told) -> Told:
    if kind == LONG_NAME:
        return before._replace(name=_text(content))
    found = before
    for line in content.split(b"\n"):  # "27 path=some/long/name"
        key, _, value = line.partition(b" ")[2].partition(b"=")
        if key == b"path":
            found = found._replace(name=_text(value))
        elif key == b"size" and value.isdigit() and len(value) < 20:
            found = found._replace(size=int(value))
    return found


def _check_sum(header: bytes, shard: str, place: int) -> None:
    wanted = _number(header[148:156], shard, place)
    if sum(header) - sum(header[148:156]) + 8 * ord(" ") != wanted:
        raise DataError(f"{shard} is no tar file, or is damaged at byte {place:,}")


def _number(field: bytes, shard: str, place: int) -> int:
    """Octal digits; or, of numbers that are too long for them, the bytes behind a mark."""
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    digits = field.strip(b" \0") or b"0"
    if digits.strip(b"01234567"):  # int also takes a sign, which would lead back, and "_"
        raise DataError(f"{shard} is no tar file, or is damaged at byte {place:,}")
    return int(digits, 8)


def _checked(length: int, shard: str, place: int) -> int:
    if length > MOST_NAME:
        raise DataError(
            f"{shard} has a header of {length:,} bytes at byte {place:,}, at most {MOST_NAME:,} "
            f"are read"
        )
    return length


def _name(header: bytes) -> str:
    name, prefix = _text(header[:100]), _text(header[345:500])
    is_posix = header[257:263] == b"ustar\0"  # GNU's own format has other things there
    return f"{prefix}/{name}" if prefix and is_posix else name


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode(errors="replace")
