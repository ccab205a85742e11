"""Masks: values become classes in ascending order, whatever kind of picture holds them."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from netwright.core.errors import ConfigError, DataError
from netwright.data.images.masks import (
    encode_masks,
    mask_values,
    read_mask,
    resize_mask,
    write_mask,
)
from tests.odd_files import is_untouched, outside_of, plant, refusal
from tests.repetition import for_each

VALUES = np.array([[0, 7, 255], [255, 0, 7]], np.uint8)


def saved(path: Path, pixels: Any, mode: str | None = None) -> Path:
    image = pixels if isinstance(pixels, Image.Image) else Image.fromarray(pixels)
    (image if mode is None else image.convert(mode)).save(path)
    return path


def palette_image() -> Image.Image:
    image = Image.fromarray(VALUES % 3)
    image.putpalette([200, 0, 0, 0, 0, 0, 0, 100, 250])  # it is in mode P from now on
    return image


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "LA"])
def test_grey_in_any_mode_gives_its_shades(tmp_path: Path, mode: str) -> None:
    assert read_mask(saved(tmp_path / "mask.png", VALUES, mode)).tolist() == VALUES.tolist()


def test_a_palette_gives_its_indices_and_not_its_colours(tmp_path: Path) -> None:
    assert read_mask(saved(tmp_path / "mask.png", palette_image())).tolist() == [
        [0, 1, 0],
        [0, 0, 1],
    ]


def test_one_bit_gives_zero_and_one(tmp_path: Path) -> None:
    path = saved(tmp_path / "mask.png", VALUES > 100)
    assert read_mask(path).tolist() == [[0, 0, 1], [1, 0, 0]]


def test_sixteen_bits_keep_their_values(tmp_path: Path) -> None:
    path = saved(tmp_path / "mask.png", VALUES.astype(np.uint16) * 200)
    assert read_mask(path).tolist() == (VALUES.astype(int) * 200).tolist()


def test_values_become_classes_in_ascending_order() -> None:
    masks = [VALUES, np.array([[3, 3, 3], [255, 0, 0]])]
    values = mask_values(masks, ())
    assert values == [0, 3, 7, 255]
    encoded = encode_masks(masks, values)
    assert encoded.tolist() == [[[0, 2, 3], [3, 0, 2]], [[1, 1, 1], [3, 0, 0]]]
    assert str(encoded.dtype) == "torch.uint8"


@for_each(("height", "width"), [(2, 3), (4, 6), (3, 2), (7, 5), (1, 1)])
def test_another_size_takes_the_nearest_pixel_as_pillow_does(height: int, width: int) -> None:
    mask = np.random.default_rng(0).integers(0, 5, (6, 9)).astype(np.uint8)
    pillow = Image.fromarray(mask).resize((width, height), Image.Resampling.NEAREST)
    assert resize_mask(mask, height, width).tolist() == np.array(pillow).tolist()


def test_the_same_size_changes_nothing_and_doubling_repeats_every_pixel() -> None:
    assert resize_mask(VALUES, 2, 3).tolist() == VALUES.tolist()
    assert resize_mask(VALUES, 4, 6).tolist() == VALUES.repeat(2, 0).repeat(2, 1).tolist()


@pytest.mark.parametrize(
    ("name", "pixels", "reason"),
    [
        (
            "mask.png",
            np.dstack([VALUES, VALUES, 255 - VALUES]),
            "its pixels are colours, wanted a greyscale or palette image",
        ),
        ("mask.jpg", VALUES, "JPEG compression changes the values of a mask, wanted a PNG"),
        (
            "mask.tif",
            VALUES.astype(np.float32),
            "its pixels are floats, wanted integers",
        ),
    ],
)
def test_what_is_no_mask_is_refused(tmp_path: Path, name: str, pixels: Any, reason: str) -> None:
    path = saved(tmp_path / name, pixels)
    sentence = f"{path} cannot be read as an image: {reason}"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        read_mask(path)


def test_photographs_are_not_taken_for_masks() -> None:
    shades = [np.arange(100).reshape(10, 10)]
    sentence = (
        "the masks hold 100 different values, more than 64 classes: are they photographs? (with "
        "class_names there may be up to 256)"
    )
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        mask_values(shades, ())
    assert mask_values([np.arange(64)[None]], ()) == list(range(64))
    names = [f"class {value}" for value in range(100)]
    assert mask_values(shades, names) == list(range(100))
    with pytest.raises(DataError, match=r"^the masks hold 300 different values, more than 256"):
        mask_values([np.arange(300)[None]], [str(value) for value in range(300)])


def test_names_must_be_as_many_as_values() -> None:
    sentence = (
        "class_names must be as many as the masks have values, 11 "
        "(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ...), got 2"
    )
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        mask_values([np.arange(11)[None]], ("cell", "membrane"))


@pytest.mark.parametrize("factor", [1, 200])
def test_a_written_mask_is_read_with_its_values(tmp_path: Path, factor: int) -> None:
    mask = VALUES.astype(np.int64) * factor
    write_mask(tmp_path / "mask.png", mask)
    assert read_mask(tmp_path / "mask.png").tolist() == mask.tolist()


@pytest.mark.parametrize(("low", "high"), [(-1, 3), (0, 65536)])
def test_refuses_to_write_values_that_a_png_cannot_hold(
    tmp_path: Path, low: int, high: int
) -> None:
    sentence = f"a PNG holds values from 0 to 65535, the mask has {low} to {high}"
    with pytest.raises(DataError, match=f"^{sentence}$"):
        write_mask(tmp_path / "mask.png", np.array([[low, high]]))


@pytest.mark.parametrize(("highest", "mode"), [(255, "L"), (256, "I;16")])
def test_a_written_mask_takes_two_bytes_a_pixel_only_where_it_must(
    tmp_path: Path, highest: int, mode: str
) -> None:
    write_mask(tmp_path / "mask.png", np.array([[0, highest]]))
    with Image.open(tmp_path / "mask.png") as image:
        assert image.mode == mode
    assert read_mask(tmp_path / "mask.png").tolist() == [[0, highest]]


def test_a_mask_is_not_written_where_a_link_leads(tmp_path: Path) -> None:
    (tmp_path / "masks").mkdir()
    outside = outside_of(tmp_path / "masks")
    place = tmp_path / "masks" / "mask.png"
    plant(place, "dangling link", outside)
    with pytest.raises(DataError, match=refusal(place, "link")):
        write_mask(place, VALUES)
    assert is_untouched(outside)
