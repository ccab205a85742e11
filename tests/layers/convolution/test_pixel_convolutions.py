"""Convolutions over pixels in a row: those of the image, and no further than they reach."""

from collections.abc import Callable

import pytest
import torch

from netwright.core.errors import ShapeError
from netwright.core.seeding import seeded
from netwright.layers.convolution.pixel_convolutions import PixelConvolutions
from netwright.testing.layer_contract import LAYER_CHECKS, Build
from tests.repetition import for_each


@for_each("check", LAYER_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_layer_contract(check: Callable[[Build], None]) -> None:
    check(lambda: (PixelConvolutions(3, 2, 1), torch.randn(2, 9, 2)))


def test_it_is_the_convolution_of_the_image() -> None:
    with seeded(0):
        layer, image = PixelConvolutions(4, 3, 2), torch.randn(2, 3, 4, 4)
    wanted = layer.maps(image)  # (B, D, I, I)
    rows = torch.stack([image[:, :, row, column] for row in range(4) for column in range(4)], dim=1)
    found = layer(rows)
    for row in range(4):
        for column in range(4):
            torch.testing.assert_close(found[:, 4 * row + column], wanted[:, :, row, column])


def test_a_pixel_is_seen_by_those_around_it_row_ends_included() -> None:
    with seeded(0):
        layer, x = PixelConvolutions(5, 2, 1).double(), torch.randn(1, 25, 2).double()
    changed = x.clone()
    changed[0, 9] += 1  # row 1, column 4, the last of its row
    moved = (layer(changed) != layer(x)).any(dim=2)[0].nonzero()[:, 0].tolist()
    assert moved and set(moved) <= {3, 4, 8, 9, 13, 14}  # not 10, which only comes next


def test_other_numbers_of_pixels_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"pixels must have shape \(B, 9, D\), got \(1, 8, 2\)"):
        PixelConvolutions(3, 2, 1)(torch.zeros(1, 8, 2))
