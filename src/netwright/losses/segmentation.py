r"""Losses of masks: cross-entropy pixel by pixel, and the overlap of each class as a whole.

    Dice_c = (2 sum p_c t_c + 1) / (sum p_c + sum t_c + 1)        sums over the pixels of an image

Shapes: B images, C classes, I rows, J columns; outputs are logits (B, C, I, J), targets whole
numbers (B, I, J) of any size, so that masks may be held as bytes.
Source: Long, Shelhamer and Darrell, "Fully Convolutional Networks for Semantic Segmentation"
(2015); Drozdzal, Vorontsov, Chartrand, Kadoury and Pal, "The Importance of Skip Connections in
Biomedical Image Segmentation" (2016); Milletari, Navab and Ahmadi, "V-Net" (2016).
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.core.card import Card
from netwright.losses.counted_targets import known_classes
from netwright.losses.loss import Loss, Reduction, reduce


def pixel_cross_entropy(
    outputs: Tensor,
    targets: Tensor,
    reduction: Reduction = "none",
    smoothing: float = 0.0,
    class_weights: Tensor | None = None,
    *,
    ignore_index: int | None = None,
) -> Tensor:
    """The mean over pixels of w_y times -log p_y; (B, C, I, J) and (B, I, J) -> (B,).

    Args:
        outputs: logits.
        targets: the class of each pixel.
        reduction: one loss an image, their mean or their sum.
        smoothing: eps in t <- (1 - eps) t + eps / C.
        class_weights: how much a pixel of each class counts (C,); the mean is over pixels, not over
            their weights, so that an image of rare classes counts more.
        ignore_index: the class of pixels that do not count, often 255; None: all count.
    """
    classes = targets.long()
    known = classes if ignore_index is None else known_classes(classes, ignore_index)
    losses = F.cross_entropy(outputs, known, reduction="none", label_smoothing=smoothing)
    if class_weights is not None:
        losses = losses * class_weights[known]
    return reduce(pixel_mean(losses, classes, ignore_index), reduction)


def pixel_mean(losses: Tensor, targets: Tensor, ignore_index: int | None) -> Tensor:
    """The mean over the pixels of each image that count, 0 where none does; (B, I, J) -> (B,)."""
    if ignore_index is None:
        return losses.mean(dim=(1, 2))
    counts = targets != ignore_index
    return torch.where(counts, losses, 0).sum(dim=(1, 2)) / counts.sum(dim=(1, 2)).clamp_min(1)


def soft_dice(
    outputs: Tensor,
    targets: Tensor,
    reduction: Reduction = "none",
    *,
    class_weights: Tensor | None = None,
    ignore_index: int | None = None,
) -> Tensor:
    """1 - the mean over classes of Dice_c, (B, C, I, J) and (B, I, J) -> (B,).

    Args:
        outputs: logits.
        targets: the class of each pixel.
        reduction: one loss an image, their mean or their sum.
        class_weights: how much each class counts in the mean over classes (C,).
        ignore_index: the class of pixels that do not count, often 255; None: all count.
    """
    chances = outputs.softmax(dim=1).flatten(2)  # (B, C, I J)
    classes = torch.arange(outputs.shape[1], device=outputs.device)[:, None]
    truth = (targets.flatten(1)[:, None] == classes).type_as(chances)
    if ignore_index is not None:
        chances = chances.masked_fill(targets.flatten(1)[:, None] == ignore_index, 0)
        truth = truth.masked_fill(targets.flatten(1)[:, None] == ignore_index, 0)
    hits, sizes = (chances * truth).sum(dim=2), (chances + truth).sum(dim=2)
    overlaps = (2 * hits + 1) / (sizes + 1)  # (B, C)
    if class_weights is None:
        return reduce(1 - overlaps.mean(dim=1), reduction)
    return reduce(1 - overlaps @ class_weights.to(overlaps) / class_weights.sum(), reduction)


def cross_entropy_dice(
    outputs: Tensor,
    targets: Tensor,
    reduction: Reduction = "none",
    *,
    class_weights: Tensor | None = None,
    ignore_index: int | None = None,
) -> Tensor:
    """Their sum, (B, C, I, J) and (B, I, J) -> (B,); the arguments are theirs."""
    of_pixels = pixel_cross_entropy(
        outputs, targets, reduction, class_weights=class_weights, ignore_index=ignore_index
    )
    return of_pixels + soft_dice(
        outputs, targets, reduction, class_weights=class_weights, ignore_index=ignore_index
    )


_PIXELS = {
    "p_{ic}": "the probability of class c at pixel i, the softmax of its logits (C, I, J)",
    "t_{ic}": "1 where pixel i is of class c, else 0",
    "C": "the number of classes",
}
_DICE = r"1 - \frac{1}{C} \sum_c \frac{2 \sum_i p_{ic} t_{ic} + 1}{\sum_i (p_{ic} + t_{ic}) + 1}"

DICE = Loss(
    of={"mask": soft_dice},
    card=Card(
        sentence="One minus the overlap of prediction and target per class: small classes count "
        "as much as large ones.",
        formula=rf"\ell = {_DICE}",
        symbols=_PIXELS,
        source="Drozdzal et al. (2016), LNCS 10008, 179-187, arXiv 1608.04117",
        misprint="Without the 1 above and below, a class that an image does not have gives 0 / 0. "
        "V-Net (Milletari et al., 2016) has squares below, p_{ic}^2 + t_{ic}^2: another loss, "
        "though both are called Dice.",
    ),
)
CROSS_ENTROPY_DICE = Loss(
    of={"mask": cross_entropy_dice},
    card=Card(
        sentence="Cross-entropy per pixel plus Dice loss per class.",
        formula=rf"\ell = -\frac{{1}}{{n}} \sum_{{i,c}} t_{{ic}} \log p_{{ic}} + {_DICE}",
        symbols={**_PIXELS, "n": "the number of pixels of an image"},
        source="Isensee et al. (2021), Nature Methods 18, 203-211",
    ),
)
