"""Weights with the names of T5 in `transformers`, and ours.

    encoder.block.0.layer.0.SelfAttention.q.weight, k, v     encoder.0.attn.c_attn.weight, fused
    decoder.block.0.layer.1.EncDecAttention.k.weight, v      decoder.0.cross.c_attn.weight, fused
    encoder.block.0....relative_attention_bias.weight        encoder_bias.table.weight
    shared.weight                                            target_embedding.weight
    encoder.embed_tokens.weight, lm_head.weight              shared.weight again where tied

Tokens keep their numbers. T5 has one vocabulary: where ours has two embeddings, both are given
`shared.weight`, and there is no way back.

Source: `transformers.T5ForConditionalGeneration`; Raffel et al. (2019).
"""

from collections.abc import Collection, Mapping

import torch
from torch import Tensor

from netwright.models.exchange.layer_names import BlockNames, LayerNames

SHARED, THEIR_HEAD = "shared.weight", "lm_head.weight"
OUR_SOURCE, OUR_HEAD = "source_embedding.weight", "head.weight"
EMBEDDINGS = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight")
_READING = {
    "layer.0.SelfAttention.o": "attn.c_proj",
    "layer.0.layer_norm": "ln_1",
}
_FUSED = {"attn.c_attn": tuple(f"layer.0.SelfAttention.{one}" for one in "qkv")}


def _working(layer: int, *, is_gated: bool) -> dict[str, str]:
    """The feed-forward network in this layer of a block, and its norm."""
    dense = f"layer.{layer}.DenseReluDense"
    maps = {"wi_0": "c_gate", "wi_1": "c_fc"} if is_gated else {"wi": "c_fc"}
    return {
        **{f"{dense}.{their}": f"mlp.{our}" for their, our in {**maps, "wo": "c_proj"}.items()},
        f"layer.{layer}.layer_norm": "ln_2",
    }


def _names(*, is_gated: bool) -> LayerNames:
    cross = "layer.1.EncDecAttention"
    bias = "block.0.layer.0.SelfAttention.relative_attention_bias.weight"
    encoder = BlockNames(
        theirs="encoder.block.",
        ours="encoder.",
        parts={**_READING, **_working(1, is_gated=is_gated)},
        fused=_FUSED,
    )
    decoder = BlockNames(
        theirs="decoder.block.",
        ours="decoder.",
        parts={
            **_READING,
            f"{cross}.q": "cross.q_attn",
            f"{cross}.o": "cross.c_proj",
            "layer.1.layer_norm": "ln_cross",
            **_working(2, is_gated=is_gated),
        },
        fused={**_FUSED, "cross.c_attn": (f"{cross}.k", f"{cross}.v")},
    )
    return LayerNames(
        stacks=(encoder, decoder),
        others={
            SHARED: "target_embedding.weight",
            f"encoder.{bias}": "encoder_bias.table.weight",
            f"decoder.{bias}": "decoder_bias.table.weight",
            "encoder.final_layer_norm.weight": "encoder_norm.weight",
            "decoder.final_layer_norm.weight": "decoder_norm.weight",
            THEIR_HEAD: OUR_HEAD,
        },
    )


def is_t5(weights: Mapping[str, Tensor]) -> bool:
    """Whether these are T5's names."""
    return "encoder.block.0.layer.0.SelfAttention.q.weight" in weights


def from_t5(weights: Mapping[str, Tensor], own: Collection[str]) -> dict[str, Tensor]:
    """Their weights by our names.

    Args:
        weights: as the file has them.
        own: the names of our model's weights: it has a head, and an embedding of sources, or not.
    """
    theirs = {name: value for name, value in weights.items() if not _is_again(name, weights)}
    if OUR_HEAD in own and SHARED in theirs:
        theirs.setdefault(THEIR_HEAD, theirs[SHARED])
    is_gated = any(name.endswith("DenseReluDense.wi_0.weight") for name in weights)
    ours = _names(is_gated=is_gated).to_ours(theirs)
    if OUR_SOURCE in own and SHARED in theirs:
        ours[OUR_SOURCE] = theirs[SHARED].clone()
    return ours


def to_t5(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Our weights as `transformers` reads them; of a model of one embedding."""
    is_gated = any(name.endswith("mlp.c_gate.weight") for name in weights)
    theirs = _names(is_gated=is_gated).to_theirs(weights)
    for again in (*EMBEDDINGS, THEIR_HEAD):
        theirs.setdefault(again, theirs[SHARED])
    return theirs


def _is_again(name: str, weights: Mapping[str, Tensor]) -> bool:
    """Whether it is the embedding under another name."""
    if name not in {*EMBEDDINGS, THEIR_HEAD} or SHARED not in weights:
        return False
    return torch.equal(weights[name], weights[SHARED])
