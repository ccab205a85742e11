"""Newton's method: one step solves a quadratic, and saddles attract it as minima do."""

import re

import pytest
import torch
from torch import Tensor, nn

from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.optimizers.newton import NEWTON, Newton, newton_direction
from netwright.testing.optimizer_contract import OPTIMIZER_CHECKS
from tests.repetition import for_each


def start(*values: float) -> nn.Parameter:
    return nn.Parameter(torch.tensor(values, dtype=torch.float64))


@for_each("check", OPTIMIZER_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_optimizer_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(lambda params: Newton(params, lr=0.5))


@pytest.mark.covers("second-order-methods")
def test_solves_a_quadratic_in_one_step_and_lands_on_a_saddle_that_descent_leaves() -> None:
    with seeded(0):
        root, middle = torch.randn(6, 6, dtype=torch.float64), torch.randn(6).double()
    bowl = root @ root.T + torch.eye(6, dtype=torch.float64)
    x = start(*torch.zeros(6).tolist())
    given = Newton([x]).step(lambda: ((x - middle) @ bowl @ (x - middle) / 2, (x,)))
    assert given.item() == pytest.approx(float(middle @ bowl @ middle / 2))
    torch.testing.assert_close(x.detach(), middle)

    def saddle(place: Tensor) -> Tensor:
        return place[0] ** 2 - place[1] ** 2

    newtons, descents = start(1.0, 0.1), start(1.0, 0.1)
    Newton([newtons]).step(lambda: (saddle(newtons), (newtons,)))
    assert newtons.tolist() == pytest.approx([0, 0], abs=1e-12)
    descent = torch.optim.SGD([descents], lr=0.1)
    for _ in range(30):
        descent.zero_grad()
        torch.autograd.backward(saddle(descents))
        descent.step()
    assert abs(descents[0].item()) < 0.01
    assert descents[1].item() == pytest.approx(0.1 * 1.2**30)


def test_finds_a_root_of_the_slope_twice_as_exactly_each_step() -> None:
    x, errors = start(2.0), []  # x - ln x is least at 1
    optimizer = Newton([x])
    x.data[0] = 0.5
    for _ in range(4):
        optimizer.step(lambda: (x.sum() - x.log().sum(), (x,)))
        errors.append(1 - x.item())
    # The error is squared: 1/2, 1/4, 1/16, 1/256, 1/65536.
    assert errors == pytest.approx([2**-2, 2**-4, 2**-8, 2**-16])


def test_rate_and_damping_by_hand() -> None:
    # The slope at 0 is (-2, 40) and the curvatures are 2 and 20.
    x = start(0.0, 0.0)
    scale, floor = torch.tensor([1.0, 10.0]).double(), torch.tensor([1.0, -2.0]).double()
    optimizer = Newton([x], lr=0.5, damping=2.0)
    optimizer.step(lambda: ((scale * (x - floor) ** 2).sum(), (x,)))
    assert x.tolist() == pytest.approx([0.5 * 2 / 4, -0.5 * 40 / 22])


def test_of_many_solutions_the_shortest_is_taken() -> None:
    # (x + y - 2)^2 is least on a line; from 0 the nearest place on it is (1, 1).
    x = start(0.0, 0.0)
    Newton([x]).step(lambda: ((x.sum() - 2) ** 2, (x,)))
    assert x.tolist() == pytest.approx([1.0, 1.0])


def test_direction_solves_an_indefinite_system() -> None:
    hessian = torch.tensor([[2.0, 1.0], [1.0, -3.0]], dtype=torch.float64)
    gradient = torch.tensor([1.0, 2.0], dtype=torch.float64)
    wanted = -torch.linalg.solve(hessian + 0.5 * torch.eye(2).double(), gradient)
    torch.testing.assert_close(newton_direction(hessian, gradient, 0.5), wanted)


def test_parts_of_the_weights_move_together() -> None:
    # The minimum of a form that couples a matrix and a number.
    matrix, number = nn.Parameter(torch.zeros(2, 2)), nn.Parameter(torch.zeros(()))
    goal = torch.tensor([[1.0, 2.0], [3.0, 4.0]])

    def closure() -> tuple[Tensor, tuple[Tensor]]:
        misfit = matrix + number - goal
        return misfit.square().sum() + (number - 5) ** 2, (misfit,)

    Newton([matrix, number]).step(closure)
    torch.testing.assert_close(number.detach(), torch.tensor(5.0))
    torch.testing.assert_close(matrix.detach(), goal - 5)


def test_too_many_weights_are_refused_before_the_first_step() -> None:
    sentence = (
        "the Hessian of 101 weights has 10201 entries; max_parameters is 100, "
        "hessian-free needs no such matrix"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        Newton([nn.Parameter(torch.zeros(101))], max_parameters=100)
    Newton([nn.Parameter(torch.zeros(100))], max_parameters=100)


def test_groups_and_negative_damping_are_refused() -> None:
    groups = [{"params": [nn.Parameter(torch.zeros(1))]} for _ in range(2)]
    with pytest.raises(ValueError, match=r"^only one parameter group is supported, got 2$"):
        Newton(groups)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^damping must not be negative, got -1$"):
        Newton([nn.Parameter(torch.zeros(1))], damping=-1)
    with pytest.raises(ConfigError, match=r"^lr must not be negative, got nan$"):
        Newton([nn.Parameter(torch.zeros(1))], lr=float("nan"))


def test_entry_asks_for_what_the_step_needs() -> None:
    assert NEWTON.graph
    assert NEWTON.closure
    assert NEWTON.full_batch
