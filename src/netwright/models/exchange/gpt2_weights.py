"""Weights with GPT-2's names, as `transformers` and OpenAI keep them, and ours.

Our names are GPT-2's own. What differs:

    transformer.h.0.ln_1.weight   the prefix may be there or not   h.0.ln_1.weight
    h.0.attn.c_attn.weight        (in, out)                        (out, in), as nn.Linear has it
    h.0.attn.bias                 the causal mask, no weight       -
    lm_head.weight                wte.weight again                 head.weight where not tied
    score.weight                  of a classifier                  head.weight

Source: Radford et al., "Language Models are Unsupervised Multitask Learners" (2019).
"""

from collections.abc import Collection, Mapping

import torch
from torch import Tensor

PREFIX = "transformer."
MASKS = (".attn.bias", ".attn.masked_bias")
EMBEDDING, THEIR_HEAD, OUR_HEAD = "wte.weight", "lm_head.weight", "head.weight"
THEIR_SCORE = "score.weight"  # the head of a classifier
FUSED = "h.0.attn.c_attn.weight"
TURNED = ("c_attn.weight", "c_proj.weight", "c_fc.weight")


def is_gpt2(weights: Mapping[str, Tensor]) -> bool:
    """Whether the maps are kept as (in, out): the fused one has more outputs than inputs."""
    fused = weights.get(FUSED, weights.get(PREFIX + FUSED))
    return fused is not None and fused.ndim == 2 and fused.shape[0] < fused.shape[1]


def from_gpt2(weights: Mapping[str, Tensor], own: Collection[str]) -> dict[str, Tensor]:
    """GPT-2's weights by our names and in our shapes.

    Args:
        weights: as the file has them.
        own: the names of our model's weights: a tied model has no head of its own.
    """
    bare = {name.removeprefix(PREFIX): value for name, value in weights.items()}
    ours = {name: _turned(name, value) for name, value in bare.items() if not name.endswith(MASKS)}
    embedding = ours.get(EMBEDDING, torch.empty(0))
    head = ours.pop(THEIR_HEAD, embedding)
    if OUR_HEAD in own:
        return {**ours, OUR_HEAD: head}
    # A head that a tied model has no place for stays: whoever checks the names will refuse it.
    return ours if torch.equal(head, embedding) else {**ours, THEIR_HEAD: head}


def to_gpt2(weights: Mapping[str, Tensor], *, is_classifier: bool = False) -> dict[str, Tensor]:
    """Our weights as `transformers` reads them.

    Args:
        weights: by our names.
        is_classifier: they are for a GPT2ForSequenceClassification, not for a GPT2LMHeadModel.
    """
    theirs = {PREFIX + name: _turned(name, value) for name, value in weights.items()}
    head = theirs.pop(PREFIX + OUR_HEAD, theirs[PREFIX + EMBEDDING])
    return {**theirs, THEIR_SCORE if is_classifier else THEIR_HEAD: head}


def _turned(name: str, value: Tensor) -> Tensor:
    return value.transpose(0, -1).contiguous() if name.endswith(TURNED) else value
