"""The path of an optimizer: a closed form, options, and a start that is left alone."""

from typing import Any

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.core.seeding import generator
from netwright.theory.optimizers.optimizer_path import optimizer_path


def test_a_path_of_plain_descent_is_a_power_of_one_minus_rate_times_curvature() -> None:
    curvatures = torch.tensor([1.0, 3.0, 9.0], dtype=torch.float64)
    start = torch.tensor([2.0, -1.0, 0.5], dtype=torch.float64)
    path = optimizer_path("sgd", lambda x: curvatures * x, start, lr=0.2, steps=20)
    powers = (1 - 0.2 * curvatures) ** torch.arange(21)[:, None]
    assert torch.allclose(path, powers * start, rtol=0, atol=1e-12)


def test_a_path_hands_options_on_and_leaves_the_start_alone() -> None:
    start = torch.zeros(1)
    path = optimizer_path("momentum", lambda _: torch.ones(1), start, lr=1.0, steps=2, momentum=0.5)
    assert path.flatten().tolist() == [0.0, -1.0, -2.5]
    assert start.item() == 0.0


def test_the_last_place_alone_is_that_of_the_path() -> None:
    start = torch.tensor([2.0, -1.0])
    path, last = (
        optimizer_path("adam", torch.clone, start, lr=0.1, steps=9, only_last=only)
        for only in (False, True)
    )
    assert last.shape == (1, 2)
    assert torch.equal(last[0], path[-1])


@pytest.mark.parametrize(("name", "options"), [("lbfgs", {}), ("newton", {"damping": 0.0})])
def test_a_method_that_asks_for_the_value_finds_the_minimum_of_a_quadratic(
    name: str, options: dict[str, Any]
) -> None:
    curvatures = torch.tensor([1.0, 100.0], dtype=torch.float64)
    path = optimizer_path(
        name,
        lambda x: curvatures * x,
        torch.ones(2, dtype=torch.float64),
        steps=2,
        value=lambda x: (curvatures * x.square()).sum() / 2,
        **options,
    )
    assert path[-1].norm() < 1e-5


def test_a_method_that_asks_for_the_value_is_refused_without_it() -> None:
    with pytest.raises(ConfigError) as refusal:
        optimizer_path("lbfgs", torch.clone, torch.ones(2), steps=1)
    assert str(refusal.value) == "lbfgs needs the value of the function, got only its gradient"


@pytest.mark.slow
@pytest.mark.covers("lr-scheduling-general")
def test_with_noise_a_constant_rate_stays_above_the_minimum_and_a_falling_one_does_not() -> None:
    rng, steps = generator(0, "noise"), 2000

    def errors(falls: bool) -> torch.Tensor:
        times = iter(range(1, steps + 1))

        def gradient(x: torch.Tensor) -> torch.Tensor:
            noise = torch.randn(x.shape, generator=rng, dtype=torch.float64)
            return (x + noise) / (max(1.0, next(times) / 5) if falls else 1.0)

        start = torch.ones(500, dtype=torch.float64)  # 500 runs side by side
        path = optimizer_path("sgd", gradient, start, lr=0.2, steps=steps)
        return path[-100:].square().mean()

    constant, falling = errors(falls=False), errors(falls=True)
    # The plateau of x <- (1 - eta) x - eta noise has the variance eta / (2 - eta).
    assert constant.item() == pytest.approx(0.2 / 1.8, rel=0.05)
    assert falling < constant / 10
