"""A histogram as plain numbers: edges that fit any values, and how much lies between them.

Shapes: N values, E edges, E - 1 bins.
"""

import math

import numpy as np
import torch
from torch import Tensor

FEWEST_BINS, MOST_BINS = 5, 31


def histogram_edges(values: Tensor, num_values: int) -> tuple[float, ...]:
    """Evenly spaced edges (E,) from the least to the greatest value; a constant is centred.

    Args:
        values: all that will be counted, (N,).
        num_values: how many are counted together; about the root of it is the number of bins.
    """
    # An odd number, so that a constant is the middle of the middle bin.
    bins = min(max(math.isqrt(num_values) | 1, FEWEST_BINS), MOST_BINS)
    low, high = (float(value) for value in values.detach().cpu().double().aminmax())
    if low == high:
        pad = max(abs(low) / 1_000, 0.5)
        low, high = low - pad, high + pad
    return tuple(np.linspace(low, high, bins + 1).tolist())


def histogram(
    values: Tensor, edges: tuple[float, ...], weights: Tensor | None = None
) -> tuple[float, ...]:
    """How many values (N,), or how much weight, lies in each bin (E - 1,)."""
    amounts = torch.ones_like(values) if weights is None else weights
    counts, _ = np.histogram(
        values.detach().cpu().double().numpy(),
        bins=np.array(edges),
        weights=amounts.detach().cpu().double().numpy(),
    )
    return tuple(counts.tolist())
