"""A model at rest: every part in its own mode again afterwards, also after an error."""

import pytest
import torch
from torch import nn

from netwright.core.evaluation import evaluating


def modes(model: nn.Module) -> list[bool]:
    return [part.training for part in model.modules()]


def test_every_part_is_as_it_was_also_after_an_error() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    model[1].eval()  # frozen by its owner
    before = modes(model)
    assert before == [True, True, False]
    with pytest.raises(KeyError), evaluating(model):
        assert not any(modes(model))
        assert not torch.is_grad_enabled()
        raise KeyError
    assert modes(model) == before
    assert torch.is_grad_enabled()
