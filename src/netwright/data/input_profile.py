"""What one pass over the inputs tells: the mean and spread of each feature, constants, extremes.

Stretches of rows are merged, so that inputs need not fit in memory. With n_a rows seen and n_b
more (or the sums of their weights: a weight of 2 is a row twice, of 0 a row that is not there),
w = n_b / (n_a + n_b) and d = mean_b - mean_a:

    mean = mean_a + w d
    var  = (1 - w) var_a + w var_b + w (1 - w) d^2

Shapes: N examples, F numbers of one input, flattened.
Source: Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample
variances" (1979).
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from netwright.core.checks import check_finite
from netwright.data.raw_arrays import to_floats
from netwright.data.sparse_rows import SparseRows

STRETCH = 2**22  # numbers that are looked at together


@dataclass(frozen=True, kw_only=True)
class FeatureProfile:
    """How features are spread.

    Args:
        mean: of each feature (F,), float64.
        scale: its standard deviation (F,), float64; 1 for a constant.
        constant: whether it has one value only (F,).
        low: its smallest value (F,), float64.
        high: its largest value (F,), float64.
    """

    mean: Tensor
    scale: Tensor
    constant: Tensor
    low: Tensor
    high: Tensor


def stretches(
    name: str,
    values: Tensor | NDArray[Any] | SparseRows,
    rows: Tensor | None = None,
    *,
    watch: Callable[[memoryview], object] | None = None,
) -> Iterator[Tensor]:
    """All values as floats, a stretch of rows after the other; what is not finite is refused.

    Args:
        name: what refusals call the values.
        values: floats in memory that are known to be finite, or an array that may be mapped.
        rows: of these alone something is given, in the order of the values; by default of all.
        watch: is shown the bytes of every stretch of an array: a file is then read once only.
    """
    wanted = torch.ones(len(values), dtype=torch.bool)
    if rows is not None:
        wanted.zero_()[rows] = True
    size = max(1, STRETCH // max(1, math.prod(values.shape[1:])))
    for start in range(0, len(values), size):
        part = values[start : start + size]
        if not isinstance(part, Tensor):
            part = np.ascontiguousarray(part)
            if watch is not None:
                watch(part.data)
            part = to_floats(f"{name}[{start}:{start + len(part)}]", part)
        chosen = part[wanted[start : start + size]]
        if len(chosen):
            yield chosen


def measure_features(parts: Iterable[Tensor], weights: Tensor | None = None) -> FeatureProfile:
    """The profile of features that come in stretches (n, F).

    Args:
        parts: the stretches.
        weights: how much each row counts (N,), in the order in which the rows come; some must be
            positive.
    """
    total, start = 0.0, 0
    for part in parts:
        values, amounts = part.double(), None
        if weights is not None:
            amounts = weights[start : start + len(values)].double()
            start += len(values)
            values, amounts = values[amounts > 0], amounts[amounts > 0]
            if not len(values):
                continue
        if not total:
            first = values[0]
            mean, variance = torch.zeros_like(first), torch.zeros_like(first)
            low = high = first
        count = len(values) if amounts is None else float(amounts.sum())
        total += count
        weight = count / total  # 1 for the first stretch: the merge is then exact
        own_mean, own_variance = _moments(values, amounts)
        step = own_mean - mean
        spread = weight * own_variance + weight * (1 - weight) * step * step
        variance = (1 - weight) * variance + spread
        mean = mean + weight * step
        low, high = torch.minimum(low, values.amin(dim=0)), torch.maximum(high, values.amax(dim=0))
    scale = variance.sqrt()
    check_finite("the mean of the training inputs", mean)
    check_finite("the scale of the training inputs", scale)
    # Rounding can give a constant a spread of 1e-17; dividing by that would make noise of it.
    constant = (low == high) | (scale == 0)
    return FeatureProfile(
        mean=mean.where(~constant, first),
        scale=scale.where(~constant, 1.0),
        constant=low == high,
        low=low,
        high=high,
    )


def _moments(values: Tensor, amounts: Tensor | None) -> tuple[Tensor, Tensor]:
    """Mean and variance (F,) of rows (n, F) that count so much (n,)."""
    if amounts is None:
        return values.mean(dim=0), values.var(dim=0, correction=0)
    shares = amounts / amounts.sum()
    mean = shares @ values
    return mean, shares @ (values - mean).square()


def training_weights(weights: Tensor | None, rows: Tensor, steps: int = 1) -> Tensor | None:
    """What `measure_features` needs of the weights (N,) where these rows are looked at.

    Args:
        weights: of all rows; such as `check_data` refuses are left to it.
        rows: the training rows; they come in the order of the values.
        steps: of a series, each of which counts as its row.
    """
    if weights is None:
        return None
    own = weights[rows.sort().values]
    is_refused = bool((own < 0).any()) or not bool(own.any())
    return None if is_refused else own.repeat_interleave(steps)


def measure_largest(parts: Iterable[Tensor]) -> tuple[float, float]:
    """The largest number of all stretches, and the largest magnitude."""
    largest, magnitude = -math.inf, 0.0
    for part in parts:
        largest = max(largest, float(part.max()))
        magnitude = max(magnitude, float(part.abs().max()))
    return largest, magnitude
