r"""Losses of sequences: cross-entropy token by token, of the tokens that count.

    \ell = -\frac{1}{n} \sum_{t : y_t >= 0} \log p_t(y_t)        n tokens of the sequence count

Shapes: B sequences, T tokens, V kinds of token; outputs are logits (B, T, V), targets (B, T), of
which -100 does not count, as in torch.
Source: Bengio, Ducharme, Vincent and Jauvin, "A Neural Probabilistic Language Model" (2003).
"""

from torch import Tensor
from torch.nn import functional as F

from netwright.losses.loss import Reduction, reduce


def token_cross_entropy(
    outputs: Tensor, targets: Tensor, reduction: Reduction = "none", smoothing: float = 0.0
) -> Tensor:
    """The mean of -log p_y over the tokens that count; (B, T, V) and (B, T) -> (B,).

    A sequence in which nothing counts has loss 0.

    Args:
        outputs: logits.
        targets: the right token at each place, -100 where none counts.
        reduction: one loss a sequence, or their mean.
        smoothing: eps in t <- (1 - eps) t + eps / V.
    """
    losses = F.cross_entropy(
        outputs.flatten(0, 1), targets.flatten(), reduction="none", label_smoothing=smoothing
    ).view(targets.shape)  # (B, T), 0 where a token does not count
    counted = (targets >= 0).sum(dim=1).clamp_min(1)
    return reduce(losses.sum(dim=1) / counted, reduction)
