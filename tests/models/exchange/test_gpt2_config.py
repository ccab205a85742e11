"""The settings of a GPT-2 by transformers' names, there and back."""

from typing import Any

import pytest

from netwright.data.spec import DataSpec
from netwright.models.exchange.gpt2_config import (
    differs_from_gpt2,
    from_gpt2_config,
    generation_config,
    to_gpt2_config,
)
from netwright.models.transformers.gpt import GPT, GPTConfig
from tests.repetition import for_each

SMALL: dict[str, Any] = {"layers": 2, "heads": 4, "width": 8}


def gpt(target: Any = "tokens", outputs: int = 11, **settings: Any) -> GPT:
    spec = DataSpec(
        inputs="tokens",
        input_shape=(6,),
        target=target,
        num_outputs=outputs,
        class_names=() if target == "tokens" else ("bad", "good"),
        vocab_size=11,
        padding=None if target == "tokens" else 0,
    )
    return GPT.build(GPTConfig(**{**SMALL, **settings}), spec)


@pytest.mark.parametrize("tied", [True, False])
def test_settings_go_there_and_back(tied: bool) -> None:
    told = to_gpt2_config(gpt(context=9, dropout=0.25, tied=tied))
    assert told["architectures"] == ["GPT2LMHeadModel"]
    assert (told["vocab_size"], told["n_positions"], told["resid_pdrop"]) == (11, 9, 0.25)
    assert from_gpt2_config(told) == ({**SMALL, "context": 9, "tied": tied}, "")


def test_a_classifier_names_its_classes() -> None:
    told = to_gpt2_config(gpt("class", 2))
    assert told["architectures"] == ["GPT2ForSequenceClassification"]
    assert told["id2label"] == {"0": "bad", "1": "good"}
    assert told["label2id"] == {"bad": 0, "good": 1}
    assert told["problem_type"] == "single_label_classification"
    assert to_gpt2_config(gpt("labels", 2))["problem_type"] == "multi_label_classification"


@for_each(
    ("settings", "reason"),
    [
        ({}, ""),
        ({"kv_heads": 4}, ""),
        ({"positions": "rotary"}, "positions are rotary, those of GPT-2 are learned"),
        ({"attention": "linear"}, "attention is linear, that of GPT-2 is full"),
        ({"bias": False}, "it has no biases, GPT-2 has them everywhere"),
        ({"kv_heads": 2}, "it has 2 kv_heads, GPT-2 has as many as heads, 4"),
    ],
)
def test_what_gpt2_has_not_is_named(settings: dict[str, Any], reason: str) -> None:
    assert differs_from_gpt2(GPTConfig(**{**SMALL, **settings})) == reason


@for_each(
    ("change", "reason"),
    [
        ({"model_type": "llama"}, "model_type is 'llama', wanted 'gpt2'"),
        ({"activation_function": "relu"}, "activation_function is 'relu', GPT-2 has 'gelu_new'"),
        ({"n_layer": None}, "n_layer must be a whole number, got None"),
        ({"n_head": "4"}, "n_head must be a whole number, got '4'"),
        ({"n_inner": 17}, "n_inner is 17, GPT-2 has 32"),
    ],
)
def test_a_config_of_something_else_is_none_of_ours(change: dict[str, Any], reason: str) -> None:
    assert from_gpt2_config({**to_gpt2_config(gpt()), **change}) == ({}, reason)


def test_what_a_config_leaves_out_is_as_in_gpt2() -> None:
    told = {"model_type": "gpt2", "n_layer": 1, "n_head": 1, "n_embd": 4, "n_positions": 7}
    settings = {"layers": 1, "heads": 1, "width": 4, "context": 7, "tied": True}
    assert from_gpt2_config({**told, "n_inner": None}) == (settings, "")


def test_a_text_is_never_continued_by_padding_or_the_unknown() -> None:
    assert generation_config()["suppress_tokens"] == [0, 1, 2]
    assert generation_config()["eos_token_id"] == 3
