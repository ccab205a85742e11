"""Filters: the strongest first, each on its own scale, and no more than 81."""

import pytest
import torch

from netwright.core.errors import DataError, ShapeError
from netwright.inspection.inside.filters import MOST_SHOWN, measure_filters
from tests.inspection.drawn import check_sound


def test_strongest_come_first_from_black_to_white() -> None:
    weak, strong = torch.tensor([[0.0, 1.0]]), torch.tensor([[4.0, -4.0]])
    view = measure_filters(torch.stack((weak, strong))[:, None])
    assert view.pictures == (((255, 0),), ((0, 255),))
    assert view.num_units == 2


def test_of_many_81_are_drawn_and_the_figure_is_sound() -> None:
    weights = torch.randn(130, 1, 28, 28, generator=torch.Generator().manual_seed(0))
    view = measure_filters(weights)
    assert len(view.pictures) == MOST_SHOWN
    assert "(81 of 130, the strongest first)" in view.caption
    check_sound(view)


def test_one_filter_in_colour_is_drawn_too() -> None:
    check_sound(measure_filters(torch.rand(1, 3, 4, 6)))


def test_caption_says_whose_they_are_and_what_is_to_be_added() -> None:
    weights = torch.rand(2, 1, 3, 3)
    assert measure_filters(weights).caption.startswith("What the hidden units look for (2, ")
    view = measure_filters(weights, whose="the edges", note="Seen from above.")
    assert view.caption.startswith("What the edges look for (2, ")
    assert view.caption.endswith(" its own scale. Seen from above.")


def test_refusals() -> None:
    with pytest.raises(ShapeError, match=r"^weights must have shape \(U, channels, I, J\), got"):
        measure_filters(torch.zeros(2, 3))
    with pytest.raises(DataError, match=r"^weights must be finite, got nan at \[0, 0, 0, 0\]"):
        measure_filters(torch.full((1, 1, 2, 2), torch.nan))
