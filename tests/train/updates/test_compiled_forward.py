"""The model's forward pass by torch.compile; `test_step.py` trains with it."""

import pytest
import torch

from netwright.core.errors import RunError
from netwright.train.updates.compiled_forward import compiled
from tests.train.toy_runs import toy_net


def test_an_error_of_the_compiler_is_told_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(inputs: object) -> None:
        raise torch._dynamo.exc.TorchDynamoException("no compiler\n\nmore lines")

    monkeypatch.setattr(torch, "compile", lambda model, **_: refuse)
    with pytest.raises(RunError, match=r"cannot be compiled: no compiler; set compile to false$"):
        compiled(toy_net())(torch.zeros(2, 3))
