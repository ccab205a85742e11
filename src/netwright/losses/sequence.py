r"""Losses of sequences: cross-entropy token by token, of the tokens that count.

    \ell = -\frac{1}{n} \sum_{t : y_t \neq i} \log p_t(y_t)        n tokens of the sequence count

Shapes: B sequences, T tokens, V kinds of token; outputs are logits (B, T, V), targets (B, T), of
which i, -100 as in torch, does not count.
Source: Bengio, Ducharme, Vincent and Jauvin, "A Neural Probabilistic Language Model" (2003).
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.losses.counted_targets import IGNORE_INDEX, target_weights
from netwright.losses.loss import Reduction, reduce


def token_cross_entropy(
    outputs: Tensor,
    targets: Tensor,
    reduction: Reduction = "none",
    smoothing: float = 0.0,
    *,
    class_weights: Tensor | None = None,
    ignore_index: int = IGNORE_INDEX,
) -> Tensor:
    """The mean of -log p_y over the tokens that count; (B, T, V) and (B, T) -> (B,).

    A sequence in which nothing counts has loss 0.

    Args:
        outputs: logits.
        targets: the right token at each place, `ignore_index` where none counts.
        reduction: one loss a sequence, their mean or their sum.
        smoothing: eps in t <- (1 - eps) t + eps / V.
        class_weights: how much each kind of token counts (V,); the mean of a sequence is divided
            by the weights of its tokens, as torch's.
        ignore_index: the target that does not count.
    """
    losses = F.cross_entropy(
        outputs.flatten(0, 1),
        targets.flatten(),
        weight=class_weights,
        reduction="none",
        label_smoothing=smoothing,
        ignore_index=ignore_index,
    ).view(targets.shape)  # (B, T), 0 where a token does not count
    if class_weights is None:
        counted = (targets != ignore_index).sum(dim=1).clamp_min(1)
    else:
        weights = target_weights(targets, class_weights, ignore_index, like=losses)
        counted = weights.sum(dim=1).clamp_min(torch.finfo(weights.dtype).tiny)
    return reduce(losses.sum(dim=1) / counted, reduction)
