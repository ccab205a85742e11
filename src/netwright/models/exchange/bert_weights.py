"""Weights with the names of BERT in `transformers`, and ours.

    bert.encoder.layer.0.attention.self.query.weight   three maps    h.0.attn.c_attn.weight, fused
    bert.encoder.layer.0.attention.output.dense                      h.0.attn.c_proj
    bert.encoder.layer.0.attention.output.LayerNorm                  h.0.ln_1
    cls.predictions.decoder.weight                     the embedding again, and left out

A weight that has no place in the other names stays as it is, for who checks the names to refuse: a
decoder that is not the embedding is not dropped in silence.

Tokens keep their numbers: a vocabulary in another order is not put in ours here.

Source: `transformers.BertForPreTraining`; Devlin et al. (2018).
"""

from collections.abc import Mapping
from types import MappingProxyType

import torch
from torch import Tensor

THREE = tuple(f"attention.self.{name}" for name in ("query", "key", "value"))
PREFIX, BLOCK, HEADS = "bert.", "encoder.layer.", ("cls.", "classifier.")
# Of one block: their names and ours.
OF_A_BLOCK: Mapping[str, str] = MappingProxyType(
    {
        "attention.output.dense": "attn.c_proj",
        "attention.output.LayerNorm": "ln_1",
        "intermediate.dense": "mlp.c_fc",
        "output.dense": "mlp.c_proj",
        "output.LayerNorm": "ln_2",
    }
)
THE_OTHERS: Mapping[str, str] = MappingProxyType(
    {
        "embeddings.word_embeddings.weight": "wte.weight",
        "embeddings.position_embeddings.weight": "wpe.weight",
        "embeddings.token_type_embeddings.weight": "wse.weight",
        "embeddings.LayerNorm.weight": "ln_e.weight",
        "embeddings.LayerNorm.bias": "ln_e.bias",
        "pooler.dense.weight": "pooler.weight",
        "pooler.dense.bias": "pooler.bias",
        "cls.predictions.transform.dense.weight": "pretraining.transform.weight",
        "cls.predictions.transform.dense.bias": "pretraining.transform.bias",
        "cls.predictions.transform.LayerNorm.weight": "pretraining.norm.weight",
        "cls.predictions.transform.LayerNorm.bias": "pretraining.norm.bias",
        "cls.predictions.bias": "pretraining.bias",
        "cls.seq_relationship.weight": "pretraining.next_text.weight",
        "cls.seq_relationship.bias": "pretraining.next_text.bias",
        "classifier.weight": "head.weight",
        "classifier.bias": "head.bias",
    }
)
# The same tensors under a second name, and what is no weight.
AGAIN: Mapping[str, str] = MappingProxyType(
    {
        "cls.predictions.decoder.weight": "embeddings.word_embeddings.weight",
        "cls.predictions.decoder.bias": "cls.predictions.bias",
    }
)
NO_WEIGHTS = frozenset({"embeddings.position_ids", "embeddings.token_type_ids"})


def from_bert(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Their weights by our names; queries, keys and values of a block are one map."""
    theirs = {_bare(name): value for name, value in weights.items()}
    for again, first in AGAIN.items():
        if again in theirs and first in theirs and torch.equal(theirs[again], theirs[first]):
            del theirs[again]
    ours: dict[str, Tensor] = {}
    for name, value in theirs.items():
        layer, _, inside = name.removeprefix(BLOCK).partition(".")
        path, _, kind = inside.rpartition(".")
        if name.startswith(BLOCK) and path in OF_A_BLOCK:
            ours[f"h.{layer}.{OF_A_BLOCK[path]}.{kind}"] = value
        elif name.startswith(BLOCK) and path == THREE[0]:
            names = [f"{BLOCK}{layer}.{one}.{kind}" for one in THREE]
            three = [theirs[one] for one in names if one in theirs]
            ours[f"h.{layer}.attn.c_attn.{kind}"] = torch.cat(three)
        elif name not in NO_WEIGHTS and path not in THREE[1:]:
            ours[THE_OTHERS.get(name, name)] = value
    return ours


def to_bert(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Our weights as `transformers` reads them."""
    outside = {our: their for their, our in THE_OTHERS.items()}
    inside = {our: their for their, our in OF_A_BLOCK.items()}
    theirs: dict[str, Tensor] = {}
    for name, value in weights.items():
        layer, _, path = name.removeprefix("h.").partition(".")
        place, _, kind = path.rpartition(".")
        block = f"{PREFIX}{BLOCK}{layer}"
        if name in outside:
            their = outside[name]
            theirs[their if their.startswith(HEADS) else PREFIX + their] = value
        elif place == "attn.c_attn":
            for one, third in zip(THREE, value.chunk(3), strict=True):
                theirs[f"{block}.{one}.{kind}"] = third.contiguous()
        else:
            theirs[f"{block}.{inside[place]}.{kind}"] = value
    for again, first in AGAIN.items():
        source = first if first.startswith(HEADS) else PREFIX + first
        if THE_OTHERS["cls.predictions.bias"] in weights:
            theirs[again] = theirs[source]
    return theirs


def _bare(name: str) -> str:
    """Without the prefix; old files have gamma and beta for what is weight and bias now."""
    for old, new in (("LayerNorm.gamma", "LayerNorm.weight"), ("LayerNorm.beta", "LayerNorm.bias")):
        name = name.replace(old, new)
    return name.removeprefix(PREFIX)
