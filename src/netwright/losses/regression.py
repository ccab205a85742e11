"""Losses of reals: squared, absolute, and Huber's, which is squared near zero and absolute far off.

Shapes: B batch, K reals; the loss of an example is the mean over its K reals.
Source: Gauss (1809); Laplace (1774); Huber, "Robust Estimation of a Location Parameter" (1964).
"""

from torch import Tensor
from torch.nn import functional as F

from netwright.core.card import Card
from netwright.core.checks import check_positive, check_shape
from netwright.losses.loss import Loss, Reduction, reduce


def squared_error(outputs: Tensor, targets: Tensor, reduction: Reduction = "none") -> Tensor:
    """(y - t)^2, (B, K) and (B, K) -> (B,)."""
    check_shape("the model's output", outputs, *targets.shape)  # never broadcast silently
    return reduce((outputs - targets).square().mean(dim=1), reduction)


def absolute_error(outputs: Tensor, targets: Tensor, reduction: Reduction = "none") -> Tensor:
    """|y - t|, (B, K) and (B, K) -> (B,)."""
    check_shape("the model's output", outputs, *targets.shape)
    return reduce((outputs - targets).abs().mean(dim=1), reduction)


def huber(
    outputs: Tensor, targets: Tensor, reduction: Reduction = "none", *, delta: float = 1.0
) -> Tensor:
    """r^2 / 2 up to |r| = d, then d (|r| - d/2), for r = y - t; (B, K) and (B, K) -> (B,).

    Args:
        outputs: y.
        targets: t.
        reduction: one loss an example, their mean or their sum.
        delta: d, the error from which on it grows linearly.
    """
    check_shape("the model's output", outputs, *targets.shape)
    check_positive("delta", delta)
    each = F.huber_loss(outputs, targets, reduction="none", delta=delta)
    return reduce(each.mean(dim=1), reduction)


_REALS = {
    "y": "the model's output",
    "t": "the target; while training both are in standard deviations of the targets",
}

SQUARED_ERROR = Loss(
    of={"real": squared_error},
    card=Card(
        sentence="The squared error: the likelihood of Gaussian noise, sensitive to outliers.",
        formula=r"\ell = (y - t)^2",
        symbols=_REALS,
        source="Gauss (1809), Theoria motus corporum coelestium",
    ),
)
ABSOLUTE_ERROR = Loss(
    of={"real": absolute_error},
    card=Card(
        sentence="The absolute error: its best constant is the median, robust to outliers.",
        formula=r"\ell = |y - t|",
        symbols=_REALS,
        source="Laplace (1774), Mémoires de l'Académie Royale des Sciences 6, 621-656",
    ),
)
HUBER = Loss(
    of={"real": huber},
    card=Card(
        sentence="Squared for small errors, so smooth; absolute for large ones, so robust.",
        formula=r"\ell = \frac{1}{2} r^2 \;\text{ if } |r| \leq \delta, \quad"
        r"\ell = \delta \left(|r| - \frac{\delta}{2}\right) \;\text{ else}, \qquad r = y - t",
        symbols={
            **_REALS,
            "r": "the error",
            r"\delta": "where the one becomes the other, 1 where `loss_options` does not say",
        },
        source="Huber (1964), Annals of Mathematical Statistics 35, 73-101",
    ),
    options={"delta": check_positive},
)
