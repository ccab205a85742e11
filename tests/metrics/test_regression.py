"""Regression: errors by hand, parity with scikit-learn, constants, and shapes that must not mix."""

import math
import re
from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as reference
from torch import Tensor

from netwright.core.errors import DataError, NetwrightError, ShapeError
from netwright.metrics.regression import mae, mse, r2, rmse
from tests.repetition import for_each

Case = tuple[Tensor, Tensor, Tensor | None]
MEASURES = (mse, rmse, mae, r2)


@st.composite
def fitted(draw: st.DrawFn) -> Case:
    """Whole numbers, (N,) or (N, K), so that constant targets occur; perhaps weights."""
    num_samples, num_outputs = draw(st.integers(2, 15)), draw(st.integers(0, 3))
    shape = (num_samples, num_outputs) if num_outputs else (num_samples,)
    seed = torch.Generator().manual_seed(draw(st.integers(0, 2**20)))
    spread = draw(st.integers(1, 6))
    targets = torch.randint(0, spread, shape, generator=seed).double()
    predicted = targets + torch.randint(0, draw(st.integers(1, 4)), shape, generator=seed)
    weights = torch.randint(1, 5, (num_samples,), generator=seed) / 2
    return predicted, targets, weights if draw(st.booleans()) else None


def best_constant(measure: Callable[[Tensor, Tensor], float], targets: Tensor) -> float:
    """The constant of least error on a grid of hundredths."""
    grid = torch.arange(-200, 1201) / 100
    errors = torch.tensor([measure(value.expand_as(targets), targets) for value in grid])
    return grid[int(errors.argmin())].item()


def test_errors_by_hand() -> None:
    # Errors 1, 0 and -2: squares 1, 0 and 4. The targets' mean is 3, their squares off it 4, 1, 9.
    predicted, targets = torch.tensor([2.0, 2.0, 4.0]), torch.tensor([1.0, 2.0, 6.0])
    assert mse(predicted, targets) == pytest.approx(5 / 3)
    assert rmse(predicted, targets) == pytest.approx(math.sqrt(5 / 3))
    assert mae(predicted, targets) == pytest.approx(1.0)
    assert r2(predicted, targets) == pytest.approx(1 - 5 / 14)


def test_weights_by_hand() -> None:
    # Errors 1 and 3 weighted 3 : 1: squares (3 + 9) / 4, sizes (3 + 3) / 4. The targets' mean is
    # 1, and their squares off it (3 * 1 + 9) / 4.
    predicted, targets = torch.tensor([1.0, 7.0]), torch.tensor([0.0, 4.0])
    weights = torch.tensor([3.0, 1.0])
    assert mse(predicted, targets, weights) == 3.0
    assert rmse(predicted, targets, weights) == math.sqrt(3)
    assert mae(predicted, targets, weights) == 1.5
    assert r2(predicted, targets, weights) == 1 - 3 / 3


def test_outputs_are_averaged_after_their_roots() -> None:
    # Errors 3 in the one output and 1 in the other: roots 3 and 1, not the root of 5.
    targets = torch.tensor([[0.0, 0.0], [2.0, 2.0]])
    predicted = targets + torch.tensor([3.0, -1.0])
    assert rmse(predicted, targets) == 2.0
    assert mse(predicted, targets) == 5.0
    assert mae(predicted, targets) == 2.0
    assert r2(predicted, targets) == ((1 - 9) + (1 - 1)) / 2


@pytest.mark.covers("mse-loss")
def test_mean_squared_error_is_that_of_numpy_and_the_mean_is_its_best_constant() -> None:
    assert mse(torch.tensor([1, 2]), torch.tensor([1, 4])) == 2.0
    seed = torch.Generator().manual_seed(0)
    predicted, targets = torch.randn(2, 50, generator=seed).double()
    by_numpy = np.mean((predicted.numpy() - targets.numpy()) ** 2)
    assert mse(predicted, targets) == pytest.approx(float(by_numpy), rel=1e-12)
    assert best_constant(mse, torch.tensor([1.0, 2.0, 6.0])) == 3.0


@pytest.mark.covers("mae-loss")
def test_best_constant_of_the_absolute_error_is_the_median() -> None:
    targets = torch.tensor([0.0, 0.0, 10.0])
    assert best_constant(mae, targets) == 0.0
    assert best_constant(mse, targets) == pytest.approx(3.33)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(fitted())
def test_values_are_those_of_scikit_learn(case: Case) -> None:
    predicted, targets, weights = case
    for ours, theirs in (
        (mse, reference.mean_squared_error),
        (rmse, reference.root_mean_squared_error),
        (mae, reference.mean_absolute_error),
        (r2, reference.r2_score),
    ):
        expected = theirs(targets, predicted, sample_weight=weights)
        assert ours(predicted, targets, weights) == pytest.approx(expected, abs=1e-12)


def test_mean_as_prediction_explains_nothing() -> None:
    targets = torch.tensor([1.0, 4.0, 7.0])
    assert r2(torch.full((3,), 4.0), targets) == 0.0
    assert r2(targets, targets) == 1.0


def test_a_constant_target_is_hit_or_missed() -> None:
    # The float64 mean of three times 0.1 is not 0.1: without care this would be a huge number.
    constant = torch.full((3,), 0.1, dtype=torch.float64)
    assert r2(constant, constant) == 1.0
    assert r2(constant + 1e-3, constant) == 0.0
    both = torch.stack((constant, torch.tensor([1.0, 2.0, 3.0])), dim=1)
    assert r2(both + torch.tensor([1.0, 0.0]), both) == (0 + 1) / 2


def test_a_sample_without_weight_does_not_make_a_target_vary() -> None:
    targets = torch.tensor([0.1, 0.1, 0.1, 5.0], dtype=torch.float64)
    weights = torch.tensor([1.0, 1.0, 1.0, 0.0])
    assert r2(targets + 1, targets, weights) == 0.0


def test_one_sample_has_no_variance_to_explain() -> None:
    assert math.isnan(r2(torch.tensor([1.0]), torch.tensor([1.0])))
    assert math.isnan(r2(torch.zeros(2), torch.ones(2), torch.tensor([1.0, 0.0])))


def test_a_model_in_training_can_be_measured() -> None:
    predicted, targets = torch.ones(3, requires_grad=True), torch.tensor([0.0, 1.0, 2.0])
    assert [measure(predicted, targets) for measure in (mse, mae)] == pytest.approx([2 / 3, 2 / 3])


@for_each("measure", MEASURES, ids=lambda measure: measure.__name__)
@for_each(
    ("predicted", "targets", "error", "sentence"),
    [
        (
            torch.ones(3, 1),
            torch.ones(3),
            ShapeError,
            "predicted and targets must have the same shape, got (3, 1) and (3,)",
        ),
        (
            torch.ones(3),
            torch.ones(3, 1),
            ShapeError,
            "predicted and targets must have the same shape, got (3,) and (3, 1)",
        ),
        (torch.ones(0), torch.ones(0), ShapeError, "predicted must not be empty, got shape (0,)"),
        (
            torch.ones(3, 0),
            torch.ones(3, 0),
            ShapeError,
            "predicted must not be empty, got shape (3, 0)",
        ),
        (
            torch.ones(1, 2, 3),
            torch.ones(1, 2, 3),
            ShapeError,
            "predicted must have shape (N,) or (N, K), got (1, 2, 3)",
        ),
        (
            torch.ones(2),
            torch.ones(2) * 1j,
            DataError,
            "targets must be real numbers, got torch.complex64",
        ),
        (
            torch.tensor([1.0, float("inf")]),
            torch.ones(2),
            DataError,
            "predicted must be finite, got inf at [1] (1 in all)",
        ),
        (
            torch.ones(2),
            torch.tensor([1.0, float("nan")]),
            DataError,
            "targets must be finite, got nan at [1] (1 in all)",
        ),
    ],
)
def test_refuses_in_one_sentence(
    measure: Callable[[Tensor, Tensor], float],
    predicted: Tensor,
    targets: Tensor,
    error: type[NetwrightError],
    sentence: str,
) -> None:
    with pytest.raises(error, match=f"^{re.escape(sentence)}$"):
        measure(predicted, targets)


def test_weights_must_be_one_a_sample() -> None:
    with pytest.raises(ShapeError, match=re.escape("weights must have shape (2), got (2, 1)")):
        mae(torch.ones(2), torch.ones(2), torch.ones(2, 1))
