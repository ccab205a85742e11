"""T5's settings by the names of `transformers`: there and back, and what has no place."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from netwright.models.exchange.t5_config import differs_from_t5, from_t5_config, to_t5_config
from netwright.models.transformers.t5 import T5, T5Config
from tests.models.transformers.test_transformer import SPEC

TOLD = json.loads((Path(__file__).parents[1] / "transformers" / "t5_tiny.json").read_text())


def test_there_and_back_they_are_the_same() -> None:
    config = T5Config(layers=2, heads=2, width=8, hidden=12, feed_forward="gated-gelu", dropout=0.1)
    told = to_t5_config(T5.build(config, SPEC))
    assert told["vocab_size"] == 9
    settings, reason = from_t5_config(told)
    assert not reason
    assert T5Config(**settings) == config


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"model_type": "mt5"}, "model_type is 'mt5', wanted 't5'"),
        ({"d_model": "8"}, "d_model must be a whole number, got '8'"),
        ({"num_decoder_layers": 3}, "num_decoder_layers is 3, wanted 2, as many as in the encoder"),
        ({"d_kv": 64}, "d_kv is 64, wanted 8 / 2, the width shared among the heads"),
        ({"feed_forward_proj": "gated-silu"}, "is 'gated-silu', wanted relu or gated-gelu"),
    ],
)
def test_what_is_none_of_ours_is_told(changed: dict[str, Any], reason: str) -> None:
    assert from_t5_config({**TOLD, **changed})[1].endswith(reason)


def test_what_transformers_has_no_place_for() -> None:
    small: dict[str, Any] = {"layers": 1, "heads": 2, "width": 8}
    two = T5.build(T5Config(**small), replace(SPEC, shared_vocabulary=False))
    assert differs_from_t5(two).startswith("sources and targets have two vocabularies")
    untied = T5.build(T5Config(**small, tied=False), SPEC)
    assert differs_from_t5(untied) == "its head is not the embedding (model.tied)"
    assert not differs_from_t5(T5.build(T5Config(**small), SPEC))
