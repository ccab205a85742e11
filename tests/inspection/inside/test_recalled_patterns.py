"""Recalled patterns: the pictures, the count, and the frame of one that did not come back."""

import pytest
import torch

from netwright.core.errors import ShapeError
from netwright.inspection.inside.recalled_patterns import measure_recalled_patterns
from tests.inspection.drawn import check_sound, words_on


def images(count: int) -> torch.Tensor:
    return torch.rand(count, 1, 5, 4, generator=torch.Generator().manual_seed(0)).round()


def test_the_first_are_shown_and_all_are_counted() -> None:
    stored, right = images(10), torch.arange(10) % 2 == 0
    view = measure_recalled_patterns(
        stored, 1 - stored, stored, right, num_shown=3, disturbance="all bits flipped"
    )
    assert view.num_recalled == 5 and view.num_tried == 10
    assert view.is_right == (True, False, True)
    assert len(view.stored) == 3
    assert view.stored[0][0] == tuple(int(255 * bit) for bit in stored[0, 0, 0])
    assert view.disturbed[0][0] == tuple(255 - pixel for pixel in view.stored[0][0])
    assert "with all bits flipped" in view.caption
    assert "Of 10 patterns that were tried 5 came back (50.0 %)" in view.caption
    assert {"stored", "disturbed", "recalled"} <= set(words_on(view))
    check_sound(view)


def test_one_pattern_and_colour_give_a_sound_figure() -> None:
    stored = torch.rand(1, 3, 6, 6, generator=torch.Generator().manual_seed(0))
    right = torch.tensor([False])
    check_sound(
        measure_recalled_patterns(stored, stored, stored, right, num_shown=8, disturbance="noise")
    )


def test_refusals() -> None:
    stored, right = images(2), torch.tensor([True, True])
    with pytest.raises(ShapeError, match=r"^disturbed must have shape \(2, 1, 5, 4\), got"):
        measure_recalled_patterns(
            stored, images(1), stored, right, num_shown=2, disturbance="noise"
        )
    with pytest.raises(ShapeError, match=r"^stored must not be empty, got shape \(0, 1, 5, 4\)$"):
        none = images(0)
        measure_recalled_patterns(none, none, none, right[:0], num_shown=2, disturbance="noise")
