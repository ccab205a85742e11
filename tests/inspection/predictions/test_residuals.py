"""Residuals: the numbers by hand, what is drawn, and how much of it."""

import numpy as np
import pytest
import torch

from netwright.core.errors import DataError, ShapeError
from netwright.inspection.predictions.residuals import MOST_OUTPUTS, MOST_POINTS, measure_residuals
from tests.inspection.drawn import HOSTILE, check_sound, words_on


def test_numbers_by_hand() -> None:
    targets, predictions = torch.tensor([[1.0], [2.0], [6.0]]), torch.tensor([[0.0], [2.0], [4.0]])
    (output,) = measure_residuals(targets, predictions, ("price",)).outputs
    assert output.rmse == pytest.approx((5 / 3) ** 0.5)
    assert output.bias == pytest.approx(1.0)
    assert (output.true, output.predicted) == ((1.0, 2.0, 6.0), (0.0, 2.0, 4.0))
    assert (output.edges[0], output.edges[-1]) == (0.0, 2.0)
    assert output.amounts == (1, 0, 1, 0, 1)


def test_a_weight_is_how_often_an_example_counts() -> None:
    targets, predictions = torch.tensor([[1.0], [2.0]]), torch.zeros(2, 1)
    weights = torch.tensor([3.0, 1.0])
    (weighted,) = measure_residuals(targets, predictions, ("y",), weights).outputs
    assert weighted.bias == pytest.approx(5 / 4)
    assert weighted.rmse == pytest.approx((7 / 4) ** 0.5)
    assert (weighted.amounts[0], weighted.amounts[-1]) == (3.0, 1.0)


@pytest.mark.parametrize(
    ("prediction", "words"),
    [(3.0, "1 too low"), (5.0, "1 too high"), (4.0, "neither too low nor too high")],
)
def test_caption_says_to_which_side_predictions_are_off(prediction: float, words: str) -> None:
    view = measure_residuals(torch.tensor([[4.0]]), torch.tensor([[prediction]]), ("price",))
    off = abs(prediction - 4)
    start = f'"price" is off by {off:g} (root mean square), on average {words}. Left:'
    assert view.caption.startswith(start)


def test_the_first_outputs_are_shown_and_the_rest_is_told() -> None:
    values = torch.randn(9, 6, generator=torch.Generator().manual_seed(0))
    view = measure_residuals(values, values + 1, tuple("abcdef"))
    assert [output.name for output in view.outputs] == ["a", "b", "c", "d"]
    assert [output.true for output in view.outputs] == [
        tuple(values[:, place].tolist()) for place in range(MOST_OUTPUTS)
    ]
    assert view.caption.endswith("The first 4 of 6 outputs are shown.")
    assert len(view.plot().axes) == 2 * MOST_OUTPUTS


def test_of_very_many_examples_some_are_drawn_and_all_are_counted() -> None:
    targets = torch.arange(3.0 * MOST_POINTS)[:, None]
    view = measure_residuals(targets, 2 * targets, ("y",))
    (output,) = view.outputs
    assert len(output.true) == MOST_POINTS
    assert output.predicted == tuple(2 * value for value in output.true)
    assert sum(output.amounts) == 3 * MOST_POINTS
    assert view.caption.endswith("Points: 2,000 of 6,000 examples.")
    check_sound(view)


def test_true_lies_across_and_predicted_up_with_the_diagonal() -> None:
    view = measure_residuals(torch.tensor([[1.0], [3.0]]), torch.tensor([[2.0], [7.0]]), ("y",))
    axes = view.plot().axes[0]
    assert np.array(axes.collections[0].get_offsets()).tolist() == [[1.0, 2.0], [3.0, 7.0]]
    assert np.array(axes.lines[0].get_xydata()).tolist() == [[1.0, 1.0], [7.0, 7.0]]


@pytest.mark.slow
def test_hostile_names_and_constants_give_a_sound_figure() -> None:
    constant = torch.ones(5, 3)
    view = measure_residuals(constant, constant, HOSTILE[:3])
    check_sound(view)
    assert {"<script>alert(1)</script>", r"$\frac{", "(empty)"} <= set(words_on(view))


def test_refusals() -> None:
    values = torch.ones(3, 1)
    with pytest.raises(ShapeError, match=r"^targets must have shape \(N, K\), got \(3,\)$"):
        measure_residuals(values[:, 0], values, ("y",))
    with pytest.raises(ShapeError, match=r"^predicted and targets must have the same shape"):
        measure_residuals(values, values[:2], ("y",))
    with pytest.raises(DataError, match=r"^predicted must be finite, got nan at \[1, 0\]"):
        measure_residuals(values, torch.tensor([[0.0], [torch.nan], [0.0]]), ("y",))
    with pytest.raises(DataError, match=r"^target_names must hold 1 names, got 2$"):
        measure_residuals(values, values, ("y", "z"))
