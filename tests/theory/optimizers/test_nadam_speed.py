"""NAdam and Adam: the problems, the steps they need, the range of stable steps, the verdict."""

import pytest
import torch

from netwright.core.seeding import generator
from netwright.theory.optimizers.nadam_speed import (
    CONSTANT,
    NADAM_SPEED,
    RATES,
    STEPS,
    Problem,
    logistic,
    slanted,
    steps_needed,
)
from netwright.theory.optimizers.optimizer_path import optimizer_path
from tests.theory.costly import COSTLY_CLAIM_CHECKS


@pytest.mark.parametrize("check", COSTLY_CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(NADAM_SPEED)


@pytest.mark.parametrize("make", [logistic, slanted])
def test_gradients_are_those_of_the_values_and_vanish_at_the_minimum(make) -> None:  # type: ignore[no-untyped-def]
    problem = make(generator(0, "test"))
    place = torch.linspace(-1, 1, len(problem.best), dtype=torch.float64)
    assert torch.allclose(problem.gradient(place), torch.func.grad(problem.value)(place))
    assert problem.gradient(problem.best).norm() < 1e-12


BOWL = Problem(
    value=lambda x: x.square().sum(-1) / 2,
    gradient=lambda x: x,
    best=torch.zeros(1, dtype=torch.float64),
)


def test_steps_are_counted_until_the_loss_is_close() -> None:
    start = torch.ones(2, 1, dtype=torch.float64)
    # At the rate 1 a step of gradient descent lands on the minimum.
    assert steps_needed("sgd", BOWL, start, 1e-6, 10).tolist() == [1.0, 1.0]
    assert steps_needed("sgd", BOWL, start, 1.0, 10).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(("heights", "needed"), [([1, 1, 0, 1, 0], 2), ([1, 1, 1, 1, 1], 4)])
def test_the_first_touch_counts_and_a_run_without_one_counts_all_its_steps(
    monkeypatch: pytest.MonkeyPatch, heights: list[float], needed: int
) -> None:
    def wanders(name, gradient, start, **_):  # type: ignore[no-untyped-def]
        places = torch.tensor(heights, dtype=torch.float64)
        # From the start at 0, in units of the rate.
        return (places / RATES).movedim(-1, 0)[..., None]

    monkeypatch.setattr("netwright.theory.optimizers.nadam_speed.optimizer_path", wanders)
    start = torch.zeros(1, 1, dtype=torch.float64)
    assert steps_needed("adam", BOWL, start, 1e-6, 4).tolist() == [needed]


def test_the_momentum_is_constant_from_the_first_step_on() -> None:
    first, second = 1.0, 0.5
    gradients = iter([first, second])
    start = torch.zeros(1, dtype=torch.float64)
    path = optimizer_path(
        "nadam",
        lambda _: torch.tensor([next(gradients)], dtype=torch.float64),
        start,
        lr=1.0,
        steps=2,
        **CONSTANT,
    )
    m, v, place, mu = 0.0, 0.0, 0.0, 0.9
    for t, g in ((1, first), (2, second)):  # as the card has it
        m, v = mu * m + (1 - mu) * g, 0.999 * v + 0.001 * g**2
        ahead = mu * m / (1 - mu ** (t + 1)) + (1 - mu) * g / (1 - mu**t)
        place -= ahead / ((v / (1 - 0.999**t)) ** 0.5 + 1e-8)
    assert path[-1].item() == pytest.approx(place)


def test_a_problem_that_neither_solves_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def needed(name, problem, start, steps, **_):  # type: ignore[no-untyped-def]
        hard = problem.spread != 1.0
        return torch.full((2,), steps if hard else 10.0 if name == "nadam" else 20.0)

    monkeypatch.setattr("netwright.theory.optimizers.nadam_speed.steps_needed", needed)
    wins, ratio = NADAM_SPEED.check().findings
    assert (wins.measured, wins.predicted, wins.n) == (3, 2, 3)
    assert ratio.measured == pytest.approx(0.5)


@pytest.mark.parametrize(("name", "limit"), [("momentum", 3.8), ("nesterov", 3.8 / 2.8)])
def test_looking_ahead_narrows_the_range_of_stable_steps(name: str, limit: float) -> None:
    def end(product: float) -> float:
        start = torch.ones(1, dtype=torch.float64)
        return float(optimizer_path(name, lambda x: x, start, lr=product, steps=2000)[-1].abs())

    assert end(0.99 * limit) < 1e-3
    assert end(1.01 * limit) > 1e3


@pytest.mark.slow
def test_a_nadam_that_hardly_moves_turns_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow_nadam(name, *arguments, **options):  # type: ignore[no-untyped-def]
        rate = 1e-6 if name == "nadam" else 1.0
        return optimizer_path(name, *arguments, **{**options, "lr": rate})

    monkeypatch.setattr("netwright.theory.optimizers.nadam_speed.optimizer_path", slow_nadam)
    monkeypatch.setitem(STEPS, "quick", 100)
    assert not NADAM_SPEED.check().holds
