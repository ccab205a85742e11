"""The softmax worked by hand: its logarithm's sum, itself, and its slope.

torch has the first two; here they stand beside the slope that backpropagation needs.

    p_k = e^{o_k} / sum_j e^{o_j},    dp_k / do_j = p_k (delta_kj - p_j)

Shapes: B batch, C classes.
Source: Bridle, "Probabilistic Interpretation of Feedforward Classification Network Outputs" (1990).
"""

import torch
from torch import Tensor


def log_sum_exp(logits: Tensor) -> Tensor:
    """The log of sum_k e^{o_k}, (B, C) -> (B,); e^o cannot overflow: the largest o is taken out.

    Cross-entropy with targets y that sum to 1 is this minus sum_k y_k o_k.
    """
    largest = logits.amax(dim=-1, keepdim=True)
    return (logits - largest).exp().sum(dim=-1).log() + largest.squeeze(-1)


def softmax(logits: Tensor) -> Tensor:
    """The logits (B, C) as chances: each e^o over the sum of them."""
    # Not e^(o - log sum): beside a large o the rounding of that difference leaves no digit.
    parts = (logits - logits.amax(dim=-1, keepdim=True)).exp()
    return parts / parts.sum(dim=-1, keepdim=True)


def softmax_jacobian(chances: Tensor) -> Tensor:
    """How the chances p (B, C) change with the logits, (B, C, C): diag(p) - p p^T.

    Often only its diagonal p_k (1 - p_k) is printed; every logit moves every chance.
    """
    return torch.diag_embed(chances) - chances.unsqueeze(-1) * chances.unsqueeze(-2)
