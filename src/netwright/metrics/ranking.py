"""How well scores put the positives above the negatives, at every threshold at once.

ROC-AUC is the chance that a positive scores above a negative, a tie counting half. Average
precision is the mean, over the positives, of the precision at the threshold that just lets each
in. Both are exact sums over the sorted scores, with equal scores taken together.

Several classes are taken one against the rest, several labels one by one, and the plain mean is
given. A column without a positive or without a negative has no such number and is left out; where
none is left the value is NaN, which callers skip.

Shapes: N samples, C classes or labels; inside, columns are rows: (C, N).
Source: Hanley and McNeil, "The Meaning and Use of the Area under a Receiver Operating
Characteristic (ROC) Curve" (1982); Manning et al., "Introduction to Information Retrieval" (2008),
section 8.4.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.metrics.samples import check_class_samples, check_label_samples, exact_dtype

# Columns are ranked so many numbers at a time: wide enough to be quick, small enough for memory.
NUMBERS_AT_ONCE = 2**22


def roc_auc(scores: Tensor, targets: Tensor, weights: Tensor | None = None) -> float:
    """The chance that a positive scores above a negative; a tie counts half.

    Args:
        scores: (N, C), higher for what is likelier. Of two classes only column 1 is read.
        targets: the true classes, int64 (N,), or labels (N, C) of 0 and 1.
        weights: how much each sample counts, (N,).
    """
    return _mean_over_columns(_roc_auc_of, scores, targets, weights)


def average_precision(scores: Tensor, targets: Tensor, weights: Tensor | None = None) -> float:
    """The area under the steps of the precision-recall curve, without interpolation.

    Args:
        scores: (N, C), higher for what is likelier. Of two classes only column 1 is read.
        targets: the true classes, int64 (N,), or labels (N, C) of 0 and 1.
        weights: how much each sample counts, (N,).
    """
    return _mean_over_columns(_average_precision_of, scores, targets, weights)


class _Ranked(NamedTuple):
    """Columns (C, N) in order of falling score."""

    positive: Tensor  # the weight of each sample where it is positive, else 0
    negative: Tensor  # the weight of each sample where it is negative, else 0
    first: Tensor  # how many samples score higher
    after: Tensor  # how many samples score at least as high


def _roc_auc_of(ranked: _Ranked) -> Tensor:
    """One area a column, (C,), NaN where a side is missing."""
    above = _weight_of_first(ranked.positive, ranked.first)
    above_or_tied = _weight_of_first(ranked.positive, ranked.after)
    won_twice = (ranked.negative * (above + above_or_tied)).sum(dim=1)  # a tie is won once of twice
    pairs = ranked.positive.sum(dim=1) * ranked.negative.sum(dim=1)
    exact = exact_dtype(pairs.device)
    return won_twice.to(exact) / (2 * pairs.to(exact))


def _average_precision_of(ranked: _Ranked) -> Tensor:
    """One mean precision a column, (C,), NaN where a side is missing."""
    exact = exact_dtype(ranked.positive.device)
    hits = _weight_of_first(ranked.positive, ranked.after).to(exact)
    called = hits + _weight_of_first(ranked.negative, ranked.after)
    precision = torch.where(called > 0, hits / called, 0.0)  # nothing called: weights of 0 lead
    positives = ranked.positive.sum(dim=1)
    value = (ranked.positive * precision).sum(dim=1) / positives
    return torch.where(ranked.negative.sum(dim=1) > 0, value, torch.nan)


def _weight_of_first(weight: Tensor, count: Tensor) -> Tensor:
    """The weight of the first `count` samples of each column, (C, N)."""
    return F.pad(weight.cumsum(dim=1), (1, 0)).gather(1, count)


def _mean_over_columns(
    formula: Callable[[_Ranked], Tensor], scores: Tensor, targets: Tensor, weights: Tensor | None
) -> float:
    """The mean of the formula over the columns where it has a value."""
    check = check_class_samples if targets.ndim == 1 else check_label_samples
    check("scores", scores, targets, weights)
    if weights is None:  # whole numbers, so that the sums are exact
        amounts = torch.ones(len(scores), dtype=torch.int64, device=scores.device)
    else:
        amounts = weights.detach().to(scores.device, exact_dtype(scores.device))
    columns = _columns(scores.detach(), targets)
    values = torch.cat([formula(_rank(column, hit, amounts)) for column, hit in columns])
    return values.nanmean().item()


def _columns(scores: Tensor, targets: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """Blocks of columns as rows: scores and whether each sample is positive, (C, N) both."""
    num_samples, num_columns = scores.shape
    of_classes = targets.ndim == 1
    first = 1 if of_classes and num_columns == 2 else 0  # of two classes, class 1 is the positive
    width = max(1, NUMBERS_AT_ONCE // num_samples)
    for start in range(first, num_columns, width):
        stop = min(start + width, num_columns)
        if of_classes:
            positive = targets == torch.arange(start, stop, device=targets.device)[:, None]
        else:
            positive = targets[:, start:stop].T.bool()
        yield scores[:, start:stop].T.contiguous(), positive


def _rank(scores: Tensor, positive: Tensor, amounts: Tensor) -> _Ranked:
    """Sort each column (C, N) by falling score and find the ends of its ties."""
    falling, order = scores.sort(dim=1, descending=True)
    sorted_amounts, sorted_positive = amounts[order], positive.gather(1, order)
    num_samples = scores.shape[1]
    place = torch.arange(num_samples, device=scores.device)
    is_new = F.pad(falling[:, 1:] != falling[:, :-1], (1, 0), value=True)  # a tie starts here
    is_last = F.pad(is_new[:, 1:], (0, 1), value=True)
    ends = torch.where(is_last, place + 1, num_samples).flip(1)
    return _Ranked(
        positive=sorted_amounts * sorted_positive,
        negative=sorted_amounts * ~sorted_positive,
        first=torch.where(is_new, place, 0).cummax(dim=1).values,
        after=ends.cummin(dim=1).values.flip(1),
    )
