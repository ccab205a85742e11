r"""The threshold that is best on some rows: above which probability a row is called positive.

    F_beta = (1 + beta^2) TP / ((1 + beta^2) TP + beta^2 FN + FP)     the largest
    cost   = c FN + FP                                                the smallest

Candidates lie half-way between neighbouring probabilities, so that none of them is on an edge. Of
equally good ones the nearest to one half is taken.

Shapes: N rows, P thresholds.
Source: van Rijsbergen, "Information Retrieval" (1979), chapter 7; Elkan, "The Foundations of
Cost-Sensitive Learning" (2001).
"""

import re
from dataclasses import dataclass

import torch
from torch import Tensor

from netwright.core.errors import ConfigError, DataError
from netwright.metrics.labels import THRESHOLD

RULE = re.compile(r"f(\d+(?:\.\d+)?)|cost=(\d+(?:\.\d+)?)")
MOST = 1e6  # beta and cost: beyond it nothing is gained but rounding


@dataclass(frozen=True, kw_only=True)
class ThresholdRule:
    """What a threshold is to make best: F-beta, or the cost of mistakes.

    Args:
        name: as it is typed, f2 or cost=10.
        beta: how many times as much recall counts as precision; None: costs decide.
        cost: of a positive that is missed, where a false alarm costs 1; None: F-beta decides.
    """

    name: str
    beta: float | None = None
    cost: float | None = None

    def values(self, hits: Tensor, missed: Tensor, alarms: Tensor) -> Tensor:
        """How good each threshold is (P,), more is better, by what is found, missed and wrong."""
        if self.cost is not None:
            return -(self.cost * missed + alarms)
        square = (self.beta or 0.0) ** 2
        found = (1 + square) * hits
        whole = found + square * missed + alarms
        return torch.where(whole > 0, found / whole.clamp_min(1e-300), 0.0)

    def written(self, value: float, rows: float) -> str:
        """A value as a person reads it."""
        if self.cost is not None:
            return f"a cost of {-value / rows:.4g} per row"
        return f"F{self.beta:g} {value:.4g}"


def read_rule(text: str) -> ThresholdRule:
    """The rule of "f1", "f0.5" or "cost=10"."""
    match = RULE.fullmatch(text.strip().lower()) if isinstance(text, str) else None
    number = float(match[1] or match[2]) if match else 0.0
    if match is None or not 0 < number <= MOST:
        raise ConfigError(
            f"threshold must be like f1, f2 or f0.5, or like cost=10: a missed positive costs 10 "
            f"times a false alarm; got {text!r}"
        )
    if match[1]:
        return ThresholdRule(name=match[0], beta=number)
    return ThresholdRule(name=match[0], cost=number)


@dataclass(frozen=True, kw_only=True)
class ChosenThreshold:
    """The best threshold, and what it is worth beside one half.

    Args:
        value: a row is called above it.
        best: what the rule makes of it.
        usual: what the rule makes of one half.
    """

    value: float
    best: float
    usual: float


def choose_threshold(
    probabilities: Tensor, is_positive: Tensor, rule: ThresholdRule, weights: Tensor | None = None
) -> ChosenThreshold:
    """The threshold that is best for these rows.

    Args:
        probabilities: of the positive class (N,).
        is_positive: which rows are (N,).
        rule: what best means.
        weights: how much each row counts (N,).
    """
    counted = torch.ones(len(probabilities)) if weights is None else weights.detach().cpu()
    scores, order = probabilities.detach().cpu().double().sort(descending=True)
    positive, counted = is_positive.cpu()[order], counted.double()[order]
    positives = torch.where(positive, counted, 0.0)
    if not 0 < float(positives.sum()) < float(counted.sum()):
        raise DataError("a threshold is chosen on rows of both classes, there is one only")
    is_last = torch.cat((scores[1:] != scores[:-1], torch.tensor([True])))  # of equal scores
    zero = torch.zeros(1, dtype=torch.float64)
    hits = torch.cat((zero, positives.cumsum(0)[is_last]))  # called: none, then one more at a time
    called = torch.cat((zero, counted.cumsum(0)[is_last]))
    edges = torch.cat((torch.ones(1).double(), scores[is_last], zero))  # 1, scores, 0
    candidates = (edges[:-1] + edges[1:]) / 2
    worth = rule.values(hits, hits[-1] - hits, called - hits)
    # Rows of probability 0 are above no threshold; neither are those next to it in float64.
    is_below = torch.cat((torch.tensor([True]), candidates[1:] < edges[1:-1]))
    best = worth[is_below].max()
    places = ((worth == best) & is_below).nonzero().flatten()
    place = places[(candidates[places] - THRESHOLD).abs().argmin()]
    at_half = int((scores[is_last] > THRESHOLD).sum())
    return ChosenThreshold(
        value=float(candidates[place]), best=float(best), usual=float(worth[at_half])
    )
