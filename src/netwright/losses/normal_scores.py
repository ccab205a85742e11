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
from torch.nn import functional

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
    """What straight lines from (at, of) to (at, of) give, in operations that any export knows.

        sum over m of [x in piece m] ((1 - t_m) of_m + t_m of_m+1)
        t_m = min(max(x - at_m, 0), at_m+1 - at_m) / (at_m+1 - at_m)

    One piece alone counts: an outlier among the knots takes no digits from the others.

    Args:
        values: (N, K).
        at: where the lines meet (K, M).
        of: what they give there (K, M).
    """
    x = values[..., None]
    steps = _following(at) - at
    shares = (x - at).clamp_min(0).minimum(steps) / torch.where(steps > 0, steps, 1.0)
    lines = (1 - shares) * of + shares * _following(of)  # (N, K, M)
    begun = (x >= at[:, 1:]).to(values.dtype)
    inside = functional.pad(begun, (1, 0), value=1.0) - functional.pad(begun, (0, 1))
    bent: Tensor = (inside * lines).sum(dim=-1)
    return bent


def _following(part: Tensor) -> Tensor:
    """Of each knot (K, M) the next one, of the last itself."""
    return torch.cat([part[:, 1:], part[:, -1:]], dim=1)


def bend_all(values: Tensor, at: Tensor, of: Tensor) -> Tensor:
    """The same for many rows, some at a time."""
    return torch.cat([bend(some, at, of) for some in torch.split(values, TOGETHER)])
