"""The two-layer exercise: all four blocks of gradients, for every output unit."""

from dataclasses import asdict, replace
from functools import partial

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.backprop.output_deltas import IDENTITY_SQUARED_ERROR, OutputUnit
from netwright.backprop.two_layer import TwoLayer, two_layer_backward, two_layer_forward
from netwright.core.errors import ShapeError
from tests.backprop.references import UNITS, assert_equal, autograd_gradients, differences, numbers
from tests.repetition import for_each

X, Y = numbers(5, 3), F.one_hot(torch.tensor([0, 1, 1, 0, 1])).double()
WEIGHTS = TwoLayer(
    w0=numbers(4, seed=1), w=numbers(4, 3, seed=2), beta0=numbers(2, seed=3), beta=numbers(2, 4)
)
BLOCKS = ("w0", "w", "beta0", "beta")


def total_loss(weights: TwoLayer, unit: OutputUnit) -> Tensor:
    return unit.loss(two_layer_forward(X, weights)[0], Y).sum()


def loss_with(block: str, unit: OutputUnit, values: Tensor) -> Tensor:
    """The loss where one block of the weights is another."""
    return total_loss(replace(WEIGHTS, **{block: values}), unit)


def gradients(unit: OutputUnit, x: Tensor = X, y: Tensor = Y) -> TwoLayer:
    o, kept = two_layer_forward(x, WEIGHTS)
    return two_layer_backward(kept, unit.delta(unit.output(o), y))


@for_each("name", UNITS)
def test_all_blocks_are_those_of_autograd(name: str) -> None:
    found = gradients(UNITS[name])
    expected = autograd_gradients(
        lambda *blocks: total_loss(TwoLayer(**dict(zip(BLOCKS, blocks, strict=True))), UNITS[name]),
        [getattr(WEIGHTS, block) for block in BLOCKS],
    )
    for block, theirs in zip(BLOCKS, expected, strict=True):
        assert_equal(getattr(found, block), theirs)


@pytest.mark.covers("two-layer-gradients")
@for_each("name", UNITS)
def test_all_blocks_are_differences_and_sums_over_the_examples(name: str) -> None:
    found, unit = gradients(UNITS[name]), UNITS[name]
    alone = [gradients(unit, X[i : i + 1], Y[i : i + 1]) for i in range(len(X))]
    for block in BLOCKS:
        ours = getattr(found, block)
        slopes = differences(partial(loss_with, block, unit), getattr(WEIGHTS, block))
        assert_equal(ours, slopes, 1e-8)
        assert_equal(ours, torch.stack([getattr(one, block) for one in alone]).sum(dim=0))


def test_a_case_by_hand() -> None:
    # a = 0, so A = 1/2 and sigma' = 1/4; o = 1 + 4/2 = 3, delta = 3 - 1 = 2, s = 1/4 * 4 * 2 = 2.
    given = {"w0": [-2.0], "w": [[1.0, 0.0]], "beta0": [1.0], "beta": [[4.0]]}
    weights = TwoLayer(**{block: torch.tensor(values) for block, values in given.items()})
    o, kept = two_layer_forward(torch.tensor([[2.0, 5.0]]), weights)
    assert o.tolist() == [[3]]
    found = two_layer_backward(kept, IDENTITY_SQUARED_ERROR.delta(o, torch.tensor([[1.0]])))
    assert {block: values.tolist() for block, values in asdict(found).items()} == {
        "w0": [2],
        "w": [[4, 10]],
        "beta0": [2],
        "beta": [[1]],
    }


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"^beta must have shape \(K, 4\), got \(2, 3\)$"):
        replace(WEIGHTS, beta=numbers(2, 3))
    with pytest.raises(ShapeError, match=r"^x must have shape \(B, 3\), got \(5, 2\)$"):
        two_layer_forward(numbers(5, 2), WEIGHTS)
    _, kept = two_layer_forward(X, WEIGHTS)
    with pytest.raises(ShapeError, match=r"^delta must have shape \(5, 2\), got \(5, 1\)$"):
        two_layer_backward(kept, numbers(5, 1))
