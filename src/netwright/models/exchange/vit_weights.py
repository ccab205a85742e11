"""Weights with the names of ViT in `transformers`, and ours.

    vit.encoder.layer.0.attention.attention.query.weight, ...   h.0.attn.c_attn.weight, fused
    vit.encoder.layer.0.layernorm_before                        h.0.ln_1
    vit.embeddings.patch_embeddings.projection                  patches.projection
    classifier                                                  head

These are the names in published files; from its fifth version on the library itself has shorter
ones inside, and reads both.

Source: `transformers.ViTForImageClassification`; Dosovitskiy et al. (2020).
"""

from collections.abc import Mapping

from torch import Tensor

from netwright.models.exchange.layer_names import BlockNames, LayerNames

PREFIX, HEAD = "vit.", "classifier."
POSITIONS = "embeddings.position_embeddings"
NAMES = LayerNames(
    stacks=(
        BlockNames(
            theirs="encoder.layer.",
            ours="h.",
            parts={
                "attention.output.dense": "attn.c_proj",
                "layernorm_before": "ln_1",
                "layernorm_after": "ln_2",
                "intermediate.dense": "mlp.c_fc",
                "output.dense": "mlp.c_proj",
            },
            fused={
                "attn.c_attn": tuple(
                    f"attention.attention.{one}" for one in ("query", "key", "value")
                )
            },
        ),
    ),
    others={
        "embeddings.cls_token": "class_token",
        POSITIONS: "positions",
        "embeddings.patch_embeddings.projection.weight": "patches.projection.weight",
        "embeddings.patch_embeddings.projection.bias": "patches.projection.bias",
        "layernorm.weight": "ln_f.weight",
        "layernorm.bias": "ln_f.bias",
        "classifier.weight": "head.weight",
        "classifier.bias": "head.bias",
    },
)


def is_vit(weights: Mapping[str, Tensor]) -> bool:
    """Whether these are ViT's names, with the prefix or without."""
    return any(name.removeprefix(PREFIX) == POSITIONS for name in weights)


def from_vit(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Their weights by our names."""
    return NAMES.to_ours({name.removeprefix(PREFIX): value for name, value in weights.items()})


def to_vit(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Our weights as `transformers` reads them."""
    return {
        name if name.startswith(HEAD) else PREFIX + name: value
        for name, value in NAMES.to_theirs(weights).items()
    }
