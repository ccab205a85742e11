"""The model's forward pass by torch.compile; `test_step.py` trains with it."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from netwright.core.errors import ConfigError, RunError
from netwright.core.seeding import seeded
from netwright.models.transformers.gpt import GPT, GPTConfig
from netwright.train.updates.compiled_forward import MOST_CODES, check_codes, compiled
from tests.train.token_data import text_data
from tests.train.toy_runs import toy_data, toy_net, toy_trainer


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


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_a_large_model_of_few_blocks_is_compiled_as_a_whole_on_cuda(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(torch, "compile", lambda run, **_: seen.append(run))
    for layers, width, is_whole in ((12, 768, True), (12, 256, False), (16, 768, False)):
        model = GPT.build(GPTConfig(layers=layers, heads=4, width=width), text_data().spec)
        compiled(model.to("cuda"))
        assert (seen[-1] is model) is is_whole
        seen.clear()
    compiled(GPT.build(GPTConfig(layers=12, heads=4, width=768), text_data().spec))
    assert len(seen) == 12


class Numbered(nn.Module):
    """A block whose forward pass has a number of its own as a constant."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.layer, self.number = nn.Linear(3, 3), number

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.layer(x) * self.number
        return found


def test_blocks_that_share_no_code_are_compiled_as_a_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(torch, "compile", lambda run, **_: seen.append(run))
    few, many = (nn.Sequential(*map(Numbered, range(kinds))) for kinds in (MOST_CODES, 12))
    compiled(few)
    assert [run.__self__ for run in seen] == list(few)
    compiled(many)
    assert seen[-1] is many
    check_codes(few)
    data = toy_data()
    with pytest.raises(ConfigError, match=r"at most 3 kinds, got 12 kinds in Sequential: set"):
        toy_trainer(data, compile=True, activation_checkpointing=True).start(many, data)
