r"""Universal approximation: one hidden layer comes as near to a continuous function as one likes.

Two constructions on [0, 1], with no training. ReLUs join the values of f at m + 1 knots x_i by
straight pieces, and steep sigmoids make a staircase of its values in the middle of m cells:

    f(x_0) + sum_i (s_i - s_{i-1}) relu(x - x_i),           error <= max |f''| / (8 m^2)
    f(t_1) + sum_i (f(t_{i+1}) - f(t_i)) sigma(k (x - x_i)), error <= max |f'| / m + tails

with s_i the slopes of the pieces, s_{-1} = 0. The first is exact for a function of m straight
pieces: an affine part and one ReLU a kink, m - 1 of them.

Shapes: N places, M hidden units.
Source: Cybenko (1989), "Approximation by superpositions of a sigmoidal function"; Leshno et al.
(1993), "Multilayer feedforward networks with a nonpolynomial activation function can approximate
any function"; Lebesgue (1898), "Sur l'approximation des fonctions".
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import generator
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.layers.activations import build_activation
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, at_most, equals, no_violations

Curve = Callable[[Tensor], Tensor]

PLACES = 20_001  # where the error is looked for
STEEPNESS = 40.0  # k in units of one cell: the tails of a sigmoid in the next cell are 2e-9
# pieces a wave: as many for each of them
WIDTHS = {"quick": (4, 8, 16, 32, 64, 128), "full": (4, 8, 16, 32, 64, 128, 256, 512)}
NEARLY_PARABOLAS = 16  # pieces a wave, from which on the rate is looked at
RANDOM_FUNCTIONS = {"quick": 50, "full": 1000}


@dataclass(frozen=True, kw_only=True)
class ShallowNet:
    """One hidden layer on one input: x -> bias + sum_j outputs_j phi(slopes_j x + offsets_j).

    Args:
        activation: phi.
        slopes: (M).
        offsets: (M).
        outputs: (M).
        bias: of the output.
    """

    activation: Curve
    slopes: Tensor
    offsets: Tensor
    outputs: Tensor
    bias: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        """(N) -> (N)."""
        return self.activation(x[:, None] * self.slopes + self.offsets) @ self.outputs + self.bias


def relu_interpolant(knots: Tensor, values: Tensor) -> ShallowNet:
    """The net of M ReLUs that joins M + 1 values by straight pieces; right of the first knot."""
    slopes = values.diff() / knots.diff()
    return ShallowNet(
        activation=build_activation("relu"),
        slopes=torch.ones_like(slopes),
        offsets=-knots[:-1],
        outputs=torch.cat([slopes[:1], slopes.diff()]),
        bias=values[0],
    )


def sigmoid_staircase(curve: Curve, cells: int) -> ShallowNet:
    """The net of steep sigmoids that steps between the values in the middle of equal cells."""
    edges = torch.linspace(0, 1, cells + 1, dtype=torch.float64)
    levels = curve((edges[1:] + edges[:-1]) / 2)
    steepness = STEEPNESS * cells
    return ShallowNet(
        activation=build_activation("sigmoid"),
        slopes=torch.full((cells - 1,), steepness, dtype=torch.float64),
        offsets=-steepness * edges[1:-1],
        outputs=levels.diff(),
        bias=levels[0],
    )


def fitted_net(
    activation: Curve, width: int, x: Tensor, y: Tensor, rng: torch.Generator
) -> ShallowNet:
    """Random hidden units, and the output weights that are best in the sense of least squares."""
    slopes = 8 * torch.randn(width, generator=rng, dtype=torch.float64)
    offsets = -slopes * torch.rand(width, generator=rng, dtype=torch.float64)  # it turns in [0, 1]
    hidden = activation(x[:, None] * slopes + offsets)
    design = torch.cat([hidden, torch.ones_like(x)[:, None]], dim=1)
    weights = torch.linalg.lstsq(design, y[:, None], driver="gelsd").solution[:, 0]
    return ShallowNet(
        activation=activation,
        slopes=slopes,
        offsets=offsets,
        outputs=weights[:-1],
        bias=weights[-1],
    )


def sup_error(net: Curve, curve: Curve) -> float:
    """The largest distance on [0, 1]."""
    x = torch.linspace(0, 1, PLACES, dtype=torch.float64)
    return float((net(x) - curve(x)).abs().max())


@dataclass(frozen=True, kw_only=True)
class UniversalityConfig(Config):
    """The function, and what the units do."""

    waves: Annotated[
        int, Interval(ge=1, le=4), Doc("full waves of the sine that is approximated on [0, 1]")
    ] = 1
    non_polynomial: Annotated[
        bool, Assumption("the activation is not a polynomial; without it, it is the square")
    ] = True


def measure_universality(given: UniversalityConfig, seed: int, effort: Effort) -> Verdict:
    """Double the width and watch the largest error of both constructions."""
    speed = 2 * math.pi * given.waves
    widths = [given.waves * pieces for pieces in WIDTHS[effort]]

    def curve(x: Tensor) -> Tensor:
        return (speed * x).sin()

    def error(width: int) -> float:
        if given.non_polynomial:
            knots = torch.linspace(0, 1, width + 1, dtype=torch.float64)
            return sup_error(relu_interpolant(knots, curve(knots)), curve)
        x = torch.linspace(0, 1, 1001, dtype=torch.float64)
        return sup_error(
            fitted_net(torch.square, width, x, curve(x), generator(seed, "units", width)), curve
        )

    errors = [error(width) for width in widths]
    bounds = [speed**2 / (8 * width**2) for width in widths]
    steps = [sup_error(sigmoid_staircase(curve, width), curve) for width in widths]
    tail = 4 * given.waves / (1 + math.exp(STEEPNESS / 2))  # all the sine's ups and downs
    step_bounds = [speed / width + tail for width in widths]
    over = [value > bound for value, bound in zip(errors, bounds, strict=True)]
    over_steps = [value > bound for value, bound in zip(steps, step_bounds, strict=True)]
    first = widths.index(NEARLY_PARABOLAS * given.waves)
    gains = [before / after for before, after in pairwise(errors[first:])]
    pieces = "pieces of ReLUs" if given.non_polynomial else "squares, best weights"
    return Verdict(
        findings=(
            equals(
                f"error of {pieces} before a doubling of the width over that after, the one "
                "farthest from 4",
                4,
                max(gains, key=lambda gain: abs(gain - 4)),
                within=0.1,
                n=len(gains),
            ),
            no_violations(f"errors of {pieces} above max |f''| / 8m²", sum(over), n=len(over)),
            no_violations("errors of sigmoids above max |f'| / m", sum(over_steps), n=len(over)),
        ),
        chart=ClaimChart(
            x_label="hidden units, m",
            y_label="largest error on [0, 1]",
            series=(
                predicted("bound for ReLUs, max |f''| / 8m²", widths, bounds),
                predicted("bound for sigmoids, max |f'| / m", widths, step_bounds),
                measured(pieces, widths, errors),
                measured("staircase of sigmoids", widths, steps),
            ),
            explanation="Twice as many ReLUs leave a quarter of the error, twice as many sigmoids "
            "half of it: both go to 0. Squares add up to a parabola, however many there are.",
            log="xy",
        ),
    )


UNIVERSAL_APPROXIMATION = Claim(
    card=Card(
        sentence="One hidden layer approximates every continuous function on a bounded interval "
        "as well as one likes, if its activation is not a polynomial.",
        formula=r"\forall \varepsilon > 0 \; \exists m: \quad \max_{x \in [0, 1]} \left|"
        r" f(x) - b - \sum_{j=1}^{m} v_j \phi(w_j x + c_j) \right| < \varepsilon",
        symbols={
            "f": "a continuous function",
            "m": "hidden units",
            r"\phi": "the activation",
            "w_j, c_j, v_j": "slope, offset and output weight of unit j",
            "b": "output bias",
        },
        source="Cybenko (1989), MCSS 2, 303-314; Leshno et al. (1993), Neural Networks 6, 861-867",
        misprint="It is often said for any function; it needs a continuous one on a bounded and "
        "closed set. A ReLU is not sigmoidal: the theorem for it is the one of 1993.",
    ),
    topic="Approximation and depth",
    kind="theorem",
    settings=UniversalityConfig,
    experiment=measure_universality,
)


@dataclass(frozen=True, kw_only=True)
class PiecesConfig(Config):
    """The function that is to be written as ReLUs."""

    pieces: Annotated[int, Interval(ge=2, le=1000), Doc("m, straight pieces of the function")] = 10
    continuous: Annotated[
        bool, Assumption("the pieces meet; without it, each may start at a height of its own")
    ] = True


def relu_sum(x: Tensor, kinks: Tensor, slopes: Tensor, start: Tensor) -> Tensor:
    """The sum start + slopes_0 x + sum_i (slopes_i - slopes_{i-1}) relu(x - kinks_i), (N)."""
    relus: Tensor = build_activation("relu")(x[:, None] - kinks)
    return start + slopes[0] * x + relus @ slopes.diff()


def measure_pieces(given: PiecesConfig, seed: int, effort: Effort) -> Verdict:
    """Write random functions of m pieces as an affine part and m - 1 ReLUs."""
    rng, tries = generator(seed, "pieces"), RANDOM_FUNCTIONS[effort]
    x = torch.linspace(0, 1, 1001, dtype=torch.float64)
    errors = []
    for _ in range(tries):
        kinks = torch.rand(given.pieces - 1, generator=rng, dtype=torch.float64).sort().values
        slopes, jumps = torch.randn(2, given.pieces, generator=rng, dtype=torch.float64)
        knots = torch.cat([x[:1], kinks, x[-1:]])
        rises = torch.cat([torch.zeros(1, dtype=torch.float64), slopes * knots.diff()]).cumsum(0)
        piece = torch.bucketize(x, kinks)
        wanted = rises[piece] + slopes[piece] * (x - knots[piece])
        if not given.continuous:
            wanted = wanted + jumps[piece]
        written = relu_sum(x, kinks, slopes, wanted[0])
        errors.append(float((written - wanted).abs().max()))
    wrong = sum(error > 1e-12 for error in errors)
    return Verdict(
        findings=(
            no_violations(
                f"functions of {given.pieces} pieces that {given.pieces - 1} ReLUs miss by more "
                "than 1e-12",
                wrong,
                n=tries,
            ),
            at_most("largest difference", 1e-12, max(errors), n=tries),
        ),
        chart=ClaimChart(
            x_label="x",
            y_label="the last of the functions",
            series=(
                predicted(f"affine part and {given.pieces - 1} ReLUs", x, written),
                measured(f"function of {given.pieces} pieces", x[::25], wanted[::25]),
            ),
            explanation="Each ReLU changes the slope once, where it switches on: a kink.",
        ),
    )


PIECEWISE_LINEAR = Claim(
    card=Card(
        sentence="A continuous function of m straight pieces is an affine function and m - 1 "
        "ReLUs, exactly.",
        formula=r"f(x) = a x + b + \sum_{i=1}^{m-1} (s_{i+1} - s_i) \max(0, x - x_i)",
        symbols={
            "m": "pieces",
            "s_i": "slope of piece i",
            "x_i": "kink between the pieces i and i + 1",
            "a, b": "slope and height at 0 of the first piece",
        },
        source="Lebesgue (1898), Bulletin des Sciences Mathematiques 22, 278-287",
        misprint="The affine part is often left out; m - 1 ReLUs alone are 0 left of every kink.",
    ),
    topic="Approximation and depth",
    kind="theorem",
    settings=PiecesConfig,
    experiment=measure_pieces,
)
