"""Activation checkpointing: the same bits, buffers that move once, fewer numbers kept, refusals."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.parametrizations import spectral_norm

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


class Counting(nn.Module):
    """A buffer that is another tensor after each pass, and that the output follows from."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("passes", torch.ones(()))
        self.register_buffer("none", None)
        self.passes: Tensor

    def forward(self, x: Tensor) -> Tensor:
        self.passes = self.passes + 1
        return x * self.passes


def net_with_buffers() -> nn.Sequential:
    def block() -> nn.Sequential:
        layer = spectral_norm(nn.Linear(3, 3))
        return nn.Sequential(layer, nn.BatchNorm1d(3), Counting(), nn.Tanh())

    with seeded(0):
        return nn.Sequential(block(), block(), block())


def test_buffers_move_once_an_update_and_are_as_they_were_while_computed_again() -> None:
    models = [net_with_buffers(), net_with_buffers()]
    settings: dict[str, Any] = {"epochs": 2, "batch_size": 4}
    plain = toy_fit(models[0], toy_data(), **settings)
    ours = toy_fit(models[1], toy_data(), **settings, activation_checkpointing=True)
    norm = models[1].get_submodule("0.1")
    assert isinstance(norm, nn.BatchNorm1d) and norm.num_batches_tracked == ours.step == 10
    assert_same(models[1].state_dict(), models[0].state_dict())
    assert ours.history.as_dict() == plain.history.as_dict()


def test_a_buffer_of_a_layer_outside_too_is_not_written_to_and_a_pass_may_be_gone_back_twice() -> (
    None
):
    class Scaled(nn.Module):
        def __init__(self, scale: Tensor) -> None:
            super().__init__()
            self.layer = nn.Linear(3, 3)
            self.register_buffer("scale", scale)
            self.scale: Tensor

        def forward(self, x: Tensor) -> Tensor:
            found: Tensor = self.layer(x) * self.scale
            return found

    shared = torch.ones(3)
    first = Scaled(shared)  # its backward pass is the last
    model = nn.Sequential(first, nn.Sequential(Scaled(shared), Scaled(shared)))
    output = recomputed(model, model)(torch.randn(2, 3))
    assert isinstance(output, Tensor)
    output.sum().backward(retain_graph=True)  # type: ignore[no-untyped-call]
    output.sum().backward()  # type: ignore[no-untyped-call]
    assert first.layer.weight.grad is not None


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
