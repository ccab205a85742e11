"""Weights with the names of BERT in `transformers`, and ours.

    bert.encoder.layer.0.attention.self.query.weight   three maps    h.0.attn.c_attn.weight, fused
    bert.encoder.layer.0.attention.output.dense                      h.0.attn.c_proj
    bert.encoder.layer.0.attention.output.LayerNorm                  h.0.ln_1
    cls.predictions.decoder.weight                     the embedding again, and left out

A weight that has no place in the other names stays as it is, for who checks the names to refuse: a
decoder that is not the embedding is not dropped in silence.

Tokens keep their numbers, unless their vocabulary is known: then rows are put in our order.

Source: `transformers.BertForPreTraining`; Devlin et al. (2018).
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import torch
from torch import Tensor

from netwright.core.errors import DataError
from netwright.models.exchange.layer_names import BlockNames, LayerNames

OTHER_HEAD, SPAN_HEAD = "classifier.", "qa_outputs."
PREFIX, HEADS = "bert.", ("cls.", OTHER_HEAD, SPAN_HEAD)
NAMES = LayerNames(
    stacks=(
        BlockNames(
            theirs="encoder.layer.",
            ours="h.",
            parts={
                "attention.output.dense": "attn.c_proj",
                "attention.output.LayerNorm": "ln_1",
                "intermediate.dense": "mlp.c_fc",
                "output.dense": "mlp.c_proj",
                "output.LayerNorm": "ln_2",
            },
            fused={
                "attn.c_attn": (
                    "attention.self.query",
                    "attention.self.key",
                    "attention.self.value",
                )
            },
        ),
    ),
    others={
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
        f"{OTHER_HEAD}weight": "head.weight",
        f"{OTHER_HEAD}bias": "head.bias",
    },
)
# The same tensors under a second name, and what is no weight.
AGAIN: Mapping[str, str] = MappingProxyType(
    {
        "cls.predictions.decoder.weight": "embeddings.word_embeddings.weight",
        "cls.predictions.decoder.bias": "cls.predictions.bias",
    }
)
NO_WEIGHTS = frozenset({"embeddings.position_ids", "embeddings.token_type_ids"})


def is_bert(weights: Mapping[str, Tensor]) -> bool:
    """Whether these are BERT's names, with the prefix or without."""
    return any(_bare(name) == "embeddings.word_embeddings.weight" for name in weights)


def from_bert(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Their weights by our names; queries, keys and values of a block are one map."""
    theirs = {_bare(name): value for name, value in weights.items()}
    for again, first in AGAIN.items():
        if again in theirs and first in theirs and torch.equal(theirs[again], theirs[first]):
            del theirs[again]
    return NAMES.to_ours({name: value for name, value in theirs.items() if name not in NO_WEIGHTS})


def in_our_order(weights: Mapping[str, Tensor], places: Sequence[int]) -> dict[str, Tensor]:
    """A BERT by our names with a row for each of our tokens; other weights stay as they are.

    Args:
        weights: by our names, tokens in the order of their vocabulary.
        places: of our tokens there, [MASK] last, which is read but never said: (V,).
    """
    ours, rows = dict(weights), len(weights["wte.weight"])
    if rows != len(places):
        raise DataError(
            f"the weights have {rows} tokens, the vocabulary beside them has {len(places)}"
        )
    order = torch.tensor(places)
    ours["wte.weight"] = weights["wte.weight"][order]
    if "pretraining.bias" in weights:
        ours["pretraining.bias"] = weights["pretraining.bias"][order[:-1]]
    return ours


def to_bert(weights: Mapping[str, Tensor], *, marks_spans: bool = False) -> dict[str, Tensor]:
    """Our weights as `transformers` reads them.

    Args:
        weights: by our names.
        marks_spans: they are for a BertForQuestionAnswering, which calls its head otherwise.
    """
    bare = NAMES.to_theirs(weights)
    if marks_spans:
        bare = {name.replace(OTHER_HEAD, SPAN_HEAD): value for name, value in bare.items()}
    if "pretraining.bias" in weights:
        bare |= {again: bare[first] for again, first in AGAIN.items()}
    return {
        name if name.startswith(HEADS) else PREFIX + name: value for name, value in bare.items()
    }


def _bare(name: str) -> str:
    """Without the prefix; old files have gamma and beta for what is weight and bias now."""
    for old, new in (("LayerNorm.gamma", "LayerNorm.weight"), ("LayerNorm.beta", "LayerNorm.bias")):
        name = name.replace(old, new)
    return name.removeprefix(PREFIX).replace(SPAN_HEAD, OTHER_HEAD)
