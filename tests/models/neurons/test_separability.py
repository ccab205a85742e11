"""Separability: gates by a linear program, the widest plane against a solver, the version space."""

import re
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from sklearn.svm import SVC
from torch import Tensor

from netwright.core.errors import DataError, RunError
from netwright.models.neurons.mistake_driven import perceptron_pass
from netwright.models.neurons.separability import (
    is_separable,
    version_space_share,
    widest_plane,
    with_ones,
)

CORNERS = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
AND, OR, XOR = (
    torch.tensor(signs) for signs in ([-1.0, -1, -1, 1], [-1.0, 1, 1, 1], [-1.0, 1, 1, -1])
)


def halts(points: Tensor, signs: Tensor, passes: int) -> bool:
    weight = torch.zeros(1, points.shape[1], dtype=torch.float64)
    bias = torch.zeros(1, dtype=torch.float64)
    order = torch.arange(len(points))
    return any(
        not perceptron_pass(weight, bias, points, signs[:, None], order).any()
        for _ in range(passes)
    )


@pytest.mark.slow
@pytest.mark.covers("linear-separability")
def test_linear_program_agrees_with_the_gates_and_with_the_perceptron() -> None:
    assert is_separable(CORNERS, AND)
    assert is_separable(CORNERS, OR)
    assert not is_separable(CORNERS, XOR)
    numbers = torch.Generator().manual_seed(0)
    verdicts: list[bool] = []
    while len(verdicts) < 200:
        points = torch.randn(6, 2, generator=numbers, dtype=torch.float64)
        signs = torch.randn(6, generator=numbers, dtype=torch.float64).sign()
        separable = is_separable(points, signs)
        if separable and widest_plane(with_ones(points), signs).margin < 0.1:
            continue  # it would take thousands of passes
        assert separable == halts(points, signs, passes=300 if separable else 50)
        verdicts.append(separable)
    assert 20 < sum(verdicts) < 180  # both cases occur


@pytest.mark.parametrize("scale", [1e-30, 1e-9, 1e12])
def test_units_of_the_features_do_not_matter(scale: float) -> None:
    numbers = torch.Generator().manual_seed(0)
    points = torch.randn(40, 2, generator=numbers, dtype=torch.float64)
    sides = points[:, 0].sign()
    mixed = sides.index_fill(0, points[:, 0].argmax()[None], -1.0)
    for by in (torch.tensor([scale, scale]), torch.tensor([scale, 1.0])):
        assert is_separable(points * by.double(), sides)
        assert not is_separable(points * by.double(), mixed)
    assert is_separable(points * torch.tensor([1.0, 0.0]), sides)  # a feature that says nothing


def test_a_program_that_is_given_up_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    given_up = SimpleNamespace(status=4, message="Numerical difficulties.")
    monkeypatch.setattr("scipy.optimize.linprog", lambda **_: given_up)
    sentence = "the linear program has no solution: Numerical difficulties."
    with pytest.raises(RunError, match=f"^{re.escape(sentence)}$"):
        is_separable(CORNERS, AND)


def test_a_bias_can_be_left_out() -> None:
    points, signs = torch.tensor([[1.0], [2.0]]), torch.tensor([-1.0, 1.0])
    assert is_separable(points, signs)
    assert not is_separable(points, signs, bias=False)


def test_widest_plane_is_that_of_a_support_vector_machine() -> None:
    numbers = torch.Generator().manual_seed(0)
    points = torch.randn(60, 3, generator=numbers, dtype=torch.float64)
    signs = (points @ torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)).sign()
    points += 0.3 * signs[:, None] * torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    # A machine whose bias is penalised too: mirrored points leave it at zero.
    mirrored, labels = torch.cat((points, -points)), torch.cat((signs, -signs))
    machine = SVC(kernel="linear", C=1e8, tol=1e-8).fit(mirrored.numpy(), labels.numpy())
    expected = machine.coef_[0] / np.linalg.norm(machine.coef_)
    plane = widest_plane(points, signs)
    np.testing.assert_allclose(plane.normal, expected, atol=1e-5)
    assert plane.margin == pytest.approx(1 / np.linalg.norm(machine.coef_), rel=1e-5)
    assert float(plane.normal.norm()) == pytest.approx(1)


def test_widest_plane_by_hand() -> None:
    square = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    plane = widest_plane(square, torch.ones(2))
    assert plane.normal.tolist() == pytest.approx([0.5**0.5] * 2)
    assert plane.margin == pytest.approx(0.5**0.5)


def test_points_that_no_plane_parts_have_no_widest_one() -> None:
    sentence = "points must be linearly separable: no plane has a margin above zero"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        widest_plane(with_ones(CORNERS), XOR)


@pytest.mark.covers("version-space")
def test_version_space_shrinks_with_every_point_and_is_empty_for_xor() -> None:
    numbers = torch.Generator().manual_seed(0)
    points = torch.randn(30, 2, generator=numbers, dtype=torch.float64)
    signs = (points[:, 0] + 0.2).sign()
    shares = [
        version_space_share(points[:n], signs[:n], 20_000, torch.Generator().manual_seed(1))
        for n in range(1, 31)
    ]
    assert shares[0] == pytest.approx(0.5, abs=0.02)
    assert all(after <= before for before, after in pairwise(shares))
    assert 0 < shares[-1] < shares[0]
    assert version_space_share(CORNERS, XOR, 20_000, numbers) == 0
    assert not is_separable(CORNERS, XOR)
