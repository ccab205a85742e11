"""What each name does to a weight: the formula of its card, worked by hand or step by step."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.optimizer import build_optimizer

Vector = list[float]


class Point(nn.Module):
    """One weight vector, in double precision."""

    def __init__(self, start: Vector) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(start, dtype=torch.float64))


def path(
    name: str, start: Vector, gradient: Callable[[Tensor], Tensor], steps: int, **settings: Any
) -> Tensor:
    """The weights before the first step and after each, (steps + 1, D)."""
    point = Point(start)
    optimizer = build_optimizer(OPTIMIZERS.load(name), point, **settings)
    places = [point.weight.detach().clone()]
    for _ in range(steps):
        point.weight.grad = gradient(point.weight.detach()).clone()
        optimizer.step()
        places.append(point.weight.detach().clone())
    return torch.stack(places)


def constant(*values: float) -> Callable[[Tensor], Tensor]:
    return lambda weight: torch.tensor(values, dtype=torch.float64)


def close(actual: Tensor, expected: Tensor, tolerance: float = 1e-12) -> None:
    torch.testing.assert_close(actual, expected, rtol=0, atol=tolerance)


# The ill-conditioned bowl 1/2 w' H w with curvatures 1 and 100.
H = torch.tensor([1.0, 100.0], dtype=torch.float64)


def bowl_gradient(weight: Tensor) -> Tensor:
    return H * weight


def bowl(weight: Tensor) -> float:
    return float((H * weight**2).sum() / 2)


@pytest.mark.covers("parameter-update-rule")
def test_one_step_on_a_parabola() -> None:
    # L = w^2 has gradient 2 w: 1 - 0.1 * 2 = 0.8.
    moved = path("sgd", [1.0], lambda weight: 2 * weight, 1, lr=0.1)
    assert moved[-1].item() == pytest.approx(0.8, abs=1e-15)


@pytest.mark.covers("gradient-descent")
def test_descent_on_a_bowl_is_a_power_of_a_matrix() -> None:
    turn = torch.linalg.qr(torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64))[0]
    matrix = turn @ torch.diag(torch.tensor([1.0, 4.0], dtype=torch.float64)) @ turn.T
    for rate, converges in ((0.49, True), (0.51, False)):  # 2 / lambda_max = 0.5
        places = path("gradient-descent", [1.0, 1.0], lambda weight: matrix @ weight, 200, lr=rate)
        step = torch.eye(2, dtype=torch.float64) - rate * matrix
        for count in (0, 1, 7, 50):
            expected = torch.linalg.matrix_power(step, count) @ places[0]
            close(places[count], expected, 1e-10)
        assert (places[-1].norm().item() < 0.1) == converges
        assert (places[-1].norm() > places[0].norm()).item() != converges


@pytest.mark.covers("learning-rate")
@pytest.mark.parametrize(
    ("rate", "low", "high"), [(1.9, 0.0, 1e-8), (2.0, 1.0, 1.0), (2.1, 1e6, math.inf)]
)
def test_rate_decides_between_rest_oscillation_and_divergence(
    rate: float, low: float, high: float
) -> None:
    # Curvature L = 100: a step multiplies w by 1 - rate, that is by -0.9, -1 and -1.1.
    places = path("sgd", [1.0], lambda weight: 100 * weight, 200, lr=rate / 100)
    assert low <= abs(places[-1].item()) <= high + 1e-9
    assert places[1].item() < 0  # it jumps over the floor each time


@pytest.mark.covers("momentum")
def test_momentum_sums_gradients_and_beats_descent() -> None:
    places = path("momentum", [0.0], constant(1.0), 4, lr=0.1)
    # The fourth step: 0.1 * (1 + 0.9 + 0.81 + 0.729).
    assert (places[3] - places[4]).item() == pytest.approx(0.1 * 3.439)
    fast = bowl(path("momentum", [1.0, 1.0], bowl_gradient, 200, lr=0.01)[-1])
    slow = bowl(path("sgd", [1.0, 1.0], bowl_gradient, 200, lr=0.01)[-1])
    assert 1e-9 < fast < 1e-7
    assert slow == pytest.approx(9e-3, rel=0.05)


@pytest.mark.covers("heavy-ball")
def test_heavy_ball_is_momentum() -> None:
    # w+ = w - eta g + beta (w - w-): no velocity is kept, only the place before.
    places = path("heavy-ball", [1.0, -2.0], bowl_gradient, 50, lr=0.005)
    close(places, path("momentum", [1.0, -2.0], bowl_gradient, 50, lr=0.005))
    here, before = places[0], places[0]
    for place in places[1:]:
        here, before = here - 0.005 * bowl_gradient(here) + 0.9 * (here - before), here
        close(place, here)
    steady = path("heavy-ball", [0.0], constant(1.0), 300, lr=0.01)
    assert (steady[-2] - steady[-1]).item() == pytest.approx(0.01 / (1 - 0.9), rel=1e-9)


@pytest.mark.covers("nesterov")
def test_nesterov_looks_ahead() -> None:
    rate, beta, start = 0.01, 0.9, torch.ones(2, dtype=torch.float64)
    places = path("nesterov", [1.0, 1.0], bowl_gradient, 200, lr=rate)
    weight, velocity = start, torch.zeros(2, dtype=torch.float64)
    theta, theta_before, wrong = start, start, start
    wrong_velocity = torch.zeros(2, dtype=torch.float64)
    for step in range(200):
        chi = theta + beta * (theta - theta_before)
        close(places[step], chi)  # torch keeps the point from which it looks
        theta, theta_before = chi - rate * bowl_gradient(chi), theta
        velocity = beta * velocity + rate * bowl_gradient(weight - beta * velocity)
        weight = weight - velocity
        close(theta, weight)  # both forms walk the same way
        wrong_velocity = beta * wrong_velocity + rate * bowl_gradient(wrong + beta * wrong_velocity)
        wrong = wrong - wrong_velocity
    heavy = bowl(path("momentum", [1.0, 1.0], bowl_gradient, 200, lr=rate)[-1])
    plain = bowl(path("sgd", [1.0, 1.0], bowl_gradient, 200, lr=rate)[-1])
    assert bowl(weight) == pytest.approx(3e-11, rel=0.3)
    assert bowl(weight) < heavy < plain
    assert heavy == pytest.approx(1.5e-8, rel=0.1)
    assert bowl(wrong) > 1e50  # the look-ahead with the wrong sign


@pytest.mark.covers("adagrad")
def test_adagrad_slows_down_where_it_has_been() -> None:
    places = path("adagrad", [0.0, 0.0], constant(3.0, -0.2), 100, lr=0.1)
    close(places[1], torch.tensor([-0.1, 0.1], dtype=torch.float64), 1e-9)
    steps = (places[1:] - places[:-1])[:, 0].abs()
    times = torch.arange(1, 101, dtype=torch.float64)
    close(steps, 0.1 / times.sqrt(), 1e-9)
    # Seen once in a hundred steps, a feature still moves as far as on the first day.
    clock = iter(range(101))
    rare = path(
        "adagrad",
        [0.0, 0.0],
        lambda weight: torch.tensor([1.0, float(next(clock) == 99)], dtype=torch.float64),
        100,
        lr=0.1,
    )
    last = (rare[-1] - rare[-2]).abs()
    assert last[0].item() == pytest.approx(0.01, rel=1e-6)
    assert last[1].item() == pytest.approx(0.1, rel=1e-6)


@pytest.mark.slow
@pytest.mark.covers("rmsprop")
def test_rmsprop_settles_at_the_rate() -> None:
    places = path("rmsprop", [0.0, 0.0], constant(5.0, -0.3), 2000, lr=0.01)
    close(places[-1] - places[-2], torch.tensor([-0.01, 0.01], dtype=torch.float64), 1e-8)


@pytest.mark.covers("adadelta")
def test_adadelta_steps_in_the_units_of_the_weights() -> None:
    eps, rho = 1e-6, 0.9
    first = path("adadelta", [1.0], constant(2.0), 1, lr=1.0)
    expected = math.sqrt(eps) / math.sqrt((1 - rho) * 4 + eps) * 2
    assert (first[0] - first[1]).item() == pytest.approx(expected)
    small = path("adadelta", [1.0, 1.0], bowl_gradient, 50)
    large = path("adadelta", [1.0, 1.0], lambda weight: 1000 * bowl_gradient(weight), 50)
    close(small, large, 1e-5 * (small[0] - small[-1]).abs().max().item())


@pytest.mark.covers("adam")
def test_adam_first_steps() -> None:
    places = path("adam", [0.0, 0.0], constant(7.0, -0.01), 1, lr=0.1)
    close(places[1], torch.tensor([-0.1, 0.1], dtype=torch.float64), 1e-6)
    # Without the correction the first step would be lr * m / sqrt(v), 3.16 times as long.
    uncorrected = 0.1 * (0.1 * 7) / math.sqrt(0.001 * 7**2)
    assert uncorrected / -places[1, 0].item() == pytest.approx(3.16, abs=0.005)
    gradients = [1.0, -2.0, 0.5, 0.0, 3.0]
    clock = iter(gradients)
    places = path("adam", [0.3], lambda weight: torch.tensor([next(clock)]).double(), 5, lr=0.1)
    weight, mean, square = 0.3, 0.0, 0.0
    for step, grad in enumerate(gradients, start=1):
        mean = 0.9 * mean + 0.1 * grad
        square = 0.999 * square + 0.001 * grad**2
        corrected = math.sqrt(square / (1 - 0.999**step))
        weight -= 0.1 * mean / (1 - 0.9**step) / (corrected + 1e-8)
        assert places[step].item() == pytest.approx(weight, rel=1e-12)


@pytest.mark.covers("nadam")
def test_nadam_first_step_and_its_limit_without_momentum() -> None:
    # Often printed: b1 m^ + (1 - b1) g / (1 - b1^t). At t = 1, m^ = g: (0.9 + 1) g.
    for g in (7.0, -0.01):
        m, v = 0.1 * g, 0.001 * g**2
        bracket = 0.9 * (m / (1 - 0.9)) + 0.1 * g / (1 - 0.9)
        printed = 0.1 * bracket / math.sqrt(v / (1 - 0.999))
        assert printed == pytest.approx(math.copysign(1.9 * 0.1, g), rel=1e-12)
    # Right is b1 m / (1 - b1^2), the momentum of the next step: 0.9 * 0.1 / 0.19 + 1.
    steady = {"eps": 0.0, "momentum_decay": 1e6}  # the momentum is 0.9 from the first step on
    first = path("nadam", [0.0, 0.0], constant(7.0, -0.01), 1, lr=0.1, options=steady)[1]
    length = 0.1 * (0.9 * 0.1 / 0.19 + 1)
    close(first, torch.tensor([-length, length], dtype=torch.float64), 1e-7)
    # Without momentum it is RMSProp with its mean corrected, g / sqrt(v^).
    places = path("nadam", [1.0, -2.0], bowl_gradient, 20, lr=0.1, options={"betas": (0.0, 0.9)})
    weight, square = places[0], torch.zeros(2, dtype=torch.float64)
    for step, place in enumerate(places[1:], start=1):
        gradient = bowl_gradient(weight)
        square = 0.9 * square + 0.1 * gradient**2
        weight = weight - 0.1 * gradient / ((square / (1 - 0.9**step)).sqrt() + 1e-8)
        close(place, weight)


@pytest.mark.covers("l2-weight-decay")
def test_decay_and_penalty_are_the_same_for_descent_alone() -> None:
    decay, rate = 0.3, 0.05

    def penalised(weight: Tensor) -> Tensor:
        return bowl_gradient(weight - 1) + decay * weight

    def bare(weight: Tensor) -> Tensor:
        return bowl_gradient(weight - 1)

    start = [2.0, -1.0]
    decayed = path("sgd", start, bare, 1, lr=rate / 10, weight_decay=decay)
    close(decayed, path("sgd", start, penalised, 1, lr=rate / 10))
    by_hand = (1 - rate / 10 * decay) * decayed[0] - rate / 10 * bare(decayed[0])
    close(decayed[1], by_hand)
    adam = path("adam", start, penalised, 5, lr=rate)
    adamw = path("adamw", start, bare, 5, lr=rate, weight_decay=decay)
    assert (adam - adamw).abs().max().item() > 1e-3
    # The optimum of the penalised bowl, which is ridge's: H (w - 1) + decay w = 0.
    end = path("sgd", start, bare, 3000, lr=0.015, weight_decay=decay)[-1]
    close(end, H / (H + decay), 1e-10)


def test_adamw_decays_apart_from_the_gradient() -> None:
    # Without a gradient only the decay is left: (1 - 0.1 * 0.5) * 2 = 1.9.
    moved = path("adamw", [2.0], constant(0.0), 1, lr=0.1, weight_decay=0.5)
    assert moved[-1].item() == pytest.approx(1.9)
