r"""Focal loss: cross-entropy that fades out where the right class is already likely.

    \ell = -(1 - p_y)^\gamma \log p_y        gamma = 0 is cross-entropy

With gamma = 2 an example at p_y = 0.9 counts a hundredth of what it would, one at 0.1 nearly all:
what is easy, and there is much of it, no longer drowns what is hard. The other half of the paper's
loss, a weight for each class (its alpha), is `class_weights`.

Shapes: B batch, C classes or labels, I x J pixels, T tokens; the targets are those of the
cross-entropies.
Source: Lin, Goyal, Girshick, He and Dollár, "Focal Loss for Dense Object Detection" (2017).
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.core.card import Card
from netwright.core.checks import check_not_negative
from netwright.core.errors import DataError
from netwright.losses.counted_targets import (
    IGNORE_INDEX,
    known_classes,
    label_loss,
    reduce_weighted,
    target_weights,
)
from netwright.losses.loss import Loss, Reduction, reduce
from netwright.losses.segmentation import pixel_mean

GAMMA = 2.0  # the paper's


def faded(log_chances: Tensor, gamma: float) -> Tensor:
    """-(1 - p)^gamma log p from log p, of any shape."""
    check_not_negative("gamma", gamma)
    # Never exactly 0, where the slope of a root is infinite and 0 times it is NaN.
    doubt = (-torch.expm1(log_chances)).clamp_min(torch.finfo(log_chances.dtype).tiny)
    return -(doubt**gamma) * log_chances


def focal(
    outputs: Tensor,
    targets: Tensor,
    reduction: Reduction = "none",
    *,
    gamma: float = GAMMA,
    class_weights: Tensor | None = None,
    ignore_index: int = IGNORE_INDEX,
) -> Tensor:
    """-(1 - p_y)^gamma log p_y; (B, C) and (B,) -> (B,); weights as in `cross_entropy`."""
    if targets.ndim != 1:
        raise DataError(f"focal loss is of one class, got targets {tuple(targets.shape)}")
    each = faded(_log_chances(outputs, known_classes(targets, ignore_index)), gamma)
    weights = target_weights(targets, class_weights, ignore_index, like=each)
    return reduce_weighted(each, weights, reduction)


def pixel_focal(
    outputs: Tensor,
    targets: Tensor,
    reduction: Reduction = "none",
    *,
    gamma: float = GAMMA,
    class_weights: Tensor | None = None,
    ignore_index: int | None = None,
) -> Tensor:
    """The mean over pixels, (B, C, I, J) and (B, I, J) -> (B,); as `pixel_cross_entropy`."""
    classes = targets.long()
    known = classes if ignore_index is None else known_classes(classes, ignore_index)
    each = faded(_log_chances(outputs, known), gamma)
    if class_weights is not None:
        each = each * class_weights.to(each)[known]
    return reduce(pixel_mean(each, classes, ignore_index), reduction)


def token_focal(
    outputs: Tensor,
    targets: Tensor,
    reduction: Reduction = "none",
    *,
    gamma: float = GAMMA,
    class_weights: Tensor | None = None,
    ignore_index: int = IGNORE_INDEX,
) -> Tensor:
    """The mean over the tokens that count, (B, T, C) and (B, T) -> (B,); 0 where none does."""
    known = known_classes(targets, ignore_index)
    each = faded(_log_chances(outputs.mT, known), gamma)  # (B, T)
    weights = target_weights(targets, class_weights, ignore_index, like=each)
    counted = weights.sum(dim=1).clamp_min(torch.finfo(weights.dtype).tiny)
    return reduce((each * weights).sum(dim=1) / counted, reduction)


def label_focal(
    outputs: Tensor,
    targets: Tensor,
    reduction: Reduction = "none",
    *,
    gamma: float = GAMMA,
    class_weights: Tensor | None = None,
    ignore_index: int | None = None,
) -> Tensor:
    """The mean over labels, p = sigmoid(s z), s = +1 for yes, -1 for no; (B, C) twice -> (B,)."""
    signs = 2 * targets.type_as(outputs) - 1
    each = faded(F.logsigmoid(signs * outputs), gamma)
    return label_loss(each, targets, reduction, class_weights, ignore_index)


def _log_chances(logits: Tensor, classes: Tensor) -> Tensor:
    """Log p_y at each place, (B, C, ...) and (B, ...) -> (B, ...)."""
    return logits.log_softmax(dim=1).gather(1, classes[:, None])[:, 0]


FOCAL = Loss(
    of={
        "class": focal,
        "labels": label_focal,
        "mask": pixel_focal,
        "tokens": token_focal,
        "tags": token_focal,
    },
    card=Card(
        sentence="Cross-entropy that fades out where the right class is already likely, so that "
        "many easy examples do not drown a few hard ones.",
        formula=r"\ell = -(1 - p_y)^\gamma \log p_y",
        symbols={
            "p_y": "the probability of the right class, or of the right answer to a label",
            r"\gamma": "how fast it fades, 2 where `loss_options` does not say; 0 is cross-entropy",
        },
        source="Lin et al. (2017), ICCV, 2980-2988, arXiv 1708.02002",
    ),
    options={"gamma": check_not_negative},
)
