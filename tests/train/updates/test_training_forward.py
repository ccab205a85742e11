"""Which forward pass an update has: whole for noise and second derivatives, in parts, in blocks."""

from functools import partial
from typing import Any

import pytest
import torch
from torch import nn

from netwright.core.outputs import UnscoredTokens
from netwright.core.seeding import generator, seeded
from netwright.models.transformers.gpt import GPT, GPTConfig
from netwright.train.settings import TrainConfig
from netwright.train.tasks import per_token
from netwright.train.tasks.language_modelling import LanguageModelling
from netwright.train.updates.training_forward import training_forward
from tests.train.token_data import KINDS, text_data
from tests.train.toy_runs import assert_same

TASK = LanguageModelling(KINDS)


def small_gpt() -> GPT:
    with seeded(0):
        return GPT.build(GPTConfig(layers=3, heads=2, width=8), text_data().spec)


def test_noise_and_optimizers_that_search_get_all_logits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(per_token, "LARGE_VOCABULARY", 2)
    model, tokens = small_gpt(), text_data().train.inputs
    settings: list[dict[str, Any]] = [{"output_noise": 0.1}, {"optimizer": "lbfgs"}]
    for chosen in settings:
        assert training_forward(model, TASK, TrainConfig(**chosen)) is model
    parts = training_forward(model, TASK, TrainConfig())(tokens)
    again = training_forward(model, TASK, TrainConfig(activation_checkpointing=True))(tokens)
    assert isinstance(parts, UnscoredTokens) and isinstance(again, UnscoredTokens)
    assert torch.equal(parts.vectors, again.vectors)


# Torch hides this warning of its own tracing where it is shown, not where it is an error.
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")
def test_blocks_that_are_a_part_of_the_model_are_compiled_and_computed_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="eager"))

    def net() -> nn.Sequential:
        with seeded(0):
            blocks = [nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)) for _ in range(2)]
            return nn.Sequential(nn.Sequential(*blocks), *(nn.Linear(3, 3) for _ in range(3)))

    models, inputs = [net(), net()], torch.randn(4, 3, generator=generator(0, "inputs"))
    config = TrainConfig(compile=True, activation_checkpointing=True)
    for forward in (models[0], training_forward(models[1], TASK, config)):
        output = forward(inputs)
        assert isinstance(output, torch.Tensor)
        output.square().sum().backward()  # type: ignore[no-untyped-call]
    assert_same(models[1].state_dict(), models[0].state_dict())
    for ours, plain in zip(models[1].parameters(), models[0].parameters(), strict=True):
        assert ours.grad is not None and plain.grad is not None
        torch.testing.assert_close(ours.grad, plain.grad)


def test_blocks_that_are_computed_again_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    def compiled(run: Any, **_: Any) -> Any:
        def noted(*given: Any) -> Any:
            ran.append(type(run.__self__).__name__)
            return run(*given)

        return noted

    monkeypatch.setattr(torch, "compile", compiled)
    model, tokens = small_gpt(), text_data().train.inputs
    config = TrainConfig(compile=True, activation_checkpointing=True)
    output = training_forward(model, TASK, config)(tokens)
    assert ran == ["TransformerBlock"] * 3
    assert isinstance(output, torch.Tensor)
    output.sum().backward()  # type: ignore[no-untyped-call]
    assert ran == ["TransformerBlock"] * 6
