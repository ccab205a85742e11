"""Activation checkpointing: the same bits with dropout, fewer numbers kept, refusals, resume."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.models.transformers.gpt import GPT, GPTConfig
from netwright.train.setting_marks import Resume
from netwright.train.settings import settings_marked
from netwright.train.updates.recomputed_blocks import recomputed
from tests.train.token_data import text_data
from tests.train.toy_runs import assert_same, copy_of, toy_data, toy_fit, toy_net, toy_trainer


def small_gpt(**settings: Any) -> GPT:
    with seeded(0):
        chosen = GPTConfig(layers=3, heads=2, width=8, dropout=0.2, **settings)
        return GPT.build(chosen, text_data().spec)


@contextmanager
def kept_numbers() -> Iterator[list[int]]:
    """How many numbers autograd keeps for the backward pass."""
    sizes: list[int] = []

    def pack(kept: Tensor) -> Tensor:
        sizes.append(kept.numel())
        return kept

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda kept: kept):
        yield sizes


def test_weights_and_history_are_the_same_bits_after_50_steps() -> None:
    data = text_data(length=41)
    models = [small_gpt(), small_gpt()]
    settings: dict[str, Any] = {"epochs": 10, "batch_size": 2}
    plain = toy_fit(models[0], data, **settings)
    ours = toy_fit(models[1], data, **settings, activation_checkpointing=True)
    assert ours.step == 50
    assert_same(copy_of(models[1]), copy_of(models[0]))
    assert ours.history.as_dict() == plain.history.as_dict()


def test_of_each_block_only_its_input_is_kept() -> None:
    model, tokens = small_gpt(), text_data().train.inputs
    with kept_numbers() as whole:
        model(tokens).sum()
    with kept_numbers() as inputs:
        recomputed(model, model)(tokens)
    assert sum(inputs) < 0.3 * sum(whole)


def test_a_model_without_blocks_is_refused_before_training() -> None:
    data = toy_data()
    with pytest.raises(ConfigError, match=r"activation_checkpointing needs a model with a stack"):
        toy_trainer(data, activation_checkpointing=True).start(toy_net(), data)


def test_a_run_may_go_on_with_it_or_without() -> None:
    assert "activation_checkpointing" in settings_marked(Resume.FREE)
