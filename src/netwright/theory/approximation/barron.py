r"""Barron's rate: m units leave a squared error of order 1/m, whatever the number of inputs.

Where the Fourier transform of f has a finite moment C_f = int |w| |F(w)| dw, m threshold units
exist with a mean squared error on the ball of radius r of at most (2 r C_f)^2 / m. A greedy choice
finds them: take the unit that fits what is left best, fit all output weights again, and so on.

The mean may be over any distribution on the ball, so that over a sample the theorem holds exactly.
The target is a Gaussian bump of width s at the place e on the sphere, less one at -e: then

    C_f = E |w| |2 sin(w e)|,   w ~ N(0, I / s^2),

and the bound falls below the spread of the target within 256 units: it says something.

Shapes: N places, D inputs, P units to choose from.
Source: Barron, "Universal approximation bounds for superpositions of a sigmoidal function" (1993).
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor
from torch.nn import functional

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import generator
from netwright.inspection.training.claim_chart import ClaimChart, line, measured, predicted
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, at_most, estimate

UNITS = (4, 8, 16, 32, 64, 128, 256)
PLACES, CHOICE = 1000, 800
TARGETS = {"quick": 5, "full": 30}
FREQUENCIES = 100_000  # drawn for the mean that C_f is
SLACK = 0.15  # of the power: it is fitted to errors of a few units too


@dataclass(frozen=True, kw_only=True)
class BarronConfig(Config):
    """The function that is approximated."""

    inputs: Annotated[int, Interval(ge=1, le=5), Doc("D, inputs of the function")] = 3
    bump: Annotated[
        float, Interval(ge=1, le=2), Doc("s, width of a bump; the ball has radius 1")
    ] = 1.5
    smooth: Annotated[
        bool, Assumption("C_f is finite; without it, the values are noise of the same spread")
    ] = True


def barron_constant(inputs: int, bump: float) -> float:
    """C_f of two opposite bumps: the mean of |w| |2 sin(w e)| over w ~ N(0, I / s^2)."""
    rng = generator(0, "frequencies", inputs)
    drawn = torch.randn(FREQUENCIES, inputs, generator=rng, dtype=torch.float64) / bump
    return float((drawn.norm(dim=1) * 2 * drawn[:, 0].sin().abs()).mean())


def ball_places(count: int, inputs: int, rng: torch.Generator) -> Tensor:
    """Places spread evenly over the unit ball, (N, D)."""
    radii = torch.rand(count, 1, generator=rng, dtype=torch.float64).pow(1 / inputs)
    return radii * directions(count, inputs, rng)


def directions(count: int, inputs: int, rng: torch.Generator) -> Tensor:
    """Random vectors of length 1, (N, D)."""
    drawn = torch.randn(count, inputs, generator=rng, dtype=torch.float64)
    return functional.normalize(drawn, dim=1)


def opposite_bumps(x: Tensor, width: float, rng: torch.Generator) -> Tensor:
    """A Gaussian bump at a random place on the sphere, less one at the opposite place, (N)."""
    place = directions(1, x.shape[1], rng)
    up, down = (
        (-torch.cdist(x, centre).square() / (2 * width**2)).exp() for centre in (place, -place)
    )
    return (up - down).squeeze(1)


def greedy_errors(units: Tensor, target: Tensor, most: int) -> list[float]:
    """The mean squared error with 1, 2 ... units (N, P), each the best one for what is left.

    All output weights are fitted again after each choice: a chosen unit is made orthogonal to
    those before it, and `seen` is its product with every unit. A constant comes free.
    """
    columns = units - units.mean(dim=0)
    columns = columns / columns.norm(dim=0).clamp_min(1e-9)  # a unit may be constant on the places
    left = target - target.mean()
    gram, fit, squares = columns.T @ columns, columns.T @ left, float(left.square().sum())
    seen = torch.zeros(most, len(gram), dtype=torch.float64)
    errors = []
    for chosen in range(most):
        best = int(fit.abs().argmax())
        own = gram[best] - seen[:chosen, best] @ seen[:chosen]
        seen[chosen] = own / own[best].clamp_min(1e-12).sqrt()  # 0 where nothing new is left
        share = fit[best] / seen[chosen, best].clamp_min(1e-6)
        fit = fit - share * seen[chosen]
        squares -= float(share) ** 2
        errors.append(max(squares, 0.0) / len(target))
    return errors


def power_of_units(errors: Sequence[float]) -> float:
    """The power of m that the errors with UNITS units fall with: a line through the logarithms."""
    return statistics.linear_regression(
        [math.log(count) for count in UNITS], [math.log(error) for error in errors]
    ).slope


def error_curve(given: BarronConfig, rng: torch.Generator) -> list[float]:
    """The errors on one target, with UNITS greedy units."""
    x = ball_places(PLACES, given.inputs, rng)
    target = opposite_bumps(x, given.bump, rng)
    if not given.smooth:
        noise = torch.randn(PLACES, generator=rng, dtype=torch.float64)
        target = noise * target.std()
    thresholds = 2 * torch.rand(CHOICE, generator=rng, dtype=torch.float64) - 1
    units = (x @ directions(CHOICE, given.inputs, rng).T > thresholds).double()
    errors = greedy_errors(units, target, UNITS[-1])
    return [errors[count - 1] for count in UNITS]


def measure_barron(given: BarronConfig, seed: int, effort: Effort) -> Verdict:
    """Choose 256 threshold units one by one, and compare their errors with the bound."""
    curves = [
        error_curve(given, generator(seed, "target", number)) for number in range(TARGETS[effort])
    ]
    most = (2 * barron_constant(given.inputs, given.bump)) ** 2
    bounds = [most / count for count in UNITS]
    shares = [error / bound for curve in curves for error, bound in zip(curve, bounds, strict=True)]
    power = estimate([power_of_units(curve) for curve in curves])
    means = [sum(errors) / len(errors) for errors in zip(*curves, strict=True)]
    fixed = [means[0] * (count / UNITS[0]) ** (-2 / given.inputs) for count in UNITS]
    return Verdict(
        findings=(
            at_most("error over (2 r C)² / m, the largest", 1, max(shares), n=len(shares)),
            at_most(
                f"power of m that the error falls with, {UNITS[0]} to {UNITS[-1]} units",
                -1 + SLACK,
                power.mean,
                n=power.n,
                interval=power.interval,
            ),
        ),
        chart=ClaimChart(
            x_label="units, m",
            y_label="mean squared error",
            series=(
                predicted(f"bound (2 r C)² / m, C = {math.sqrt(most) / 2:.3g}", UNITS, bounds),
                line(
                    f"rate of fixed units, m^(-2/{given.inputs}), from the first dot", UNITS, fixed
                ),
                measured(f"greedy units, mean of {len(curves)} functions", UNITS, means),
            ),
            explanation="The theorem promises errors below the bound, which falls as 1/m for any "
            "number of inputs. Units that are fixed beforehand can be as slow as m^(-2/D).",
            log="xy",
        ),
    )


BARRON_RATE = Claim(
    card=Card(
        sentence="With m adaptive units the mean squared error is of order 1/m, whatever the "
        "number of inputs.",
        formula=r"\int_{|x| \leq r} (f(x) - f_m(x))^2 \, d\mu(x) \leq \frac{(2 r C_f)^2}{m},"
        r" \quad C_f = \int |\omega| \, |\hat f(\omega)| \, d\omega",
        symbols={
            "f": "a function whose Fourier transform has a finite first moment",
            "f_m": "one hidden layer of m sigmoidal units and a constant",
            "C_f": "that moment; it may itself grow with the number of inputs",
            r"\mu": "any distribution on the ball of radius r",
        },
        source="Barron (1993), IEEE Transactions on Information Theory 39, 930-945",
        misprint="The constant is often left undefined and called free of the dimension; the rate "
        "is, the constant need not be.",
    ),
    topic="Approximation and depth",
    kind="theorem",
    settings=BarronConfig,
    experiment=measure_barron,
)
