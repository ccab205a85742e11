"""Kinds of attention and positions by name: what is built, what it adds to scores, resume."""

from pathlib import Path
from typing import Any

import pytest
import torch

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.layers.attention.bigbird_attention import BigBirdAttention, BigBirdBlocks
from netwright.layers.attention.hierarchical_attention import HierarchicalAttention
from netwright.layers.attention.relative_positions import AlibiBias, RelativePositionBias
from netwright.models.transformers.attention_settings import (
    AttentionConfig,
    build_attention,
    build_positions,
    build_relative,
    score_bias,
)
from netwright.models.transformers.gpt import GPTConfig
from tests.repetition import for_each

KINDS = {"full": "MultiHeadAttention", "window": "WindowAttention", "linear": "LinearAttention"}


@for_each(("name", "kind"), KINDS.items())
def test_the_attention_is_that_of_its_name(name: str, kind: str) -> None:
    config = AttentionConfig(attention=name, width=8, heads=2, dropout=0.25)  # type: ignore[arg-type]
    attention = build_attention(config, 6, causal=True)
    assert type(attention).__name__ == kind
    assert attention.causal
    assert attention.dropout == 0.25
    assert attention.rotary is None


def test_bigbird_is_built_where_a_text_is_read_both_ways() -> None:
    config = AttentionConfig(
        attention="bigbird", width=8, heads=2, attention_block=3, random_blocks=2
    )
    attention = build_attention(config, 6, causal=False)
    assert isinstance(attention, BigBirdAttention)
    assert attention.blocks == BigBirdBlocks(3, 1, 2)
    with pytest.raises(ConfigError, match=r"window or linear here: attention=bigbird reads both"):
        build_attention(config, 6, causal=True)


def test_hierarchical_attention_is_built_where_a_text_is_read_both_ways() -> None:
    config = AttentionConfig(attention="hierarchical", width=8, heads=2, attention_block=3)
    attention = build_attention(config, 6, causal=False)
    assert isinstance(attention, HierarchicalAttention)
    assert attention.chunk == 3
    with pytest.raises(ConfigError, match=r"window or linear here: attention=hierarchical reads"):
        build_attention(config, 6, causal=True)


def test_positions_are_added_or_turned_or_told_in_the_scores_never_twice() -> None:
    for name in ("learned", "sinusoidal", "rotary", "alibi", "t5"):
        config = AttentionConfig(positions=name, width=8, heads=2)
        told = (
            build_positions(config, 6),
            build_attention(config, 6, causal=True).rotary,
            build_relative(config, causal=True),
        )
        assert sum(part is not None for part in told) == 1, name


@pytest.mark.parametrize("relative", [AlibiBias(2), RelativePositionBias(2, is_causal=True)])
def test_a_bias_has_the_form_that_the_attention_takes(
    relative: AlibiBias | RelativePositionBias,
) -> None:
    def told(kind: str) -> torch.Tensor | None:
        config = AttentionConfig(attention=kind, width=4, heads=2)  # type: ignore[arg-type]
        return score_bias(relative, build_attention(config, 9, causal=True), 2, 5)

    pairs, row = told("full"), told("window")
    assert pairs is not None
    assert row is not None
    assert pairs.shape == (2, 2, 5)
    assert row.shape == (2, 9)
    assert torch.equal(pairs[:, 1], row[:, :5])  # the last query is at place 4
    assert score_bias(None, build_attention(AttentionConfig(), 9, causal=True), 2) is None


@pytest.mark.parametrize(
    "settings",
    [
        {"attention": "window", "attention_window": 3, "global_tokens": 1, "positions": "t5"},
        pytest.param({"attention": "linear"}, marks=pytest.mark.slow),
    ],
    ids=lambda settings: settings["attention"],
)
def test_it_is_trained_resumed_bit_by_bit_and_opened(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    text = tmp_path / "letters.txt"
    text.write_text("abcdefg hijk lmnop. " * 30)
    config = GPTConfig(layers=1, heads=2, width=8, **settings)
    given: dict[str, Any] = {
        "data": str(text),
        "optimizer": "adam",
        "batch_size": 4,
        "window": 16,
        "epochs": 3,
    }
    whole = nw.fit(config, out=tmp_path / "whole", **given)
    nw.fit(config, out=tmp_path / "part", max_steps=3, **given)
    resumed = nw.fit(config, out=tmp_path / "part", resume="auto", **given)
    again = nw.open_run(tmp_path / "part")
    for name, weight in whole.model.state_dict().items():
        assert torch.equal(weight, resumed.model.state_dict()[name]), name
        assert torch.equal(weight, again.model.state_dict()[name]), name
    prompts = ["abc", "g hij"]
    told = whole.complete(prompts, max_tokens=5, temperature=0)
    assert again.complete(prompts, max_tokens=5, temperature=0) == told
