"""Images are told by their shape."""

import numpy as np
import pytest

from netwright.data.image_layout import in_layout, to_channels_first
from tests.repetition import for_each


@pytest.mark.parametrize("shape", [(2, 28, 28, 1), (2, 8, 9, 3), (2, 5, 5, 4)])
def test_channels_that_stand_last_are_brought_to_the_front(shape: tuple[int, ...]) -> None:
    images = np.arange(np.prod(shape)).reshape(shape)
    first, note = to_channels_first(images)
    assert first.shape == (shape[0], shape[3], shape[1], shape[2])
    assert (first[:, 0] == images[..., 0]).all()
    assert first.base is not None  # a view
    assert str(shape) in note


@for_each(
    "shape",
    [
        *[(2, 3, 8, 8), (2, 1, 28, 28), (2, 3, 8, 4), (2, 4, 9, 3)],  # channels first
        *[(2, 8, 4, 4), (2, 16, 1, 1), (2, 2, 4, 4), (2, 5, 3, 3)],  # maps of many channels
        *[(2, 8, 8, 2), (2, 8, 8, 5), (2, 8, 3), (2, 4)],
    ],
)
def test_all_others_stay_as_they_are(shape: tuple[int, ...]) -> None:
    array = np.zeros(shape)
    same, note = to_channels_first(array)
    assert same is array
    assert not note


def test_bytes_in_three_dimensions_are_grey_images() -> None:
    first, note = to_channels_first(np.zeros((5, 8, 8), np.uint8))
    assert first.shape == (5, 1, 8, 8)
    assert "grey" in note
    assert to_channels_first(np.zeros((5, 8, 8), np.float32))[0].ndim == 3  # a series


def test_new_images_come_in_any_layout() -> None:
    assert in_layout(np.zeros((5, 8, 9, 3)), (3, 8, 9)).shape == (5, 3, 8, 9)
    assert in_layout(np.zeros((5, 3, 8, 9)), (3, 8, 9)).shape == (5, 3, 8, 9)
    assert in_layout(np.zeros((5, 8, 9)), (1, 8, 9)).shape == (5, 1, 8, 9)
    for wrong in ((5, 9, 8, 3), (5, 8, 9), (5, 7)):
        assert in_layout(np.zeros(wrong), (3, 8, 9)).shape == wrong
    assert in_layout(np.zeros((5, 9)), (9,)).shape == (5, 9)
    square = np.arange(27).reshape(1, 3, 3, 3)
    assert (in_layout(square, (3, 3, 3)) == square).all()
