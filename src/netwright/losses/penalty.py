r"""Penalties on weights, a term of the loss or a step of its own.

    L1        lambda sum |w|
    L2        lambda / 2 sum w^2
    elastic   both

A gradient step on |w| jumps to and fro around 0; the proximal step, soft-thresholding, ends there:

    prox(w) = sign(w) max(|w| - eta lambda, 0)

Source: Hoerl and Kennard (1970); Tibshirani (1996); Zou and Hastie (2005); Parikh and Boyd,
"Proximal Algorithms" (2014), section 6.5.2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

Penalized = Literal["all", "weights"]


@dataclass(frozen=True, kw_only=True)
class Penalty:
    """A penalty on one group of parameters; groups have penalties of their own.

    Args:
        parameters: what is to be small.
        l1: lambda of the sum of absolute values.
        l2: lambda of half the sum of squares.
    """

    parameters: Sequence[Tensor]
    l1: float = 0.0
    l2: float = 0.0

    def __call__(self) -> Tensor:
        """The penalty, a number."""
        total = torch.zeros((), device=self.parameters[0].device)
        for weight in self.parameters:
            if self.l1:
                total = total + self.l1 * weight.abs().sum()
            if self.l2:
                total = total + self.l2 / 2 * _reals(weight).square().sum()
        return total


def _reals(weight: Tensor) -> Tensor:
    """Complex numbers as pairs of reals, whose squares add up to theirs."""
    return torch.view_as_real(weight) if weight.is_complex() else weight


@torch.no_grad()
def add_l2_slope(weights: Sequence[Tensor], l2: float) -> None:
    """Add lambda w, the gradient of lambda / 2 w^2, to the gradients of the weights."""
    gradients = []
    for weight in weights:
        if weight.grad is None:
            weight.grad = torch.zeros_like(weight)
        gradients.append(weight.grad)
    torch._foreach_add_(gradients, list(weights), alpha=l2)


def penalized(model: nn.Module, which: Penalized) -> list[nn.Parameter]:
    """The learned parameters of a model: all, or matrices and kernels without biases and gains."""
    learned = [parameter for parameter in model.parameters() if parameter.requires_grad]
    return learned if which == "all" else [weight for weight in learned if weight.ndim >= 2]


@torch.no_grad()
def soft_threshold(weights: Sequence[Tensor], amount: float) -> None:
    """sign(w) max(|w| - amount, 0), in place: what is smaller than the amount becomes 0."""
    weights = list(weights)
    # w - clamp(w, -amount, amount) is the same in two passes over the memory.
    kept = torch._foreach_clamp_max(torch._foreach_clamp_min(weights, -amount), amount)
    torch._foreach_sub_(weights, kept)
