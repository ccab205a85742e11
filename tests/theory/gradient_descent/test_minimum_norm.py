"""The shortest solution: the pseudoinverse from zero, and what stays from another place."""

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.core.seeding import generator
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.gradient_descent.minimum_norm import MINIMUM_NORM, row_part


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(MINIMUM_NORM)


@pytest.mark.covers("implicit-regularization-gd")
@pytest.mark.covers("row-null-decomposition")
def test_the_parts_inside_and_outside_the_rows_are_orthogonal_and_the_limit_is_the_formula() -> (
    None
):
    rng = generator(0, "system")
    matrix = torch.randn(50, 5, 20, generator=rng, dtype=torch.float64)
    x = torch.randn(50, 20, generator=rng, dtype=torch.float64)
    inside = row_part(matrix, x)
    outside = x - inside
    assert (matrix @ outside[..., None]).abs().max() < 1e-12
    assert (inside * outside).sum(-1).abs().max() < 1e-12
    pythagoras = inside.square().sum(-1) + outside.square().sum(-1) - x.square().sum(-1)
    assert pythagoras.abs().max() < 1e-12
    from_zero, from_elsewhere = MINIMUM_NORM.check(equations=5, unknowns=20).findings
    assert from_zero.measured < 1e-8
    assert from_elsewhere.measured < 1e-8


def test_from_another_place_the_formula_still_holds() -> None:
    from_zero, from_elsewhere = MINIMUM_NORM.check(from_zero=False).findings
    assert not from_zero.holds
    assert from_elsewhere.holds


def test_one_equation_by_hand() -> None:
    matrix = torch.tensor([[[3.0, 4.0]]], dtype=torch.float64)
    inside = row_part(matrix, torch.tensor([[1.0, 0.0]], dtype=torch.float64))
    assert inside.tolist() == [pytest.approx([0.36, 0.48])]


@pytest.mark.parametrize(("equations", "unknowns"), [(1, 2), (2, 4), (10, 20), (40, 80)])
def test_systems_of_any_size_end_at_their_shortest_solutions(equations: int, unknowns: int) -> None:
    assert MINIMUM_NORM.check(equations=equations, unknowns=unknowns).holds


def test_systems_with_too_many_equations_are_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"^equations must be at most half of the 20 unknowns, got 19$"
    ):
        MINIMUM_NORM.check(equations=19)
    with pytest.raises(
        ConfigError, match=r"^equations must be at most half of the 3 unknowns, got 5$"
    ):
        MINIMUM_NORM.check(unknowns=3)
