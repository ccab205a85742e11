r"""One step of skip-gram with the whole softmax, worked by hand.

    P(o | c) = exp(u_o . v_c) / sum_w exp(u_w . v_c)
    J = -log P(o | c) = -u_o . v_c + log sum_w exp(u_w . v_c)
    dJ/dv_c = -u_o + sum_w P(w | c) u_w        dJ/du_w = (P(w | c) - 1{w = o}) v_c

A step moves one centre vector, v_c, and all context vectors. It raises u_o . v_c, the product of
the centre with the context that was seen, and lowers that with every other word, on average.

Shapes: V words, D features, P pairs.
Source: Mikolov et al., "Efficient Estimation of Word Representations in Vector Space" (2013).
"""

from typing import NamedTuple

import torch
from torch import Tensor

from netwright.core.checks import check_shape


class SkipGramGradient(NamedTuple):
    """The loss of a pair, and its slopes.

    Args:
        loss: J, ().
        centre: dJ/dv_c (D,); that of any other centre vector is 0.
        contexts: dJ/du (V, D).
    """

    loss: Tensor
    centre: Tensor
    contexts: Tensor


def context_chances(centre: Tensor, contexts: Tensor) -> Tensor:
    """P(w | c) of all words, (D,), (V, D) -> (V,)."""
    return torch.softmax(contexts @ centre, dim=0)


def skip_gram_gradient(centre: Tensor, contexts: Tensor, seen: int) -> SkipGramGradient:
    """The slopes of -log P(o | c).

    Args:
        centre: v_c (D,).
        contexts: u of all words (V, D).
        seen: o, the context that was seen.
    """
    check_shape("contexts", contexts, "V", centre.shape[0])
    chances = context_chances(centre, contexts)
    errors = chances.clone()
    errors[seen] -= 1  # P - 1{w = o}
    loss = torch.logsumexp(contexts @ centre, dim=0) - contexts[seen] @ centre
    return SkipGramGradient(loss, errors @ contexts, torch.outer(errors, centre))


def skip_gram_step(
    vectors: Tensor, contexts: Tensor, pair: tuple[int, int], lr: float
) -> tuple[Tensor, Tensor, Tensor]:
    """The vectors v (V, D) and u (V, D) after a step on one pair (centre, context), and its loss.

    Args:
        vectors: v of all words.
        contexts: u of all words.
        pair: the centre c and the context o.
        lr: the size of the step.
    """
    centre, seen = pair
    slopes = skip_gram_gradient(vectors[centre], contexts, seen)
    moved = vectors.clone()
    moved[centre] -= lr * slopes.centre
    return moved, contexts - lr * slopes.contexts, slopes.loss
