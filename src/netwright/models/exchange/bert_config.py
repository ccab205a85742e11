"""What `transformers` calls the settings of a BERT, in its config.json, and what we call them.

    num_hidden_layers, num_attention_heads, hidden_size   <->   layers, heads, width

Source: Devlin et al. (2018), arXiv 1810.04805; `transformers.BertConfig`.
"""

from typing import Any, cast

from netwright.data.text.tokenizer import PAD
from netwright.models.transformers.attention_settings import SPREAD
from netwright.models.transformers.bert import BERT, EXPANSION, BERTConfig


def differs_from_bert(config: BERTConfig) -> str:
    """The first setting that BERT has not, in a few words; empty where it is a BERT."""
    if config.positions != "learned":
        return f"positions are {config.positions}, those of BERT are learned"
    if config.attention != "full":
        return f"attention is {config.attention}, that of BERT is full"
    return ""


def to_bert_config(model: BERT) -> dict[str, Any]:
    """The config.json with which `transformers` builds the same model; its head is told apart."""
    config = cast(BERTConfig, model.config)
    drops = ("hidden_dropout_prob", "attention_probs_dropout_prob")
    return {
        "model_type": "bert",
        "vocab_size": len(model.wte.weight),
        "hidden_size": config.width,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.heads,
        "intermediate_size": EXPANSION * config.width,
        "hidden_act": "gelu",
        **dict.fromkeys(drops, config.dropout),
        "max_position_embeddings": model.context,
        "type_vocab_size": len(model.wse.weight),
        "initializer_range": SPREAD,
        "layer_norm_eps": config.norm_eps,
        "pad_token_id": PAD,
        "tie_word_embeddings": True,
        "torch_dtype": "float32",
    }
