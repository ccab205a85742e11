"""Pooling by hand: autograd over windows, strides and padding; who gets the gradient of a tie."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.backprop.pooling import (
    PoolKept,
    average_pool_forward,
    max_pool_forward,
    pool_backward,
)
from netwright.core.errors import ConfigError, ShapeError
from tests.backprop.references import assert_equal, autograd_gradients, numbers
from tests.repetition import for_each

KINDS: dict[str, tuple[Callable[..., tuple[Tensor, PoolKept]], Callable[..., Tensor]]] = {
    "max": (max_pool_forward, F.max_pool2d),
    "average": (average_pool_forward, F.avg_pool2d),
}


def test_the_argmax_gets_it_all() -> None:
    x = torch.tensor([[[[1.0, 5.0, 2.0], [3.0, 4.0, 6.0]]]])
    y, kept = max_pool_forward(x, 2, stride=1)
    assert y.tolist() == [[[[5, 6]]]]
    found = pool_backward(kept, torch.tensor([[[[1.0, 10.0]]]]))
    assert found.tolist() == [[[[0, 1, 0], [0, 0, 10]]]]


def test_an_average_shares_and_overlaps_add() -> None:
    y, kept = average_pool_forward(torch.arange(6.0).view(1, 1, 2, 3), 2, stride=1)
    assert y.tolist() == [[[[2, 3]]]]
    found = pool_backward(kept, torch.tensor([[[[4.0, 8.0]]]]))
    assert found.tolist() == [[[[1, 3, 2], [1, 3, 2]]]]


@for_each("kind", KINDS)
@for_each("padding", [0, 1])
@for_each("stride", [None, 1, 3])
@for_each("kernel_size", [2, 3])
def test_gradients_are_those_of_autograd(
    kernel_size: int, stride: int | None, padding: int, kind: str
) -> None:
    forward, torch_pool = KINDS[kind]
    x = numbers(2, 3, 7, 6).round()  # many ties
    y, kept = forward(x, kernel_size, stride=stride, padding=padding)
    assert_equal(y, torch_pool(x, kernel_size, stride, padding))
    delta = numbers(*y.shape, seed=1)
    (expected,) = autograd_gradients(
        lambda x: torch_pool(x, kernel_size, stride, padding), [x], delta
    )
    assert_equal(pool_backward(kept, delta), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_moved_and_not_made(kind: str) -> None:
    y, kept = KINDS[kind][0](numbers(1, 2, 6, 6), 3, stride=1)
    delta = numbers(*y.shape, seed=1)
    assert_equal(pool_backward(kept, delta).sum(), delta.sum(), 1e-12)


def test_what_does_not_fit_is_refused() -> None:
    image = torch.zeros(1, 1, 4, 4)
    with pytest.raises(ConfigError, match=r"^padding must be at most half of 2, got 2$"):
        max_pool_forward(image, 2, padding=2)
    sentence = r"^a kernel of 5 must fit into the padded size, got 4 \+ 0$"
    with pytest.raises(ShapeError, match=sentence):
        average_pool_forward(image, 5)
    _, kept = max_pool_forward(image, 2)
    with pytest.raises(
        ShapeError, match=r"^delta must have shape \(1, 1, 2, 2\), got \(1, 1, 4\)$"
    ):
        pool_backward(kept, torch.zeros(1, 1, 4))
