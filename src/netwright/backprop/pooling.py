r"""Pooling worked by hand: each window gives back its gradient by the shares that its values had.

    y_p = sum_j share_pj x_j over the window p,    dR/dx_j = sum_p share_pj delta_p

An average gives all values of a window the share 1 / k^2. A maximum gives the share 1 to the first
of the largest values and 0 to the others: the argmax gets it all. Where windows overlap, the
gradients add.

Shapes: B batch, C channels, I x J image, P x Q windows of k x k.
Source: LeCun et al., "Gradient-Based Learning Applied to Document Recognition" (1998); Ranzato et
al., "Unsupervised Learning of Invariant Feature Hierarchies" (2007).
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.core.checks import check_shape
from netwright.core.errors import ConfigError
from netwright.layers.convolution.unfolded_convolution import output_size, windows


class Grid(NamedTuple):
    """Where the windows lie: k, the places from one to the next, and the padding at each end."""

    kernel_size: int
    stride: int
    padding: int


class PoolKept(NamedTuple):
    """What the backward pass needs.

    Args:
        shares: of each value in its window, (B, C, k^2, P, Q).
        image: (I, J).
        grid: where the windows lie.
    """

    shares: Tensor
    image: tuple[int, int]
    grid: Grid


def max_pool_forward(
    x: Tensor, kernel_size: int, *, stride: int | None = None, padding: int = 0
) -> tuple[Tensor, PoolKept]:
    """The largest value of each window, (B, C, I, J) -> (B, C, P, Q).

    Args:
        x: (B, C, I, J).
        kernel_size: k.
        stride: places from one window to the next; k where None.
        padding: places at each end that hold minus infinity, at most k / 2.
    """
    grid = Grid(kernel_size, kernel_size if stride is None else stride, padding)
    seen = _seen(x, grid, surround=-math.inf)
    largest = seen.max(dim=2, keepdim=True)
    shares = torch.zeros_like(seen).scatter(2, largest.indices, 1.0)
    return largest.values.squeeze(2), PoolKept(shares, (x.shape[2], x.shape[3]), grid)


def average_pool_forward(
    x: Tensor, kernel_size: int, *, stride: int | None = None, padding: int = 0
) -> tuple[Tensor, PoolKept]:
    """The mean of each window, (B, C, I, J) -> (B, C, P, Q).

    Args:
        x: (B, C, I, J).
        kernel_size: k.
        stride: places from one window to the next; k where None.
        padding: places at each end that hold zero and are counted, at most k / 2.
    """
    grid = Grid(kernel_size, kernel_size if stride is None else stride, padding)
    seen = _seen(x, grid, surround=0.0)
    shares = torch.full_like(seen, 1 / kernel_size**2)
    return seen.mean(dim=2), PoolKept(shares, (x.shape[2], x.shape[3]), grid)


def pool_backward(kept: PoolKept, delta: Tensor) -> Tensor:
    """dR/dx (B, C, I, J) from delta = dR/dy, (B, C, P, Q), for both kinds."""
    batch, channels, _, *places = kept.shares.shape
    check_shape("delta", delta, batch, channels, *places)
    given_back = kept.shares * delta.unsqueeze(2)
    # `fold` adds up what all windows give back to a pixel, and cuts the padding off.
    columns = given_back.reshape(batch, -1, math.prod(places))
    kernel_size, stride, padding = kept.grid
    return F.fold(columns, kept.image, kernel_size, stride=stride, padding=padding)


def _seen(x: Tensor, grid: Grid, surround: float) -> Tensor:
    """The values of each window, (B, C, I, J) -> (B, C, k^2, P, Q)."""
    check_shape("x", x, "B", "C", "I", "J")
    kernel_size, stride, padding = grid
    if 2 * padding > kernel_size:
        raise ConfigError(f"padding must be at most half of {kernel_size}, got {padding}")
    for size in x.shape[2:]:
        output_size(size, kernel_size, 2 * padding, stride)  # refuses what does not fit
    padded = F.pad(x, [padding] * 4, value=surround)
    return windows(padded, (kernel_size, kernel_size), stride).flatten(4).movedim(4, 2)
