"""What `transformers` calls the settings of a ViT, in its config.json, and what we call them.

    num_hidden_layers, num_attention_heads, hidden_size, patch_size   <->   layers, heads, width,
                                                                            patch

The answer is read at the class token there, and images are whole patches.

Source: Dosovitskiy et al. (2020), arXiv 2010.11929; `transformers.ViTConfig`.
"""

from typing import Any, cast

from netwright.models.vision.vit import EXPANSION, SPREAD, ViT, ViTConfig


def differs_from_vit(model: ViT) -> str:
    """Why `transformers` has no place for this model, in a few words; empty where it has."""
    config = cast(ViTConfig, model.config)
    if config.pool != "class":
        return "the mean of all patches is read out (model.pool), there it is the class token"
    if any(side % config.patch for side in model.sides):
        sides = " x ".join(map(str, model.sides))
        return f"images of {sides} pixels are no whole patches of {config.patch} (model.patch)"
    return ""


def to_vit_config(model: ViT) -> dict[str, Any]:
    """The config.json with which `transformers` builds the same model."""
    config = cast(ViTConfig, model.config)
    rows, columns = model.sides
    drops = ("hidden_dropout_prob", "attention_probs_dropout_prob")
    return {
        "model_type": "vit",
        "architectures": ["ViTForImageClassification"],
        "image_size": rows if rows == columns else [rows, columns],
        "num_channels": model.spec.input_shape[0],
        "patch_size": config.patch,
        "hidden_size": config.width,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.heads,
        "intermediate_size": EXPANSION * config.width,
        "hidden_act": "gelu",
        "qkv_bias": True,
        **dict.fromkeys(drops, config.dropout),
        "initializer_range": SPREAD,
        "layer_norm_eps": config.norm_eps,
        "torch_dtype": "float32",
    }
