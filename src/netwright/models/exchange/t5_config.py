"""What `transformers` calls the settings of a T5, in its config.json, and what we call them.

    num_layers, num_heads, d_model, d_ff   <->   layers, heads, width, hidden

T5 there has as many blocks in the decoder as in the encoder here, and heads that share the width
among them: small models of version 1.1, whose heads are wider, have no place here.

Source: Raffel et al. (2019), arXiv 1910.10683; `transformers.T5Config`.
"""

from collections.abc import Mapping
from typing import Any, cast

from netwright.data.text.tokenizer import BOS, EOS, PAD
from netwright.models.transformers.t5 import T5, T5Config

SIZES = {
    "num_layers": "layers",
    "num_heads": "heads",
    "d_model": "width",
    "d_ff": "hidden",
    "relative_attention_num_buckets": "buckets",
    "relative_attention_max_distance": "farthest",
}
NETWORKS = ("relu", "gated-gelu")


def differs_from_t5(model: T5) -> str:
    """Why `transformers` has no place for this model, in a few words; empty where it has."""
    if model.source_embedding is not None:
        return "sources and targets have two vocabularies, T5 has one (data.shared_vocabulary)"
    return "" if model.head is None else "its head is not the embedding (model.tied)"


def to_t5_config(model: T5) -> dict[str, Any]:
    """The config.json with which `transformers` builds the same model."""
    config = cast(T5Config, model.config)
    hidden = config.hidden or 4 * config.width
    sizes = {their: getattr(config, our) for their, our in SIZES.items()}
    return {
        "model_type": "t5",
        "architectures": ["T5ForConditionalGeneration"],
        "vocab_size": model.spec.num_outputs,
        **sizes,
        "d_ff": hidden,
        "d_kv": config.width // config.heads,
        "num_decoder_layers": config.layers,
        "feed_forward_proj": config.feed_forward,
        "dropout_rate": config.dropout,
        "layer_norm_epsilon": config.norm_eps,
        "is_encoder_decoder": True,
        "decoder_start_token_id": BOS,
        "bos_token_id": BOS,
        "eos_token_id": EOS,
        "pad_token_id": PAD,
        "tie_word_embeddings": True,
        "torch_dtype": "float32",
    }


def from_t5_config(told: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Our settings of the T5 that a config.json describes, and why it is none of ours, if so."""
    if told.get("model_type") != "t5":
        return {}, f"model_type is {told.get('model_type')!r:.40}, wanted 't5'"
    for name in SIZES:
        if type(told.get(name)) is not int:
            return {}, f"{name} must be a whole number, got {told.get(name)!r:.40}"
    if told.get("num_decoder_layers") not in {None, told["num_layers"]}:
        return {}, (
            f"num_decoder_layers is {told['num_decoder_layers']!r:.40}, "
            f"wanted {told['num_layers']}, as many as in the encoder"
        )
    if told.get("d_kv") != told["d_model"] // max(told["num_heads"], 1):
        return {}, (
            f"d_kv is {told.get('d_kv')!r:.40}, wanted {told['d_model']} / {told['num_heads']}, "
            "the width shared among the heads"
        )
    network = told.get("feed_forward_proj", "relu")
    if network not in NETWORKS:
        return {}, f"feed_forward_proj is {network!r:.40}, wanted relu or gated-gelu"
    return {
        **{our: told[their] for their, our in SIZES.items()},
        "feed_forward": network,
        "norm_eps": told.get("layer_norm_epsilon", 1e-6),
        "tied": told.get("tie_word_embeddings") is not False,
    }, ""
