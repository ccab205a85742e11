"""What hand-worked gradients are held against: autograd, and differences to both sides."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from netwright.backprop.output_deltas import (
    IDENTITY_SQUARED_ERROR,
    SIGMOID_CROSS_ENTROPY,
    SIGMOID_SQUARED_ERROR,
    SOFTMAX_CROSS_ENTROPY,
)

UNITS = {
    "identity, squared error": IDENTITY_SQUARED_ERROR,
    "sigmoid, squared error": SIGMOID_SQUARED_ERROR,
    "sigmoid, cross-entropy": SIGMOID_CROSS_ENTROPY,
    "softmax, cross-entropy": SOFTMAX_CROSS_ENTROPY,
}
STEP = 1e-6  # of the differences: in float64 they are right to about nine places


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def assert_equal(one: Tensor, other: Tensor, tolerance: float = 1e-10) -> None:
    torch.testing.assert_close(one, other, rtol=0, atol=tolerance)


def autograd_gradients(
    function: Callable[..., Tensor], inputs: Sequence[Tensor], delta: Tensor | None = None
) -> tuple[Tensor, ...]:
    """The gradients of <function(*inputs), delta> by each input; delta is 1 for a number."""
    leaves = [value.detach().clone().requires_grad_() for value in inputs]
    return torch.autograd.grad(function(*leaves), leaves, delta)


def differences(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """The gradient of a number by each entry of x, by a step to both sides."""
    slopes = torch.empty_like(x)
    for place in range(x.numel()):
        step = torch.zeros_like(x)
        step.view(-1)[place] = STEP
        slopes.view(-1)[place] = (function(x + step) - function(x - step)) / (2 * STEP)
    return slopes
