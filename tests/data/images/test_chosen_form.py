"""The one form of images of many sizes and modes."""

import pytest

from netwright.core.errors import ConfigError
from netwright.data.images.chosen_form import ImageConfig, choose_form
from netwright.data.images.decoding import ImageHeader


def header(height: int, width: int, *, is_grey: bool = False, frames: bool = False) -> ImageHeader:
    return ImageHeader(height=height, width=width, is_grey=is_grey, has_frames=frames)


def test_images_of_one_size_keep_it_and_others_get_the_usual_one() -> None:
    form, notes = choose_form([header(4, 6), header(4, 6)], ImageConfig())
    assert form.shape == (3, 4, 6) and notes == ["every image is 4 x 6, RGB"]
    form, notes = choose_form([header(4, 6), header(9, 2)], ImageConfig())
    assert form.shape == (3, 224, 224) and "4 x 6 to 9 x 2 are resized" in notes[0]
    assert choose_form([header(513, 9)], ImageConfig())[0].shape == (3, 224, 224)
    assert choose_form([header(4, 6)], ImageConfig(size=(8, 9)))[0].shape == (3, 8, 9)
    assert choose_form([header(4, 6)], ImageConfig(size=(8,)))[0].shape == (3, 8, 8)


def test_grey_images_stay_grey_and_frames_are_told() -> None:
    grey = header(4, 4, is_grey=True, frames=True)
    form, notes = choose_form([grey], ImageConfig())
    assert form.mode == "L" and "1 files have several frames" in notes[1]
    assert choose_form([grey, header(4, 4)], ImageConfig())[0].mode == "RGB"
    assert choose_form([grey], ImageConfig(mode="RGBA"))[0].mode == "RGBA"


def test_three_sizes_are_refused() -> None:
    with pytest.raises(ConfigError, match="size must be height and width, got 3 numbers"):
        choose_form([header(4, 4)], ImageConfig(size=(1, 2, 3)))
