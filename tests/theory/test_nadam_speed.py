"""NAdam and Adam: the problems, the steps they need, the range of stable steps, the verdict."""

import pytest
import torch

from netwright.core.seeding import generator
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.nadam_speed import (
    NADAM_SPEED,
    RATES,
    Problem,
    logistic,
    slanted,
    steps_needed,
)
from netwright.theory.optimizer_path import optimizer_path


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(NADAM_SPEED)


@pytest.mark.parametrize("make", [logistic, slanted])
def test_gradients_are_those_of_the_values_and_vanish_at_the_minimum(make) -> None:  # type: ignore[no-untyped-def]
    problem = make(generator(0, "test"))
    place = torch.linspace(-1, 1, len(problem.best), dtype=torch.float64)
    assert torch.allclose(problem.gradient(place), torch.func.grad(problem.value)(place))
    assert problem.gradient(problem.best).norm() < 1e-12


def test_steps_are_counted_until_the_loss_stays_small() -> None:
    bowl = Problem(
        value=lambda x: x.square().sum(-1) / 2,
        gradient=lambda x: x,
        best=torch.zeros(1, dtype=torch.float64),
    )
    start = torch.ones(2, 1, dtype=torch.float64)
    # At the rate 1 a step of gradient descent lands on the minimum.
    assert steps_needed("sgd", bowl, start, 1e-6, 10).tolist() == [1.0, 1.0]
    assert steps_needed("sgd", bowl, start, 1.0, 10).tolist() == [0.0, 0.0]


def test_a_run_that_touches_the_minimum_and_leaves_it_is_not_there_yet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def wanders(name, gradient, start, **_):  # type: ignore[no-untyped-def]
        places = torch.tensor([1.0, 0.0, 1.0, 0.0, 0.0], dtype=torch.float64)
        # From the start at 0, in units of the rate.
        return (places / RATES).movedim(-1, 0)[..., None]

    monkeypatch.setattr("netwright.theory.nadam_speed.optimizer_path", wanders)
    bowl = Problem(
        value=lambda x: x.square().sum(-1),
        gradient=lambda x: x,
        best=torch.zeros(1, dtype=torch.float64),
    )
    start = torch.zeros(1, 1, dtype=torch.float64)
    assert steps_needed("adam", bowl, start, 1e-6, 4).tolist() == [3.0]


@pytest.mark.parametrize(("name", "limit"), [("momentum", 3.8), ("nesterov", 3.8 / 2.8)])
def test_looking_ahead_narrows_the_range_of_stable_steps(name: str, limit: float) -> None:
    def end(product: float) -> float:
        start = torch.ones(1, dtype=torch.float64)
        return float(optimizer_path(name, lambda x: x, start, lr=product, steps=2000)[-1].abs())

    assert end(0.99 * limit) < 1e-3
    assert end(1.01 * limit) > 1e3


def test_an_adam_that_hardly_moves_turns_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow_adam(name, *arguments, **options):  # type: ignore[no-untyped-def]
        rate = 1e-6 if name == "adam" else 1.0
        return optimizer_path(name, *arguments, **{**options, "lr": rate})

    monkeypatch.setattr("netwright.theory.nadam_speed.optimizer_path", slow_adam)
    assert NADAM_SPEED.check().holds
