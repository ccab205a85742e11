"""The noise band: what lies inside is counted, and its line ends where the examples end."""

import pytest
import torch

from netwright.core.errors import ShapeError
from netwright.inspection.predictions.noise_band import measure_noise_band


def test_examples_within_two_deviations_are_counted() -> None:
    x = torch.tensor([2.0, 0.0, 1.0, 3.0])
    means = 2 * x
    y = means + torch.tensor([0.0, 1.9, -2.1, 2.0])
    view = measure_noise_band(x, y, means, 1.0, ("a", "b"))
    assert view.inside == 0.75
    assert view.ends == ((0.0, 0.0), (3.0, 6.0))
    assert len(view.points) == view.num_examples == 4
    assert "75.0 %" in view.caption
    assert view.image("svg").startswith(b"<?xml")


def test_of_many_examples_some_are_drawn_and_all_are_counted() -> None:
    x = torch.linspace(0, 1, 5_000)
    view = measure_noise_band(x, x + 3, x, 1.0, ("a", "b"))
    assert (len(view.points), view.num_examples, view.inside) == (2_000, 5_000, 0.0)


def test_lengths_that_differ_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"^y must have shape \(3\), got \(2,\)$"):
        measure_noise_band(torch.zeros(3), torch.zeros(2), torch.zeros(3), 1.0, ("a", "b"))
