r"""A text as the bag of its words: how often each occurs, in whatever order.

    count(w, d)                       how often word w occurs in text d
    tf-idf(w, d) = count(w, d) ln(|D| / |{d in D : w in d}|)

A word that every text has says nothing, and weighs nothing. (Libraries often add one here and there
and divide by the length; this is the plain formula.)

Shapes: N texts, V tokens of the vocabulary.
Source: Sparck Jones, "A statistical interpretation of term specificity" (1972).
"""

from collections.abc import Sequence

import torch
from torch import Tensor


def count_tokens(texts: Sequence[Sequence[int]], size: int) -> Tensor:
    """How often each token occurs in each text (N, V), float32."""
    counts = torch.empty(len(texts), size)
    for row, tokens in enumerate(texts):
        counts[row] = torch.bincount(torch.tensor(tokens, dtype=torch.int64), minlength=size)
    return counts


def inverse_document_frequency(counts: Tensor) -> Tensor:
    """What each token weighs (V,): ln(N / texts that have it); 0 for a token that no text has."""
    have = (counts > 0).sum(dim=0)
    return torch.where(have > 0, torch.log(len(counts) / have), 0.0)
