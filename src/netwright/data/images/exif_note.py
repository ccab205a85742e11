"""How the camera was held: the note on it in a file, found without decoding a pixel.

A PNG may have its notes behind its pixels, so pillow decodes the whole image to look for them.
Here the names of its parts are looked through first: only one with such notes is decoded.

Source: W3C, "Portable network graphics (PNG) specification, third edition" (2025), section 5.6.
"""

import contextlib
import struct
from collections.abc import Iterator
from typing import BinaryIO

from PIL import ExifTags, Image

from netwright.data.images.decoding_room import ROOM

SIGNATURE = 8  # bytes before the first part of a PNG
LARGEST_PIXEL = 8  # bytes
NOTES = frozenset({b"eXIf", b"tEXt", b"zTXt", b"iTXt"})


def orientation(image: Image.Image) -> int:
    """The EXIF note of an image that is decoded; a damaged one says nothing: 1, upright."""
    if image.format == "PNG" and not image.info:
        return 1  # without a note it is not looked into for one
    with contextlib.suppress(Exception):
        return int(image.getexif().get(ExifTags.Base.Orientation, 1))
    return 1


def orientation_in_head(image: Image.Image) -> int:
    """The same of an image of which only the head is read; it stays so where that is possible."""
    file: BinaryIO | None = getattr(image, "fp", None)  # None: it is decoded
    if image.format != "PNG" or file is None:
        return orientation(image)
    if _has_late_notes(file):
        with ROOM.hold(image.width * image.height * LARGEST_PIXEL):
            with contextlib.suppress(Exception):
                image.load()
            return orientation(image)
    if not image.info:
        return 1
    with contextlib.suppress(Exception):
        # Pillow's own method for PNG would decode the image.
        return int(Image.Image.getexif(image).get(ExifTags.Base.Orientation, 1))
    return 1


def _has_late_notes(file: BinaryIO) -> bool:
    """Whether notes follow the first pixels of a PNG; the file is put back to where it was."""
    place = file.tell()
    names = list(_part_names(file))
    file.seek(place)
    behind = names[names.index(b"IDAT") :] if b"IDAT" in names else []
    return not NOTES.isdisjoint(behind)


def _part_names(file: BinaryIO) -> Iterator[bytes]:
    file.seek(SIGNATURE)
    while len(head := file.read(8)) == 8:
        length, name = struct.unpack(">I4s", head)
        yield name
        file.seek(length + 4, 1)  # the part and its checksum
