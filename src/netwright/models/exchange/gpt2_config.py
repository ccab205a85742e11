"""What `transformers` calls the settings of a GPT-2, in its config.json, and what we call them.

    n_layer, n_head, n_embd, n_positions   <->   layers, heads, width, context

GPT-2 has learned positions, biases everywhere and as many key heads as heads: a GPT of ours that
differs in these has no place there.

Source: Radford et al., "Language Models are Unsupervised Multitask Learners" (2019);
`transformers.GPT2Config`.
"""

from collections.abc import Mapping
from typing import Any, cast

from netwright.data.text.tokenizer import BOS, EOS, PAD, UNK
from netwright.models.exchange.task_labels import task_labels
from netwright.models.transformers.gpt import GPT, GPTConfig

LANGUAGE_MODEL, CLASSIFIER = "GPT2LMHeadModel", "GPT2ForSequenceClassification"
SIZES = {"n_layer": "layers", "n_head": "heads", "n_embd": "width", "n_positions": "context"}
# What GPT-2 computes with, where a config may say otherwise.
FIXED = {
    "activation_function": "gelu_new",
    "layer_norm_epsilon": 1e-5,
    "scale_attn_weights": True,
    "scale_attn_by_inverse_layer_idx": False,
}


def differs_from_gpt2(config: GPTConfig) -> str:
    """The first setting that GPT-2 has not, in a few words; empty where it is a GPT-2."""
    if config.positions != "learned":
        return f"positions are {config.positions}, those of GPT-2 are learned"
    if config.attention != "full":
        return f"attention is {config.attention}, that of GPT-2 is full"
    if not config.bias:
        return "it has no biases, GPT-2 has them everywhere"
    if config.kv_heads not in {None, config.heads}:
        return f"it has {config.kv_heads} kv_heads, GPT-2 has as many as heads, {config.heads}"
    return ""


def to_gpt2_config(model: GPT) -> dict[str, Any]:
    """The config.json with which `transformers` builds the same model."""
    spec, config = model.spec, cast(GPTConfig, model.config)
    drops = ("resid_pdrop", "embd_pdrop", "attn_pdrop")
    is_language_model = spec.target == "tokens"
    told: dict[str, Any] = {
        "model_type": "gpt2",
        "architectures": [LANGUAGE_MODEL if is_language_model else CLASSIFIER],
        "vocab_size": spec.vocab_size,
        "n_positions": model.context,
        "n_embd": config.width,
        "n_layer": config.layers,
        "n_head": config.heads,
        **dict.fromkeys(drops, config.dropout),
        **FIXED,
        "bos_token_id": BOS,
        "eos_token_id": EOS,
        "pad_token_id": PAD,
        "tie_word_embeddings": model.head is None,
        "torch_dtype": "float32",
    }
    return told if is_language_model else {**told, **task_labels(spec)}


def generation_config() -> dict[str, Any]:
    """The generation_config.json by which `generate` says no token that no text has, as ours."""
    return {
        "bos_token_id": BOS,
        "eos_token_id": EOS,
        "pad_token_id": PAD,
        "suppress_tokens": [PAD, UNK, BOS],
    }


def from_gpt2_config(told: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Our settings of the GPT-2 that a config.json describes, and why it is none of ours, if so."""
    if told.get("model_type") != "gpt2":
        return {}, f"model_type is {told.get('model_type')!r:.40}, wanted 'gpt2'"
    for name, wanted in FIXED.items():
        if told.get(name, wanted) != wanted:
            return {}, f"{name} is {told[name]!r:.40}, GPT-2 has {wanted!r}"
    for name in SIZES:
        if type(told.get(name)) is not int:
            return {}, f"{name} must be a whole number, got {told.get(name)!r:.40}"
    if told.get("n_inner") not in {None, 4 * told["n_embd"]}:
        return {}, f"n_inner is {told['n_inner']!r:.40}, GPT-2 has {4 * told['n_embd']}"
    settings: dict[str, Any] = {ours: told[theirs] for theirs, ours in SIZES.items()}
    return {**settings, "tied": bool(told.get("tie_word_embeddings", True))}, ""
