"""minGRU and minLSTM as models: their contract, and a sum that they learn to carry along."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from netwright.core.seeding import seeded
from netwright.data.spec import DataSpec
from netwright.models.sequence.linear_recurrent_model import LinearRecurrentModel
from netwright.models.sequence.min_recurrent import MinGRU, MinGRUConfig, MinLSTM, MinLSTMConfig
from netwright.testing.model_contract import MODEL_CHECKS, Build
from tests.models.sequence.specs import SPECS, series, train
from tests.repetition import for_each

BUILDS: dict[str, Callable[[DataSpec], LinearRecurrentModel]] = {
    "mingru": lambda spec: MinGRU.build(MinGRUConfig(hidden=4, embedding=3), spec),
    "minlstm": lambda spec: MinLSTM.build(MinLSTMConfig(hidden=4, embedding=3, layers=1), spec),
}


@for_each("name", BUILDS)
@for_each("kind", SPECS)
@for_each("check", MODEL_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_model_contract(check: Callable[[Build], None], kind: str, name: str) -> None:
    check(lambda: BUILDS[name](SPECS[kind]))


def marked_numbers(numbers: torch.Generator) -> tuple[Tensor, Tensor]:
    """Two numbers of ten are marked; their sum is asked for."""
    values = torch.rand(32, 10, generator=numbers)
    marks = torch.zeros(32, 10)
    for half in (0, 5):
        places = half + torch.randint(5, (32, 1), generator=numbers)
        marks.scatter_(1, places, 1.0)
    return torch.stack((values, marks), dim=2), (values * marks).sum(1, keepdim=True)


@pytest.mark.slow
def test_learns_to_add_the_two_numbers_that_are_marked() -> None:
    with seeded(0):
        model = MinGRU.build(MinGRUConfig(hidden=12, layers=2, dropout=0.0), series(10, 2))
    train(model, marked_numbers, functional.mse_loss, steps=150)
    inputs, sums = marked_numbers(torch.Generator().manual_seed(1))
    with torch.no_grad():
        error = float(functional.mse_loss(model(inputs), sums))
    assert error < float(sums.var()) / 3


def test_the_card_tells_min_gru_from_the_linear_recurrent_unit() -> None:
    assert "often called the LRU" in MinGRU.card.misprint
