"""Normal scores of targets: as far below 0 as so many training targets lie below.

    w(y) = Phi^-1(share of the training targets below y, half of its equals counted)

Straight lines between knots, level beyond the first and the last: what goes back through the curve
lies in the range of the training targets.

Shapes: N rows, K reals, M knots.
Source: van der Waerden, "Order tests for the two-sample problem and their power" (1952).
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from netwright.core.errors import DataError

TOGETHER = 2**14  # rows for which all knots are looked at


class NormalScores(NamedTuple):
    """The knots of each real (K, M), rising, and their scores; the last may be repeated."""

    knots: Tensor
    scores: Tensor


def stacked_scores(curves: Sequence[tuple[Sequence[float], Sequence[float]]]) -> NormalScores:
    """Knots and scores of each real, filled up to one length with their last."""
    most = max(len(knots) for knots, _ in curves)

    def stack(rows: Sequence[Sequence[float]]) -> Tensor:
        return torch.tensor([[*row, *[row[-1]] * (most - len(row))] for row in rows])

    return NormalScores(stack([one for one, _ in curves]), stack([one for _, one in curves]))


def check_scores(found: NormalScores, outputs: int) -> None:
    """Refuse what no training gives."""
    shapes_fit = found.knots.shape == found.scores.shape and found.knots.dim() == 2
    rises = all(bool((part.diff(dim=-1) >= 0).all()) for part in found)
    if not shapes_fit or len(found.knots) != outputs or not rises:
        raise DataError(f"normal scores must be rising knots and scores of {outputs} reals")


def bend(values: Tensor, at: Tensor, of: Tensor) -> Tensor:
    """What straight lines from (at, of) to (at, of) give; a sum of ramps, which any export knows.

        of_1 + sum over m of slope_m min(max(x - at_m, 0), at_m+1 - at_m)

    Args:
        values: (N, K).
        at: where the lines meet (K, M).
        of: what they give there (K, M).
    """
    steps = at.diff(dim=1)
    slopes = torch.where(steps > 0, of.diff(dim=1) / steps.clamp_min(1e-30), 0.0)
    ramps = (values[..., None] - at[:, :-1]).clamp_min(0).minimum(steps)
    bent: Tensor = of[:, 0] + (ramps * slopes).sum(dim=-1)
    return bent


def bend_all(values: Tensor, at: Tensor, of: Tensor) -> Tensor:
    """The same for many rows, some at a time."""
    return torch.cat([bend(some, at, of) for some in torch.split(values, TOGETHER)])
