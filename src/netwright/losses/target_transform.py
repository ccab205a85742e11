r"""Curves that real targets go through before they are standardised, for those with long tails.

    log      w(y) = ln y            prices, durations: what is above 0
    log1p    w(y) = ln(1 + y)       counts, which may be 0
    asinh    w(y) = arsinh y        both signs: as ln(2y) far from 0, as y near it
    quantile                        normal scores, by the training targets: `normal_scores.py`

A model learns w(y), and what it says goes back through the curve: predictions and metrics are in
the units of y, the loss is in those of w. Squared errors of w make a model predict the mean of
w(y), whose y lies below the mean of y where the tail is to the right: for ln it is the geometric
mean.

Shapes: N rows, K reals.
Source: Box and Cox, "An Analysis of Transformations" (1964).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

QUANTILE = "quantile"  # which is fitted, where the others are what they are
TransformKind = Literal["log", "log1p", "asinh", "quantile"]


@dataclass(frozen=True)
class TargetTransform:
    """A curve that rises, there and back.

    Args:
        apply: w of targets (N, K).
        undo: the targets of which this is w.
        above: targets must be above it.
        range_words: the same in words.
    """

    apply: Callable[[Tensor], Tensor]
    undo: Callable[[Tensor], Tensor]
    above: float = -float("inf")
    range_words: str = ""


TRANSFORMS: Mapping[str, TargetTransform] = {
    "log": TargetTransform(torch.log, torch.exp, 0.0, "above 0"),
    "log1p": TargetTransform(torch.log1p, torch.expm1, -1.0, "above -1"),
    "asinh": TargetTransform(torch.asinh, torch.sinh),
}
