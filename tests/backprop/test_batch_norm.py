"""Batch normalisation by hand: autograd in both modes, and what the loss cannot feel."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.backprop.batch_norm import Statistics, batch_norm_backward, batch_norm_forward
from netwright.core.errors import ShapeError
from tests.backprop.references import assert_equal, autograd_gradients, numbers
from tests.repetition import for_each

SHAPES = [(4, 3), (2, 3, 5), (2, 3, 4, 2), (1, 3, 2)]
RUNNING = Statistics(numbers(3, seed=7), numbers(3, seed=8).square())


@for_each("running", [None, RUNNING], ids=["training", "evaluation"])
@for_each("shape", SHAPES)
def test_gradients_are_those_of_autograd(
    shape: tuple[int, ...], running: Statistics | None
) -> None:
    def torch_norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        mean, variance = running or (None, None)
        return F.batch_norm(x, mean, variance, weight, bias, training=running is None)

    parts = (2 + 3 * numbers(*shape), numbers(3, seed=1), numbers(3, seed=2))
    delta = numbers(*shape, seed=3)
    y, kept = batch_norm_forward(*parts, running=running)
    assert_equal(y, torch_norm(*parts))
    found = batch_norm_backward(kept, delta)
    expected = autograd_gradients(torch_norm, parts, delta)
    for ours, theirs in zip((found.x, found.weight, found.bias), expected, strict=True):
        assert_equal(ours, theirs)


def test_a_case_by_hand() -> None:
    # Values 0 and 2 have mean 1 and variance 1: they become -1 and 1.
    x, one, zero = torch.tensor([[0.0], [2.0]]), torch.ones(1), torch.zeros(1)
    y, kept = batch_norm_forward(x, 3 * one, zero, eps=0.0)
    assert y.tolist() == [[-3], [3]]
    found = batch_norm_backward(kept, torch.tensor([[1.0], [0.0]]))
    assert found.weight.tolist() == [-1]
    assert found.bias.tolist() == [1]
    assert found.x.tolist() == [[0], [0]]  # two values are always -1 and 1, wherever they lie


def test_the_loss_does_not_feel_shifts_and_scales_of_a_channel() -> None:
    x, delta = numbers(6, 3), numbers(6, 3, seed=1)
    ones = torch.ones(3).double()
    _, kept = batch_norm_forward(x, ones, ones, eps=0.0)
    found = batch_norm_backward(kept, delta).x
    nothing = torch.zeros(3).double()
    assert_equal(found.sum(dim=0), nothing, 1e-12)
    assert_equal((found * x).sum(dim=0), nothing, 1e-12)


def test_with_eps_the_loss_feels_scales_as_much_as_eps_is_of_the_variance() -> None:
    x, delta, eps = 1e-2 * numbers(6, 3), numbers(6, 3, seed=1), 1e-5
    weight = numbers(3, seed=2)
    _, kept = batch_norm_forward(x, weight, weight, eps=eps)
    found = batch_norm_backward(kept, delta)
    assert_equal(found.x.sum(dim=0), torch.zeros(3).double())
    share = eps / (x.var(dim=0, correction=0) + eps)
    along = (found.x * kept.normalized).sum(dim=0)
    assert_equal(along, kept.scale * found.weight * share)
    assert along.abs().min() > 1


def test_what_does_not_fit_is_refused() -> None:
    one = torch.ones(3)
    with pytest.raises(
        ShapeError, match=r"^x must have shape \(B, C\) or \(B, C, \.\.\.\), got \(3,\)$"
    ):
        batch_norm_forward(one, one, one)
    sentence = r"^x must have more than one value a channel to normalise by, got \(1, 3\)$"
    with pytest.raises(ShapeError, match=sentence):
        batch_norm_forward(torch.zeros(1, 3), one, one)
    with pytest.raises(ShapeError, match=r"^variance must have shape \(3\), got \(2,\)$"):
        batch_norm_forward(
            torch.zeros(1, 3), one, one, running=Statistics(torch.ones(3), torch.ones(2))
        )
    _, kept = batch_norm_forward(torch.zeros(2, 3), one, one)
    with pytest.raises(ShapeError, match=r"^delta must have shape \(2, 3\), got \(2, 1\)$"):
        batch_norm_backward(kept, torch.zeros(2, 1))
