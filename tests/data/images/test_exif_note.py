"""The note on how a camera was held: found in the head, and behind the pixels of a PNG."""

import io
import struct
import zlib

import pytest
from PIL import ExifTags, Image, ImageFile

from netwright.data.images.exif_note import orientation, orientation_in_head
from tests.repetition import for_each


def noted(kind: str, turn: int | None) -> Image.Image:
    settings = {}
    if turn is not None:
        settings["exif"] = Image.Exif()
        settings["exif"][ExifTags.Base.Orientation] = turn
    file = io.BytesIO()
    Image.new("RGB", (4, 3)).save(file, kind, **settings)
    return Image.open(io.BytesIO(file.getvalue()))


def place_in_file(image: Image.Image) -> int:
    assert isinstance(image, ImageFile.ImageFile)
    assert image.fp is not None
    return image.fp.tell()


def moved_behind(content: bytes) -> bytes:
    """A PNG with its EXIF part right before its end."""
    parts, place = [], 8
    while place < len(content):
        (length,) = struct.unpack(">I", content[place : place + 4])
        parts.append(content[place : place + length + 12])
        place += length + 12
    notes = [part for part in parts if part[4:8] == b"eXIf"]
    rest = [part for part in parts if part[4:8] not in {b"eXIf", b"IEND"}]
    return b"".join([content[:8], *rest, *notes, parts[-1]])


@for_each("kind", ["png", "jpeg", "webp"])
@for_each("turn", [None, 1, 6, 8])
def test_the_head_says_what_the_whole_image_says(kind: str, turn: int | None) -> None:
    assert orientation_in_head(noted(kind, turn)) == (turn or 1)
    image = noted(kind, turn)
    image.load()
    assert orientation(image) == orientation_in_head(image) == (turn or 1)


def test_no_pixel_of_a_png_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    image, plain = noted("png", 6), noted("png", None)
    decoded = []

    def load(self: Image.Image) -> None:
        decoded.append(self)

    monkeypatch.setattr(type(image), "load", load)
    places = [place_in_file(image), place_in_file(plain)]
    assert orientation_in_head(image) == 6
    assert orientation_in_head(plain) == 1
    assert decoded == []
    assert [place_in_file(image), place_in_file(plain)] == places  # where pillow goes on


def test_a_note_behind_the_pixels_is_found_and_the_image_can_still_be_decoded() -> None:
    file = io.BytesIO()
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = 6
    Image.new("RGB", (4, 3), "red").save(file, "png", exif=exif)
    content = moved_behind(file.getvalue())
    assert content.index(b"eXIf") > content.index(b"IDAT")
    image = Image.open(io.BytesIO(content))
    assert orientation_in_head(image) == 6
    assert image.getpixel((3, 2)) == (255, 0, 0)


def test_a_part_that_ends_behind_the_file_is_no_note() -> None:
    image = noted("png", None)
    file = io.BytesIO()
    image.save(file, "png")
    head = struct.pack(">I", 2**31) + b"eXIf"
    cut = file.getvalue()[:-12] + head + struct.pack(">I", zlib.crc32(head))
    assert orientation_in_head(Image.open(io.BytesIO(cut))) == 1
