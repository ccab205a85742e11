"""Images as letters: the nearest colours, pictures from files, and what is no image."""

import json
from pathlib import Path

import pytest
import torch
from PIL import Image

from netwright.core.errors import DataError
from netwright.data.captions.caption_encoder import PALETTE, CaptionEncoder, to_letters
from netwright.data.catalog import load


@pytest.fixture(scope="module")
def encoder() -> CaptionEncoder:
    found = load("captions", n=300).preprocessor
    assert isinstance(found, CaptionEncoder)
    return found


def picture(letters: str, side: int, large: int = 1) -> Image.Image:
    """The letters as an image, each pixel so many times as large."""
    small = Image.new("RGB", (side, side))
    small.putdata([PALETTE[letter] for letter in letters])
    return small.resize((large * side, large * side), Image.Resampling.NEAREST)


def test_every_pixel_has_the_nearest_colour_of_the_palette() -> None:
    pixels = torch.tensor([[[[0, 255, 90]], [[0, 0, 160]], [[0, 0, 60]]]], dtype=torch.uint8)
    assert to_letters(pixels) == ["krg"]


def test_a_picture_of_any_size_is_read_as_its_letters(
    encoder: CaptionEncoder, tmp_path: Path
) -> None:
    letters = load("captions", n=300).train.sources[0]  # type: ignore[attr-defined]
    for large in (1, 4):
        picture(letters, 8, large).save(tmp_path / f"{large}.png")
    table = encoder.read([tmp_path / "1.png", tmp_path / "4.png"])
    assert list(table.column("image")) == [letters, letters]
    assert list(encoder.read(tmp_path).column("image")) == [letters, letters]
    assert torch.equal(encoder.encode(str(tmp_path / "4.png")), encoder.encode([letters]))


def test_text_is_never_taken_for_a_path_and_other_text_is_refused(
    encoder: CaptionEncoder, tmp_path: Path
) -> None:
    picture("k" * 64, 8).save(tmp_path / "a.png")
    for text in (str(tmp_path / "a.png"), "krk", "x" * 64):
        with pytest.raises(DataError, match="image 0 must be a picture file, or 64 letters"):
            encoder.read([text])


def test_it_survives_json(encoder: CaptionEncoder) -> None:
    assert CaptionEncoder.from_json(json.loads(json.dumps(encoder.to_json()))) == encoder
