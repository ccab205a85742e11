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
from netwright.losses.loss import Loss, Reduction, reduce
from netwright.losses.segmentation import pixel_cross_entropy
from netwright.losses.sequence import token_cross_entropy


def cross_entropy(
    outputs: Tensor, targets: Tensor, reduction: Reduction = "none", smoothing: float = 0.0
) -> Tensor:
    """-sum_c t_c log softmax(z)_c; (B, C) and (B,) or (B, C) -> (B,).

    Args:
        outputs: logits z.
        targets: class indices, or soft targets: the probability of each class.
        reduction: one loss an example, or their mean.
        smoothing: eps in t <- (1 - eps) t + eps / C.
    """
    return F.cross_entropy(outputs, targets, reduction=reduction, label_smoothing=smoothing)


def negative_log_likelihood(
    outputs: Tensor, targets: Tensor, reduction: Reduction = "none"
) -> Tensor:
    """-log p_y from log-probabilities, (B, C) and (B,) -> (B,)."""
    return F.nll_loss(outputs, targets, reduction=reduction)


def margins(outputs: Tensor, targets: Tensor) -> Tensor:
    """z_y - max_{j != y} z_j, (B, C) and (B,) -> (B,)."""
    if targets.ndim != 1:
        raise DataError(f"a margin is that of one class, got targets {tuple(targets.shape)}")
    right = outputs.gather(1, targets[:, None])
    others = outputs.scatter(1, targets[:, None], -torch.inf)
    return right[:, 0] - others.amax(dim=1)


def hinge(outputs: Tensor, targets: Tensor, reduction: Reduction = "none") -> Tensor:
    """max(0, 1 - margin), (B, C) and (B,) -> (B,)."""
    return reduce((1 - margins(outputs, targets)).clamp(min=0), reduction)


def perceptron(outputs: Tensor, targets: Tensor, reduction: Reduction = "none") -> Tensor:
    """max(0, -margin): nothing is learned from what is right; (B, C) and (B,) -> (B,)."""
    return reduce((-margins(outputs, targets)).clamp(min=0), reduction)


def binary_cross_entropy(outputs: Tensor, targets: Tensor, reduction: Reduction = "none") -> Tensor:
    """-t log p - (1 - t) log(1 - p), p = sigmoid(z), the mean over labels; (B, C) twice -> (B,)."""
    each = F.binary_cross_entropy_with_logits(outputs, targets.type_as(outputs), reduction="none")
    return reduce(each.mean(dim=1), reduction)


def label_hinge(outputs: Tensor, targets: Tensor, reduction: Reduction = "none") -> Tensor:
    """max(0, 1 - s z), s = +1 for yes and -1 for no, the mean over labels; (B, C) twice -> (B,)."""
    return reduce((1 - _signs(targets, outputs) * outputs).clamp(min=0).mean(dim=1), reduction)


def label_perceptron(outputs: Tensor, targets: Tensor, reduction: Reduction = "none") -> Tensor:
    """max(0, -s z), s = +1 for yes and -1 for no, the mean over labels; (B, C) twice -> (B,)."""
    return reduce((-_signs(targets, outputs) * outputs).clamp(min=0).mean(dim=1), reduction)


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
