"""Pictures: which inputs are images, their pixels by hand, and where each is drawn."""

import pytest
import torch

from netwright.core.errors import ShapeError
from netwright.inspection.drawing.figure_style import new_figure, styled
from netwright.inspection.drawing.pictures import (
    COLUMNS,
    MOST_PIXELS,
    PICTURE,
    ROW_HEIGHT,
    as_images,
    draw_pictures,
    num_rows,
    pixels_of,
)
from tests.repetition import for_each


@pytest.mark.parametrize("shape", [(1, 4, 5), (3, 4, 5)])
def test_images_are_images(shape: tuple[int, ...]) -> None:
    inputs = torch.rand(2, *shape)
    assert as_images(inputs, None) is inputs


@for_each("shape", [(64,), (8, 8), (2, 8, 8), (3, 2, 4, 4)])
def test_anything_else_is_not(shape: tuple[int, ...]) -> None:
    assert as_images(torch.rand(2, *shape), None) is None


@pytest.mark.parametrize("shape", [(8, 8), (1, 8, 8)])
def test_features_that_are_pixels_become_images_row_by_row(shape: tuple[int, ...]) -> None:
    images = as_images(torch.arange(128.0).reshape(2, 64), shape)
    assert images is not None
    assert images.shape == (2, 1, 8, 8)
    assert images[1, 0, 2, 3] == 64 + 2 * 8 + 3


@pytest.mark.parametrize("shape", [(8, 9), (4, 4, 4), (64,)])
def test_a_shape_that_does_not_fit_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ShapeError, match=r"must be \(I, J\), .* of the 64 numbers in an input$"):
        as_images(torch.ones(2, 64), shape)


def test_grey_levels_by_hand() -> None:
    image = torch.tensor([[[-1.0, 0.0], [1.0, 3.0]]])
    assert pixels_of(image) == ((0, 64), (128, 255))


def test_colours_stand_together() -> None:
    image = torch.tensor([[[0.0, 1.0]], [[0.5, 0.0]], [[1.0, 0.0]]])  # red, green, blue of 1 x 2
    assert pixels_of(image) == (((0, 128, 255), (255, 0, 0)),)


def test_a_blank_image_is_black() -> None:
    assert pixels_of(torch.full((1, 1, 2), 7.0)) == ((0, 0),)


def test_large_images_are_shown_smaller_in_their_proportions() -> None:
    image = torch.zeros(1, 50, 200)
    image[:, :, 100:] = 1.0
    pixels = pixels_of(image)
    assert (len(pixels), len(pixels[0])) == (MOST_PIXELS // 4, MOST_PIXELS)
    assert (pixels[3][0], pixels[3][-1]) == (0, 255)
    assert len(pixels_of(torch.rand(3, 1, 1000))) == 1


def test_pictures_stand_in_rows_upright_with_their_words_below() -> None:
    tall, wide = ((0,), (255,)), ((0, 255),)
    with styled():
        axes = new_figure(6, 4).subplots()
        draw_pictures(axes, [(tall, "first")] * COLUMNS + [(wide, "seventh")])
    extents = [tuple(image.get_extent()) for image in axes.images]
    assert extents[0] == pytest.approx((0.5 - PICTURE / 4, 0.5 + PICTURE / 4, PICTURE, 0.0))
    low = ROW_HEIGHT + PICTURE
    assert extents[6] == pytest.approx(
        (0.5 - PICTURE / 2, 0.5 + PICTURE / 2, low, low - PICTURE / 2)
    )
    assert axes.images[0].get_array().tolist() == [[0], [255]]  # type: ignore[union-attr]
    assert [words.get_text() for words in axes.texts][-2:] == ["first", "seventh"]
    assert axes.texts[6].get_position() == pytest.approx((0.5, low + 0.04))
    assert (axes.get_xlim(), axes.get_ylim()) == ((0, COLUMNS), (2 * ROW_HEIGHT, 0))


def test_rows_are_as_many_as_needed() -> None:
    assert [num_rows(count) for count in (1, 6, 7, 12)] == [1, 1, 2, 2]
