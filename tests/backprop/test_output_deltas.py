"""Where the backward pass begins: differences of each loss, and what the deltas do at the ends."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.backprop.output_deltas import (
    SIGMOID_CROSS_ENTROPY,
    SIGMOID_SQUARED_ERROR,
    SOFTMAX_CROSS_ENTROPY,
    OutputUnit,
)
from netwright.core.errors import ShapeError
from tests.backprop.references import UNITS, assert_equal, autograd_gradients, differences, numbers
from tests.repetition import for_each


def targets(batch: int = 4, outputs: int = 3) -> Tensor:
    """Chances that sum to 1, which every unit can be asked for."""
    return numbers(batch, outputs, seed=9).softmax(dim=1)


def torch_loss(name: str, o: Tensor, y: Tensor) -> Tensor:
    """The same loss in torch's own functions, summed over the batch."""
    match name:
        case "identity, squared error":
            return F.mse_loss(o, y, reduction="sum") / 2
        case "sigmoid, squared error":
            return F.mse_loss(o.sigmoid(), y, reduction="sum") / 2
        case "sigmoid, cross-entropy":
            return F.binary_cross_entropy_with_logits(o, y, reduction="sum")
        case _:
            return F.cross_entropy(o, y, reduction="sum")


@for_each("name", UNITS)
def test_a_loss_and_its_delta_are_those_of_torch(name: str) -> None:
    unit, o, y = UNITS[name], 3 * numbers(4, 3), targets()
    assert_equal(unit.loss(o, y).sum(), torch_loss(name, o, y))
    (expected,) = autograd_gradients(lambda o: torch_loss(name, o, y), [o])
    assert_equal(unit.delta(unit.output(o), y), expected)


def assert_delta_is_the_slope(unit: OutputUnit, o: Tensor, y: Tensor) -> None:
    slopes = differences(lambda o: unit.loss(o, y).sum(), o)
    assert_equal(unit.delta(unit.output(o), y), slopes, 1e-8)


@pytest.mark.covers("sigmoid-output-gradients")
def test_a_sure_and_wrong_sigmoid_learns_from_cross_entropy_alone() -> None:
    o, y = 2 * numbers(6, 1), numbers(6, 1, seed=1).gt(0).double()
    assert_delta_is_the_slope(SIGMOID_SQUARED_ERROR, o, y)
    assert_delta_is_the_slope(SIGMOID_CROSS_ENTROPY, o, y)
    f, y = torch.tensor([[0.999]], dtype=torch.float64), torch.zeros(1, 1)
    ratio = SIGMOID_CROSS_ENTROPY.delta(f, y) / SIGMOID_SQUARED_ERROR.delta(f, y)
    assert float(ratio) == pytest.approx(1 / (0.999 * 0.001))  # 1001


@pytest.mark.covers("softmax-output-gradients")
def test_the_deltas_of_a_softmax_sum_to_zero() -> None:
    o, y = 2 * numbers(5, 4), F.one_hot(torch.arange(5) % 4).double()
    assert_delta_is_the_slope(SOFTMAX_CROSS_ENTROPY, o, y)
    f = SOFTMAX_CROSS_ENTROPY.output(o)
    assert_equal(SOFTMAX_CROSS_ENTROPY.delta(f, y).sum(dim=1), torch.zeros(5).double(), 1e-14)


@for_each("name", UNITS)
def test_the_delta_of_a_mean_over_the_batch_is_divided_by_its_size(name: str) -> None:
    unit, o, y = UNITS[name], numbers(4, 3), targets()
    (expected,) = autograd_gradients(lambda o: torch_loss(name, o, y) / 4, [o])
    assert_equal(unit.delta(unit.output(o), y) / 4, expected)


@pytest.mark.parametrize("unit", [SIGMOID_CROSS_ENTROPY, SOFTMAX_CROSS_ENTROPY])
def test_a_cross_entropy_is_finite_where_the_output_is_rounded_to_zero(unit: OutputUnit) -> None:
    o, y = torch.tensor([[200.0, -200.0]]), torch.tensor([[0.0, 1.0]])
    assert unit.output(o)[0, 1] == 0
    assert unit.loss(o, y).item() == 400
    assert unit.delta(unit.output(o), y).tolist() == [[1, -1]]


@for_each("name", UNITS)
def test_a_target_of_another_shape_is_refused(name: str) -> None:
    sentence = r"^y must have shape \(4, 1\), got \(4,\)$"
    with pytest.raises(ShapeError, match=sentence):
        UNITS[name].delta(torch.zeros(4, 1), torch.zeros(4))
    with pytest.raises(ShapeError, match=sentence):
        UNITS[name].loss(torch.zeros(4, 1), torch.zeros(4))
