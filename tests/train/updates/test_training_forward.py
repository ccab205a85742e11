"""Which forward pass an update has: whole for noise and second derivatives, in parts, in blocks."""

from typing import Any

import pytest
import torch

from netwright.core.outputs import UnscoredTokens
from netwright.core.seeding import seeded
from netwright.models.transformers.gpt import GPT, GPTConfig
from netwright.train.settings import TrainConfig
from netwright.train.tasks import language_modelling
from netwright.train.tasks.language_modelling import LanguageModelling
from netwright.train.updates.training_forward import training_forward
from tests.train.token_data import KINDS, text_data

TASK = LanguageModelling(KINDS)


def small_gpt() -> GPT:
    with seeded(0):
        return GPT.build(GPTConfig(layers=3, heads=2, width=8), text_data().spec)


def test_noise_and_optimizers_that_search_get_all_logits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language_modelling, "LARGE_VOCABULARY", 2)
    model, tokens = small_gpt(), text_data().train.inputs
    settings: list[dict[str, Any]] = [{"output_noise": 0.1}, {"optimizer": "lbfgs"}]
    for chosen in settings:
        assert training_forward(model, TASK, TrainConfig(**chosen)) is model
    parts = training_forward(model, TASK, TrainConfig())(tokens)
    again = training_forward(model, TASK, TrainConfig(activation_checkpointing=True))(tokens)
    assert isinstance(parts, UnscoredTokens) and isinstance(again, UnscoredTokens)
    assert torch.equal(parts.vectors, again.vectors)


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
