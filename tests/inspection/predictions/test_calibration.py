"""Calibration: the error by hand, parity with scikit-learn, and models that are calibrated."""

import numpy as np
import pytest
import torch
from sklearn.calibration import calibration_curve
from torch import Tensor, nn

from netwright.core.errors import ConfigError, DataError
from netwright.inspection.predictions.calibration import (
    CalibrationBin,
    measure_calibration,
    short_amount,
)
from tests.inspection.drawn import check_sound, words_on
from tests.repetition import for_each


def of_two(chances: list[float]) -> Tensor:
    one = torch.tensor(chances, dtype=torch.float64)
    return torch.stack((1 - one, one), dim=1)


def test_two_classes_by_hand() -> None:
    # (0, 0.5]: 0.2 and 0.4, one of two true; (0.5, 1]: 0.6, 0.8 and 1.0, all true.
    view = measure_calibration(
        torch.tensor([0, 1, 1, 1, 1]), of_two([0.2, 0.4, 0.6, 0.8, 1]), None, 2
    )
    assert view.of == "1"
    low, high = view.bins
    assert vars(low) == pytest.approx(
        {"low": 0, "high": 0.5, "amount": 2, "confidence": 0.3, "frequency": 0.5}
    )
    assert vars(high) == pytest.approx(
        {"low": 0.5, "high": 1, "amount": 3, "confidence": 0.8, "frequency": 1.0}
    )
    assert view.error == pytest.approx((2 * 0.2 + 3 * 0.2) / 5)


def test_more_classes_by_hand() -> None:
    probabilities = torch.tensor([[0.7, 0.2, 0.1], [0.7, 0.2, 0.1], [0.3, 0.3, 0.4]])
    view = measure_calibration(torch.tensor([0, 1, 2]), probabilities.double(), bins=10)
    assert view.of is None
    assert [round(one.confidence, 6) for one in view.bins] == [0.4, 0.7]
    assert [one.frequency for one in view.bins] == [1.0, 0.5]
    assert view.error == pytest.approx((1 * 0.6 + 2 * 0.2) / 3)


def test_ends_belong_to_the_bin_below_and_zero_to_the_first() -> None:
    view = measure_calibration(torch.tensor([0, 0, 1]), of_two([0.0, 0.5, 1.0]), bins=2)
    assert [one.amount for one in view.bins] == [2.0, 1.0]


@for_each("bins", [1, 5, 10, 15])
def test_two_classes_are_those_of_scikit_learn(bins: int) -> None:
    generator = torch.Generator().manual_seed(0)
    chances = torch.rand(300, generator=generator, dtype=torch.float64).square()
    targets = (torch.rand(300, generator=generator) < chances).long()
    view = measure_calibration(targets, torch.stack((1 - chances, chances), 1), bins=bins)
    frequency, confidence = calibration_curve(targets.numpy(), chances.numpy(), n_bins=bins)
    assert [one.frequency for one in view.bins] == pytest.approx(frequency.tolist())
    assert [one.confidence for one in view.bins] == pytest.approx(confidence.tolist())


def test_a_weight_is_how_often_an_example_counts() -> None:
    targets, chances = torch.tensor([0, 1, 1]), of_two([0.32, 0.35, 0.9])
    view = measure_calibration(targets, chances, torch.tensor([2.0, 1.0, 0.0]))
    again = measure_calibration(targets[[0, 0, 1]], chances[[0, 0, 1]])
    assert view.error == pytest.approx(again.error)
    assert len(view.bins) == len(again.bins) == 1
    assert vars(view.bins[0]) == pytest.approx(vars(again.bins[0]))


@pytest.mark.covers("confidence-interpretation")
def test_a_softmax_regression_on_its_own_kind_of_data_is_calibrated() -> None:
    generator = torch.Generator().manual_seed(0)
    inputs = torch.randn(12_000, 2, generator=generator)
    true_logits = inputs @ torch.tensor([[1.5, -1.0, 0.0], [0.0, 1.0, -1.5]])
    targets = true_logits.softmax(dim=1).multinomial(1, generator=generator)[:, 0]
    model = nn.Linear(2, 3)
    nn.init.zeros_(model.weight)
    nn.init.zeros_(model.bias)
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=50)

    def loss() -> Tensor:
        optimizer.zero_grad()
        value = nn.functional.cross_entropy(model(inputs[:6_000]), targets[:6_000])
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    logits = model(inputs[6_000:])
    assert measure_calibration(targets[6_000:], logits.softmax(dim=1)).error < 0.03
    too_sure = measure_calibration(targets[6_000:], (3 * logits).softmax(dim=1))
    assert too_sure.error > 0.1


def test_caption_says_whose_probability_it_is_and_how_far_off() -> None:
    two = measure_calibration(torch.tensor([1, 0]), of_two([0.9, 0.9]))
    assert two.caption.startswith("The probability of class 1, against how often the class is 1;")
    assert "it says 90.0 % and the class is 1 in 50.0 %" in two.caption
    assert "averaged over the examples, is 0.400." in two.caption
    named = measure_calibration(torch.tensor([1, 0]), of_two([0.9, 0.9]), class_names=("No", "Yes"))
    assert named.caption.startswith("The probability of class Yes, against how often the class is")
    three = measure_calibration(torch.tensor([0]), torch.tensor([[1.0, 0.0, 0.0]]))
    assert "The probability of the likeliest class, against how often it is right;" in three.caption


def test_every_bin_shows_how_many_examples_it_holds() -> None:
    chances = of_two([0.05] * 7 + [0.95] * 1_234)
    words = words_on(measure_calibration(torch.zeros(1_241, dtype=torch.int64), chances))
    assert {"7", "1.2k", "probability of class 1", "share of class 1"} <= set(words)


def test_counts_over_narrow_bars_are_short() -> None:
    values = (69, 12.5, 999, 1_069, 18_347, 1_234_567)
    shown = ["69", "12.5", "999", "1.1k", "18k", "1,200k"]
    assert [short_amount(value) for value in values] == shown


def test_bins_are_drawn_at_their_mean_probability() -> None:
    view = measure_calibration(torch.tensor([1, 0, 0]), of_two([0.61, 0.69, 0.2]))
    line = view.plot().axes[0].lines[1]
    assert np.array(line.get_xydata()).tolist() == pytest.approx(
        np.array([[0.2, 0.0], [0.65, 0.5]])
    )


@pytest.mark.parametrize("bins", [1, 10, 50])
def test_constant_predictions_give_a_sound_figure(bins: int) -> None:
    constant = torch.full((6, 3), 1 / 3)
    view = measure_calibration(torch.tensor([0, 1, 2, 0, 1, 2]), constant, bins=bins)
    check_sound(view)
    assert view.error == pytest.approx(0.0, abs=1e-6)


def test_refusals() -> None:
    targets = torch.tensor([0, 1])
    with pytest.raises(ConfigError, match=r"^bins must be positive, got 0$"):
        measure_calibration(targets, of_two([0.1, 0.2]), bins=0)
    with pytest.raises(DataError, match=r"^probabilities must lie in \[0, 1\], got -2$"):
        measure_calibration(targets, of_two([0.1, 3.0]))


def test_bins_are_plain_numbers() -> None:
    view = measure_calibration(torch.tensor([1]), of_two([0.25]), bins=2)
    assert view.bins == (CalibrationBin(low=0.0, high=0.5, amount=1, confidence=0.25, frequency=1),)
