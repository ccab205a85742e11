"""The named optimizers: the contract, their cards, and that a name means what it says."""

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from netwright.core.errors import UnknownNameError
from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.optimizer import build_optimizer
from netwright.testing.optimizer_contract import OPTIMIZER_CHECKS, Build
from tests.repetition import for_each

# Rates that suit a bowl of curvatures 2 and 20; L-BFGS and Newton are held back so that they do
# not arrive in their first step, and Adadelta's first steps are of the size sqrt(eps).
SETTINGS: dict[str, dict[str, Any]] = {
    "adam": {"lr": 0.1},
    "adamw": {"lr": 0.1},
    "gradient-descent": {"lr": 0.02},
    "sgd": {"lr": 0.02},
    "momentum": {"lr": 0.01},
    "heavy-ball": {"lr": 0.01},
    "nesterov": {"lr": 0.01},
    "rmsprop": {"lr": 0.05},
    "adagrad": {"lr": 0.5},
    "adadelta": {"lr": 1.0, "options": {"eps": 1e-2}},
    "nadam": {"lr": 0.1},
    "lion": {"lr": 0.02},
    "muon": {"options": {"adam_lr": 0.1}},  # the bowl has no matrix
    "svrg": {"lr": 0.02, "options": {"period": 4}},
    "newton": {"lr": 0.5},
    "hessian-free": {"lr": 0.5},
    "lbfgs": {"lr": 1.0, "options": {"max_iter": 1, "line_search_fn": None}},
}


class Weights(nn.Module):
    """Parameters that are somebody else's."""

    def __init__(self, params: list[nn.Parameter]) -> None:
        super().__init__()
        self.params = nn.ParameterList(params)


def test_every_optimizer_is_tested() -> None:
    assert set(SETTINGS) == set(OPTIMIZERS)


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("check", OPTIMIZER_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_optimizer_contract(name: str, check: Callable[[Build], None]) -> None:
    entry = OPTIMIZERS.load(name)
    check(lambda params: build_optimizer(entry, Weights(params), **SETTINGS[name]))


@for_each("name", OPTIMIZERS)
def test_entry_has_a_full_card_and_a_rate(name: str) -> None:
    entry = OPTIMIZERS.load(name)
    assert entry.lr > 0
    assert entry.card.sentence.endswith(".")
    assert entry.card.formula
    assert "$" not in entry.card.formula
    assert entry.card.source
    for symbol in ", ".join(entry.card.symbols).split(", "):
        assert re.search(re.escape(symbol) + "(?!_)", entry.card.formula), symbol


@for_each("name", OPTIMIZERS)
def test_presets_are_options_of_the_class(name: str) -> None:
    entry = OPTIMIZERS.load(name)
    assert set(entry.presets) <= set(entry.options())


@for_each("name", OPTIMIZERS)
def test_closure_is_claimed_exactly_where_a_step_needs_one(name: str) -> None:
    weight = nn.Parameter(torch.ones(2))
    entry = OPTIMIZERS.load(name)
    optimizer = build_optimizer(entry, Weights([weight]))
    weight.grad = torch.ones(2)
    if entry.closure:
        with pytest.raises(TypeError, match="closure"):
            optimizer.step()
    else:
        optimizer.step()
        assert bool((weight < 1).all())


def steps_on_a_slope(name: str, sign: int, **settings: Any) -> tuple[list[float], torch.Tensor]:
    """The losses of four steps on sign times a bowl of matrices, and where they end."""
    rows = torch.linspace(-1, 2, 6, dtype=torch.float64).view(2, 3)
    weight, entry = nn.Parameter(torch.zeros_like(rows)), OPTIMIZERS.load(name)
    make: Any = entry.make
    optimizer = make([weight], lr=0.1, **{**entry.presets, **settings})

    def closure() -> Any:
        optimizer.zero_grad()
        loss = sign * (weight - rows).square().sum()
        if entry.graph:
            return loss, (weight,)
        torch.autograd.backward(loss)
        return loss

    step: Any = optimizer.step
    return [float(step(closure).detach()) for _ in range(4)], weight.detach()


@for_each("name", [name for name in OPTIMIZERS if name != "lbfgs"])
def test_to_maximize_is_to_minimize_the_negative(name: str) -> None:
    down, floor = steps_on_a_slope(name, 1)
    up, top = steps_on_a_slope(name, -1, maximize=True)
    assert torch.equal(floor, top)
    assert up == [-loss for loss in down]
    assert up[-1] > up[0]  # or else nothing moved


def test_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"^unknown optimizer 'adm'; did you mean 'adam'"):
        OPTIMIZERS.load("adm")
