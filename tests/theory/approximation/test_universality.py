"""Universal approximation: both constructions, their rates, and an activation that cannot."""

import math
from itertools import pairwise

import pytest
import torch
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.core.seeding import generator
from netwright.layers.activations import build_activation
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.approximation import universality
from netwright.theory.approximation.universality import (
    PIECEWISE_LINEAR,
    UNIVERSAL_APPROXIMATION,
    fitted_net,
    relu_interpolant,
    relu_sum,
    sigmoid_staircase,
    sup_error,
)
from tests.repetition import slow_but


@pytest.mark.parametrize(
    "claim", [UNIVERSAL_APPROXIMATION, PIECEWISE_LINEAR], ids=["uat", "pieces"]
)
@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check, claim) -> None:  # type: ignore[no-untyped-def]
    check(claim)


def wave(x: Tensor) -> Tensor:
    return (2 * math.pi * x).sin()


def interpolant_error(curve, pieces: int) -> float:  # type: ignore[no-untyped-def]
    knots = torch.linspace(0, 1, pieces + 1, dtype=torch.float64)
    return sup_error(relu_interpolant(knots, curve(knots)), curve)


@pytest.mark.covers("uat-informal", "piecewise-linear-dense")
def test_relu_error_falls_to_a_quarter_with_each_doubling() -> None:
    errors = [interpolant_error(wave, pieces) for pieces in (16, 32, 64, 128)]
    assert errors[0] > 0.01 > errors[1]
    for pieces, error in zip((16, 32, 64, 128), errors, strict=True):
        assert error <= (2 * math.pi) ** 2 / (8 * pieces**2)
    for before, after in pairwise(errors):
        assert before / after == pytest.approx(4, abs=0.1)


@pytest.mark.parametrize("waves", slow_but([3], [2, 3]))
def test_the_rate_holds_for_several_waves(waves: int) -> None:
    assert UNIVERSAL_APPROXIMATION.check(waves=waves).holds


def test_too_many_waves_and_a_single_piece_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"^waves must be at most 4, got 10$"):
        UNIVERSAL_APPROXIMATION.check(waves=10)
    with pytest.raises(ConfigError, match=r"^pieces must be at least 2, got 1$"):
        PIECEWISE_LINEAR.check(pieces=1)


@pytest.mark.covers("relu-universality")
@pytest.mark.parametrize(
    ("curve", "pieces"),
    [
        # max |f''| / (8 m^2) = 1e-3 where f is smooth between the knots, for |sin 2 pi x| and x^2;
        # the root has error 1 / (4 sqrt m) at 0.
        (lambda x: wave(x).abs(), math.ceil(math.sqrt((2 * math.pi) ** 2 / 8e-3) / 2) * 2),
        (torch.square, math.ceil(math.sqrt(2 / 8e-3))),
        pytest.param(torch.sqrt, math.ceil((1 / 4e-3) ** 2), marks=pytest.mark.slow),  # 62,500
    ],
    ids=["abs-sine", "square", "root"],
)
def test_the_predicted_number_of_relus_reaches_one_thousandth(curve, pieces: int) -> None:  # type: ignore[no-untyped-def]
    x = torch.linspace(0, 1, 2000, dtype=torch.float64)
    knots = torch.linspace(0, 1, pieces + 1, dtype=torch.float64)
    net = relu_interpolant(knots, curve(knots))
    assert len(net.slopes) == pieces
    assert max(float((net(part) - curve(part)).abs().max()) for part in x.view(-1, 50)) <= 1e-3


def test_a_square_on_pieces_misses_by_an_eighth_of_its_curvature() -> None:
    assert interpolant_error(torch.square, 10) == pytest.approx(2 / (8 * 10**2), rel=1e-6)


@pytest.mark.covers("uat-cybenko")
def test_sigmoid_error_stays_below_the_modulus_of_continuity_and_the_tails() -> None:
    errors = []
    for cells in (8, 16, 32, 64):
        error = sup_error(sigmoid_staircase(wave, cells), wave)
        modulus = 2 * math.sin(math.pi / cells)  # of the sine, over one cell
        assert error <= modulus + 4 / (1 + math.exp(universality.STEEPNESS / 2))
        errors.append(error)
    assert errors[-1] < errors[0] / 6


@pytest.mark.covers("leshno")
def test_fitted_units_reach_the_function_unless_they_are_squares() -> None:
    x = torch.linspace(0, 1, 501, dtype=torch.float64)
    for activation in (torch.tanh, torch.sin, build_activation("gelu")):
        few, many = (
            sup_error(fitted_net(activation, width, x, wave(x), generator(0, "fit")), wave)
            for width in (4, 64)
        )
        assert many < 1e-4 < few
    parabola = torch.stack([torch.ones_like(x), x, x * x], dim=1)
    best = torch.linalg.lstsq(parabola, wave(x)[:, None]).solution
    floor = float((parabola @ best - wave(x)[:, None]).abs().max())
    for width in (8, 64):
        net = fitted_net(torch.square, width, x, wave(x), generator(0, "fit"))
        assert float((net(x) - wave(x)).abs().max()) == pytest.approx(floor, abs=1e-6)


@pytest.mark.covers("pinkus-lifting")
def test_a_product_is_two_ridge_functions() -> None:
    """By xy = ((x + y)^2 - (x - y)^2) / 4, each square a one-dimensional net of a ridge."""
    knots = torch.linspace(-2, 2, 41, dtype=torch.float64)
    square = relu_interpolant(knots, knots.square())
    side = torch.linspace(-1, 1, 201, dtype=torch.float64)
    x, y = (grid.flatten() for grid in torch.meshgrid(side, side, indexing="ij"))
    assert float(((square(x + y) - square(x - y)) / 4 - x * y).abs().max()) < 0.01


@pytest.mark.covers("lebesgue-relu-representation")
def test_ten_pieces_are_nine_relus() -> None:
    verdict = PIECEWISE_LINEAR.check(seed=3)
    assert verdict.holds
    assert verdict.findings[1].measured < 1e-14


def test_an_absolute_value_by_hand() -> None:
    x = torch.tensor([-1.0, 0.0, 2.0], dtype=torch.float64)
    slopes = torch.tensor([-1.0, 1.0], dtype=torch.float64)
    kink, start = torch.zeros(1, dtype=torch.float64), torch.zeros((), dtype=torch.float64)
    assert relu_sum(x, kink, slopes, start).tolist() == [1.0, 0.0, 2.0]


def test_one_relu_too_few_turns_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_the_last(x, kinks, slopes, start):  # type: ignore[no-untyped-def]
        return relu_sum(x, kinks[:-1], slopes[:-1], start)

    monkeypatch.setattr(universality, "relu_sum", without_the_last)
    verdict = PIECEWISE_LINEAR.check()
    assert verdict.measured == verdict.n


@pytest.mark.covers("uat-lp")
def test_a_ramp_comes_near_to_a_step_in_the_mean_and_not_everywhere() -> None:
    x = (torch.arange(1_000_000, dtype=torch.float64) + 0.5) / 1_000_000
    step = (x > 0.5).double()
    for width in (0.1, 0.01):
        start, end = 0.5 - width / 2, 0.5 + width / 2
        ramp = ((x - start).relu() - (x - end).relu()) / width
        assert float((ramp - step).square().mean().sqrt()) == pytest.approx(
            math.sqrt(width / 12), rel=1e-3
        )
        assert float((ramp - step).abs().max()) == pytest.approx(0.5, abs=1e-3)
