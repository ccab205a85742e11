r"""Attention: a query reads a memory of keys and values, the values of keys like it most.

    weights_i = e^{a(q, k_i)} / sum_j e^{a(q, k_j)},    read = sum_i weights_i v_i

The score a is one of `attention_scores`. Queries, keys and values of one sequence make it self-
attention, keys and values of another cross-attention; with a `causal_mask` no query reads what
comes after it.

Shapes: T queries, S keys and values, E features of a value; any batch before them.
Source: Bahdanau, Cho and Bengio, "Neural Machine Translation by Jointly Learning to Align and
Translate" (2014); Vaswani et al., "Attention Is All You Need" (2017), section 3.2.
"""

import math

from torch import Tensor


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """The weights (..., T, S) of the scores: exactly 0 where masked or minus infinity, in all 1.

    A query that may attend to nothing has weights 0, not NaN.

    Args:
        scores: (..., T, S).
        mask: True where a query may attend, of a shape that expands to that of the scores.
    """
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)  # no finite score is as low
    # A kernel of bounded reach rules keys out by itself: minus infinity there too.
    reads_nothing = (scores == -math.inf).all(dim=-1, keepdim=True)
    return scores.masked_fill(reads_nothing, 0).softmax(dim=-1).masked_fill(reads_nothing, 0)


def attend(scores: Tensor, values: Tensor, mask: Tensor | None = None) -> Tensor:
    """What the queries read (..., T, E): the mean of the values (..., S, E) by their weights.

    Values that no query may read, as those of padding, may be anything, NaN too.
    """
    if mask is not None:
        read_by_some = mask.any(dim=-2) if mask.dim() > 1 else mask  # (..., S)
        values = values.masked_fill(~read_by_some.unsqueeze(-1), 0)  # 0 times NaN would be NaN
    return masked_softmax(scores, mask) @ values
