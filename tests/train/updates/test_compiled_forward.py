"""The model's forward pass by torch.compile; `test_step.py` trains with it."""

from typing import Any

import pytest
import torch

from netwright.core.errors import RunError
from netwright.core.seeding import seeded
from netwright.models.transformers.gpt import GPT, GPTConfig
from netwright.train.updates.compiled_forward import compiled
from tests.train.token_data import text_data
from tests.train.toy_runs import toy_net


def test_an_error_of_the_compiler_is_told_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(inputs: object) -> None:
        raise torch._dynamo.exc.TorchDynamoException("no compiler\n\nmore lines")

    monkeypatch.setattr(torch, "compile", lambda model, **_: refuse)
    with pytest.raises(RunError, match=r"cannot be compiled: no compiler; set compile to false$"):
        compiled(toy_net())(torch.zeros(2, 3))


def test_of_a_stack_of_equal_blocks_each_is_compiled_and_of_another_model_the_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[Any] = []

    def noted(run: Any, **_: Any) -> Any:
        seen.append(run)
        return run

    monkeypatch.setattr(torch, "compile", noted)
    with seeded(0):
        model = GPT.build(GPTConfig(layers=3, heads=2, width=8), text_data().spec)
    tokens = text_data().train.inputs
    output = compiled(model)(tokens)
    assert [run.__self__ for run in seen] == list(model.h)
    assert isinstance(output, torch.Tensor) and torch.equal(output, model(tokens))
    assert not any("forward" in vars(block) for block in model.h)
    net = toy_net()
    compiled(net)
    assert seen[-1] is net
