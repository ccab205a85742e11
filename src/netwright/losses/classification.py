"""Losses of classes: cross-entropy, and those that look at the margin alone.

The margin of an example is z_y - max_{j != y} z_j, how far the right logit is ahead.

Shapes: B batch, C classes; targets are class indices (B,), or for cross-entropy also
probabilities (B, C).
Source: Good, "Rational Decisions" (1952); Rosenblatt (1958); Crammer and Singer (2001).
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.core.card import Card
from netwright.core.errors import DataError
from netwright.losses.counted_targets import (
    IGNORE_INDEX,
    known_classes,
    label_loss,
    reduce_weighted,
    target_weights,
)
from netwright.losses.loss import Loss, Reduction
from netwright.losses.segmentation import pixel_cross_entropy
from netwright.losses.sequence import token_cross_entropy


def cross_entropy(
    outputs: Tensor,
    targets: Tensor,
    reduction: Reduction = "none",
    smoothing: float = 0.0,
    *,
    class_weights: Tensor | None = None,
    ignore_index: int = IGNORE_INDEX,
) -> Tensor:
    """-sum_c t_c log softmax(z)_c; (B, C) and (B,) or (B, C) -> (B,).

    Args:
        outputs: logits z.
        targets: class indices, or soft targets: the probability of each class.
        reduction: one loss an example, their mean or their sum.
        smoothing: eps in t <- (1 - eps) t + eps / C.
        class_weights: how much each class counts (C,); the mean is divided by the weights of the
            rows, as torch's.
        ignore_index: the target that does not count.
    """
    return F.cross_entropy(
        outputs,
        targets,
        weight=class_weights,
        reduction=reduction,
        label_smoothing=smoothing,
        ignore_index=ignore_index,
    )


def negative_log_likelihood(
    outputs: Tensor,
    targets: Tensor,
    reduction: Reduction = "none",
    *,
    class_weights: Tensor | None = None,
    ignore_index: int = IGNORE_INDEX,
) -> Tensor:
    """-log p_y from log-probabilities, (B, C) and (B,) -> (B,); weights as in `cross_entropy`."""
    return F.nll_loss(
        outputs, targets, weight=class_weights, reduction=reduction, ignore_index=ignore_index
    )


def margins(outputs: Tensor, targets: Tensor) -> Tensor:
    """z_y - max_{j != y} z_j, (B, C) and (B,) -> (B,)."""
    if targets.ndim != 1:
        raise DataError(f"a margin is that of one class, got targets {tuple(targets.shape)}")
    right = outputs.gather(1, targets[:, None])
    others = outputs.scatter(1, targets[:, None], -torch.inf)
    return right[:, 0] - others.amax(dim=1)


def hinge(
    outputs: Tensor,
    targets: Tensor,
    reduction: Reduction = "none",
    *,
    class_weights: Tensor | None = None,
    ignore_index: int = IGNORE_INDEX,
) -> Tensor:
    """max(0, 1 - margin), (B, C) and (B,) -> (B,); weights as in `cross_entropy`."""
    ahead = margins(outputs, known_classes(targets, ignore_index))
    weights = target_weights(targets, class_weights, ignore_index, like=outputs)
    return reduce_weighted((1 - ahead).clamp(min=0), weights, reduction)


def perceptron(
    outputs: Tensor,
    targets: Tensor,
    reduction: Reduction = "none",
    *,
    class_weights: Tensor | None = None,
    ignore_index: int = IGNORE_INDEX,
) -> Tensor:
    """max(0, -margin): nothing is learned from what is right; (B, C) and (B,) -> (B,).

    The weights are those of `cross_entropy`.
    """
    ahead = margins(outputs, known_classes(targets, ignore_index))
    weights = target_weights(targets, class_weights, ignore_index, like=outputs)
    return reduce_weighted((-ahead).clamp(min=0), weights, reduction)


def binary_cross_entropy(
    outputs: Tensor,
    targets: Tensor,
    reduction: Reduction = "none",
    *,
    class_weights: Tensor | None = None,
    ignore_index: int | None = None,
    pos_weight: Tensor | None = None,
) -> Tensor:
    """-q t log p - (1 - t) log(1 - p), p = sigmoid(z), the mean over labels; (B, C) twice -> (B,).

    Args:
        outputs: logits z.
        targets: t, 1 for yes and 0 for no.
        reduction: one loss an example, their mean or their sum.
        class_weights: how much each label counts (C,), torch's `weight`.
        ignore_index: the target that does not count; None: all count.
        pos_weight: q, how much more a yes of each label counts than a no (C,).
    """
    each = F.binary_cross_entropy_with_logits(
        outputs, targets.type_as(outputs), reduction="none", pos_weight=pos_weight
    )
    return label_loss(each, targets, reduction, class_weights, ignore_index)


def label_hinge(
    outputs: Tensor,
    targets: Tensor,
    reduction: Reduction = "none",
    *,
    class_weights: Tensor | None = None,
    ignore_index: int | None = None,
) -> Tensor:
    """max(0, 1 - s z), s = +1 for yes and -1 for no, the mean over labels; (B, C) twice -> (B,)."""
    each = (1 - _signs(targets, outputs) * outputs).clamp(min=0)
    return label_loss(each, targets, reduction, class_weights, ignore_index)


def label_perceptron(
    outputs: Tensor,
    targets: Tensor,
    reduction: Reduction = "none",
    *,
    class_weights: Tensor | None = None,
    ignore_index: int | None = None,
) -> Tensor:
    """max(0, -s z), s = +1 for yes and -1 for no, the mean over labels; (B, C) twice -> (B,)."""
    each = (-_signs(targets, outputs) * outputs).clamp(min=0)
    return label_loss(each, targets, reduction, class_weights, ignore_index)


def _signs(targets: Tensor, outputs: Tensor) -> Tensor:
    return 2 * targets.type_as(outputs) - 1


_LOGITS = {"z": "the logits, (C)", "y": "the right class"}
_SIGN = {"s": "of labels: +1 for yes, -1 for no"}

CROSS_ENTROPY = Loss(
    of={
        "class": cross_entropy,
        "mask": pixel_cross_entropy,
        "tokens": token_cross_entropy,
        "tags": token_cross_entropy,
    },
    card=Card(
        sentence="Minus the log of the probability that the softmax gives the right class; of a "
        "mask the mean over its pixels, of a text over its tokens.",
        formula=r"\ell = -\sum_c t_c \log \frac{e^{z_c}}{\sum_j e^{z_j}}",
        symbols={
            "z": "the logits, (C)",
            "t_c": "1 for the right class; with soft targets, the probability of class c",
        },
        source="Good (1952), Journal of the Royal Statistical Society B 14, 107-114",
    ),
)
NLL = Loss(
    of={"class": negative_log_likelihood},
    card=Card(
        sentence="Cross-entropy for modules that give log-probabilities themselves.",
        formula=r"\ell = -\log p_y",
        symbols={r"\log p": "the output, (C), the log of probabilities", "y": "the right class"},
        source="Fisher (1922), Philosophical Transactions A 222, 309-368",
        misprint="Given logits it falls without end; it takes the logs of probabilities.",
    ),
)
BINARY_CROSS_ENTROPY = Loss(
    of={"labels": binary_cross_entropy},
    card=Card(
        sentence="Binary cross-entropy of each label.",
        formula=r"\ell = -t \log \sigma(z) - (1 - t) \log(1 - \sigma(z))",
        symbols={
            "z": "the logit of a label",
            "t": "1 for yes, 0 for no",
            r"\sigma": "the logistic function",
        },
        source="Cox (1958), Journal of the Royal Statistical Society B 20, 215-242",
    ),
)
HINGE = Loss(
    of={"class": hinge, "labels": label_hinge},
    card=Card(
        sentence="How far the right logit is from a margin of 1; zero beyond it.",
        formula=r"\ell = \max\left(0,\; 1 - z_y + \max_{j \neq y} z_j\right)"
        r" \quad\text{or}\quad \max(0,\; 1 - s z)",
        symbols={**_LOGITS, **_SIGN},
        source="Crammer and Singer (2001), JMLR 2, 265-292",
    ),
)
PERCEPTRON = Loss(
    of={"class": perceptron, "labels": label_perceptron},
    card=Card(
        sentence="How far the right logit is behind; zero for correct predictions.",
        formula=r"\ell = \max\left(0,\; \max_{j \neq y} z_j - z_y\right)"
        r" \quad\text{or}\quad \max(0,\; -s z)",
        symbols={**_LOGITS, **_SIGN},
        source="Rosenblatt (1958), Psychological Review 65, 386-408",
    ),
)
