"""Conjugate gradients: the right solution in as many steps as the theory says."""

import math

import pytest
import torch
from torch import Tensor

from netwright.core.seeding import seeded
from netwright.optimizers.conjugate_gradient import conjugate_gradient


def symmetric(eigenvalues: Tensor) -> Tensor:
    size = len(eigenvalues)
    with seeded(0):
        turned: Tensor = torch.linalg.qr(torch.randn(size, size, dtype=torch.float64)).Q
    return turned @ torch.diag(eigenvalues) @ turned.T


def ones(size: int) -> Tensor:
    return torch.ones(size, dtype=torch.float64)


def test_two_steps_by_hand() -> None:
    # A = [[4, 1], [1, 3]], b = (1, 2): the solution is (1, 7) / 11.
    a, b = torch.tensor([[4.0, 1], [1, 3]]).double(), torch.tensor([1.0, 2]).double()
    once = conjugate_gradient(a.mv, b, steps=1, tol=0)
    torch.testing.assert_close(once.x, 5 / 20 * b)  # b.b / b.Ab = 5 / 20
    assert once.residuals == pytest.approx([5**0.5, float((b - a @ once.x).norm())])
    twice = conjugate_gradient(a.mv, b, steps=2, tol=0)
    torch.testing.assert_close(twice.x, torch.tensor([1.0, 7]).double() / 11)


@pytest.mark.parametrize("kinds", [1, 2, 5])
def test_takes_one_step_for_each_different_eigenvalue(kinds: int) -> None:
    a = symmetric(torch.arange(1, kinds + 1).double().repeat(12 // kinds + 1)[:12])
    solved = conjugate_gradient(a.mv, ones(12), steps=50, tol=1e-10)
    assert len(solved.residuals) == kinds + 1
    torch.testing.assert_close(solved.x, torch.linalg.solve(a, ones(12)))


def test_the_error_falls_as_fast_as_the_root_of_the_condition_number_allows() -> None:
    condition = 100.0
    a = symmetric(torch.linspace(1, condition, 200).double())
    solution = torch.linalg.solve(a, ones(200))
    factor = (condition**0.5 - 1) / (condition**0.5 + 1)

    def energy(x: Tensor) -> float:
        return math.sqrt((x - solution) @ a @ (x - solution))

    for steps in (5, 15, 30):
        solved = conjugate_gradient(a.mv, ones(200), steps=steps, tol=0)
        assert energy(solved.x) <= 2 * factor**steps * energy(torch.zeros_like(solution))
        assert len(solved.residuals) == steps + 1


def test_ends_where_the_residual_is_small_enough() -> None:
    a = symmetric(torch.linspace(1, 100, 50).double())
    solved = conjugate_gradient(a.mv, ones(50), steps=1000, tol=1e-3)
    assert solved.residuals[-1] <= 1e-3 * solved.residuals[0] < solved.residuals[-2]
    measured = float((ones(50) - a @ solved.x).norm())
    assert measured == pytest.approx(solved.residuals[-1], rel=1e-6)


def test_nothing_is_asked_of_the_matrix_where_the_right_side_is_zero() -> None:
    def refuse(v: Tensor) -> Tensor:
        raise AssertionError

    assert not conjugate_gradient(refuse, torch.zeros(3), steps=5, tol=1e-3).x.any()


def test_a_flat_direction_ends_it() -> None:
    solved = conjugate_gradient(torch.zeros_like, ones(3), steps=5, tol=1e-3)
    assert not solved.x.any()
    assert len(solved.residuals) == 1
