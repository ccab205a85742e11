"""Texts as BERT reads them: [CLS] first A [SEP], or [CLS] A [SEP] B [SEP], then padding.

    tokens     [CLS]  a_1  a_2  [SEP]  b_1  [SEP]  <pad>
    segments     0     0    0     0     1     1      0

[CLS] is our <bos> and [SEP] our <eos>: no text holds either.

Shapes: B batch, T tokens of a text, F = T + 2 with the two around it.
Source: Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers" (2018), section 3.
"""

import torch
from torch import Tensor
from torch.nn import functional

from netwright.data.text.tokenizer import BOS, EOS, PAD

CLS, SEP, MASK = "[CLS]", "[SEP]", "[MASK]"


def frame_pair(first: list[int], second: list[int]) -> list[int]:
    """[CLS] A [SEP] B [SEP]; without a second text [CLS] A [SEP]."""
    framed = [BOS, *first, EOS]
    return [*framed, *second, EOS] if second else framed


def frame_texts(tokens: Tensor) -> Tensor:
    """Texts with padding behind them (B, T) -> [CLS] text [SEP] and the padding (B, F)."""
    framed = functional.pad(tokens, (1, 1), value=PAD)
    framed[:, 0] = BOS
    ends = 1 + (tokens != PAD).sum(dim=1, keepdim=True)
    return framed.scatter(1, ends, EOS)


def segments_of(framed: Tensor) -> Tensor:
    """0 up to the first [SEP], 1 behind it up to the last, 0 at padding: (B, F) -> (B, F)."""
    is_end = (framed == EOS).long()
    behind = is_end.cumsum(dim=1) - is_end  # ends before each place
    return ((behind > 0) & (framed != PAD)).to(torch.int64)
