"""Which targets count, and how much: the weights of classes, and targets that are left out.

    mean = sum_b w_b l_b / sum_b w_b,    w_b the weight of the class of b, 0 where it is left out

so that the mean is that of torch's `weight` and `ignore_index`; where nothing counts it is NaN, as
torch's is.

Shapes: B batch, C classes.
"""

import torch
from torch import Tensor

from netwright.losses.loss import Reduction, reduce

IGNORE_INDEX = -100  # torch's


def known_classes(targets: Tensor, ignore_index: int) -> Tensor:
    """The targets, with class 0 where they are left out: a class that can be looked up."""
    return targets.masked_fill(targets == ignore_index, 0)


def target_weights(
    targets: Tensor, class_weights: Tensor | None, ignore_index: int, like: Tensor
) -> Tensor:
    """How much each target counts, in the shape of the targets and the type of `like`."""
    counts = (targets != ignore_index).type_as(like)
    if class_weights is None:
        return counts
    return counts * class_weights.to(like)[known_classes(targets, ignore_index)]


def reduce_weighted(losses: Tensor, weights: Tensor, reduction: Reduction) -> Tensor:
    """Losses (B,) times weights (B,), their sum, or the sum over that of the weights."""
    if reduction == "mean":
        return (losses * weights).sum() / weights.sum()
    return reduce(losses * weights, reduction)


def label_loss(
    each: Tensor,
    targets: Tensor,
    reduction: Reduction,
    class_weights: Tensor | None,
    ignore_index: int | None,
) -> Tensor:
    """The mean over labels of their losses (B, C), of those that count; (B, C) twice -> (B,).

    Args:
        each: the loss of every label.
        targets: 1 for yes, 0 for no.
        reduction: one loss an example, their mean or their sum.
        class_weights: how much each label counts (C,); the mean is over labels, not over weights.
        ignore_index: the target that does not count; None: all count.
    """
    if class_weights is not None:
        each = each * class_weights.to(each)
    if ignore_index is None:
        return reduce(each.mean(dim=1), reduction)
    counts = targets != ignore_index
    sums = torch.where(counts, each, 0).sum(dim=1)
    return reduce(sums / counts.sum(dim=1).clamp_min(1), reduction)
