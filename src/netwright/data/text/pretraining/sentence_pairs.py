"""Pairs of stretches of text, of which half follow each other: what next-sentence prediction needs.

    documents -> segments of L tokens; two neighbours are a pair
    half of the pairs exchange their second segments among themselves: they do not follow

All segments are equally long, and the second ones of both halves are the same kind of text: neither
length nor padding tells the label. A document that is too short for a pair is joined to the next.

Shapes: N pairs, L tokens of a segment.
Source: Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers" (2018), section 3.1.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from netwright.core.errors import DataError

FOLLOWS, DOES_NOT = 0, 1  # as `transformers` numbers them
FEWEST = 4  # pairs, of which two exchange their second segments


class SentencePairs(NamedTuple):
    """Pairs of segments.

    Args:
        first: (N, L).
        second: (N, L).
        labels: FOLLOWS or DOES_NOT (N,).
        left_out: tokens at the ends of documents that fill no pair.
        joined: documents that were too short and went into the next.
    """

    first: Tensor
    second: Tensor
    labels: Tensor
    left_out: int
    joined: int


def pair_sentences(
    documents: Sequence[Sequence[int]], length: int, random: torch.Generator
) -> SentencePairs:
    """Cut documents of tokens into pairs of segments of so many tokens.

    Args:
        documents: in their order.
        length: L.
        random: draws which pairs do not follow, and what they get instead.
    """
    long_enough, joined = _joined(documents, 2 * length)
    cut = [torch.tensor(one[: len(one) // (2 * length) * 2 * length]) for one in long_enough]
    total = sum(map(len, documents))
    pairs = torch.cat(cut).view(-1, 2, length) if cut else torch.empty(0, 2, length)
    if len(pairs) < FEWEST:
        raise DataError(
            f"at least {FEWEST} pairs of segments of {length} tokens are needed, {total} tokens "
            f"give {len(pairs)}; give a longer text or a smaller window"
        )
    order = torch.randperm(len(pairs), generator=random)
    strangers = order[: len(pairs) // 2]
    step = int(torch.randint(1, len(strangers), (1,), generator=random))
    second = pairs[:, 1].clone()
    second[strangers] = pairs[strangers.roll(step), 1]  # from another pair each: none follows
    labels = torch.full((len(pairs),), FOLLOWS)
    labels[strangers] = DOES_NOT
    return SentencePairs(pairs[:, 0], second, labels, total - pairs.numel(), joined)


def _joined(documents: Sequence[Sequence[int]], least: int) -> tuple[list[list[int]], int]:
    """The documents, short ones together until they are long enough; and how many were short."""
    whole: list[list[int]] = []
    waiting: list[int] = []
    count = 0
    for document in documents:
        count += len(document) < least
        waiting = [*waiting, *document]
        if len(waiting) >= least:
            whole.append(waiting)
            waiting = []
    if waiting and whole:
        whole[-1] = [*whole[-1], *waiting]
    return whole, count
