"""A file in memory is opened once for its head and its pixels, and says what its file says."""

import io
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import ExifTags, Image, PngImagePlugin

from netwright.core.errors import DataError
from netwright.data.images.decoding import ImageForm, decode_file, read_header
from netwright.data.images.image_content import ImageContent
from tests.data.images.pictures import bytes_of, save

FORM = ImageForm(mode="RGB", height=5, width=6)


def test_a_png_that_is_kept_is_opened_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    content = save(tmp_path / "x.png", bytes_of(0, 9, 8)).read_bytes()
    opened, times = Image.open, 0

    def counted(*given: Any, **settings: Any) -> Any:
        nonlocal times
        times += 1
        return opened(*given, **settings)

    monkeypatch.setattr(Image, "open", counted)
    for keeps, wanted in ((True, 1), (False, 2)):
        times, image = 0, ImageContent(content)
        image.header(keeps=keeps)
        image.decode(FORM)
        assert times == wanted
        image.decode(FORM)  # it is let go of with its pixels
        assert times == wanted + 1


@pytest.mark.parametrize("ending", ["png", "jpg", "bmp", "tif", "gif", "webp"])
@pytest.mark.parametrize("note", [0, 6])
def test_it_says_what_its_file_says(tmp_path: Path, ending: str, note: int) -> None:
    settings: dict[str, Any] = {}
    if note:
        settings["exif"] = Image.Exif()
        settings["exif"][ExifTags.Base.Orientation] = note
    path = tmp_path / f"x.{ending}"
    Image.fromarray(bytes_of(0, 9, 8, 3)).save(path, **settings)
    for keeps in (True, False):
        image = ImageContent(path.read_bytes())
        assert image.header(keeps=keeps) == read_header(path)
        assert torch.equal(image.decode(FORM), decode_file(path, FORM))


def test_pixels_that_were_decoded_for_notes_behind_them_are_not_kept(tmp_path: Path) -> None:
    notes = PngImagePlugin.PngInfo()
    notes.add_text("Comment", "behind", zip=False)
    path = tmp_path / "x.png"
    Image.fromarray(bytes_of(0, 9, 8)).save(path)
    plain = path.read_bytes()
    Image.fromarray(bytes_of(0, 9, 8)).save(path, pnginfo=notes)
    noted = path.read_bytes()
    start = noted.index(b"tEXt") - 4
    text = noted[start : noted.index(b"IDAT") - 4]
    end = plain.index(b"IEND") - 4
    image = ImageContent(plain[:end] + text + plain[end:])
    image.header(keeps=True)
    assert image._open is None
    assert torch.equal(image.decode(FORM), ImageContent(plain).decode(FORM))


def test_what_is_damaged_or_takes_too_much_is_refused_after_its_head_was_read() -> None:
    made = io.BytesIO()
    Image.fromarray(bytes_of(0, 9, 8)).save(made, "PNG")
    content = made.getvalue()
    place = content.index(b"IDAT") + 10
    damaged = content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
    for keeps in (True, False):
        image = ImageContent(damaged, "photo")
        image.header(keeps=keeps)
        with pytest.raises(DataError, match=r"^photo cannot be read as an image: broken PNG"):
            image.decode(FORM)
        image = ImageContent(content, "photo")
        image.header(keeps=keeps)
        with pytest.raises(DataError, match=r"^photo .*: it takes 0 MB to decode, more than 0$"):
            image.decode(FORM, most=9 * 8)
