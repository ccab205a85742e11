r"""Barron's rate: m units leave a squared error of order 1/m, whatever the number of inputs.

Where the Fourier transform of f has a finite moment C_f = int |w| |F(w)| dw, m threshold units
exist with a mean squared error on the ball of radius r of at most (2 r C_f)^2 / m. A greedy choice
finds them: take the unit that fits what is left best, fit all output weights again, and so on.

The mean may be over any distribution on the ball, so that over a sample the theorem holds exactly.
The target is a sum of Gaussian bumps of width s; each has C_f = E|w| with w ~ N(0, I / s^2).

Shapes: N places, D inputs, P units to choose from.
Source: Barron, "Universal approximation bounds for superpositions of a sigmoidal function" (1993).
"""

import math
from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor
from torch.nn import functional

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Positive, Size
from netwright.core.seeding import generator
from netwright.inspection.claim_chart import ClaimChart, line, measured, predicted
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, at_most, estimate, no_violations

UNITS = (4, 8, 16, 32, 64, 128, 256)
PLACES, CHOICE = 1000, 2000
TARGETS = {"quick": 2, "full": 30}
SIGNS = (1.0, -1.0, 1.0, -1.0)  # of the bumps


@dataclass(frozen=True, kw_only=True)
class BarronConfig(Config):
    """The function that is approximated."""

    inputs: Annotated[Size, Doc("D, inputs of the function")] = 5
    bump: Annotated[Positive, Doc("s, width of a bump; the ball has radius 1")] = 0.5
    smooth: Annotated[
        bool, Assumption("C_f is finite; without it, the values are noise of the same spread")
    ] = True


def barron_constant(inputs: int, bump: float) -> float:
    """C_f of a Gaussian bump: the mean length of w ~ N(0, I / s^2)."""
    return math.sqrt(2) / bump * math.gamma((inputs + 1) / 2) / math.gamma(inputs / 2)


def ball_places(count: int, inputs: int, rng: torch.Generator) -> Tensor:
    """Places spread evenly over the unit ball, (N, D)."""
    radii = torch.rand(count, 1, generator=rng, dtype=torch.float64).pow(1 / inputs)
    return radii * directions(count, inputs, rng)


def directions(count: int, inputs: int, rng: torch.Generator) -> Tensor:
    """Random vectors of length 1, (N, D)."""
    drawn = torch.randn(count, inputs, generator=rng, dtype=torch.float64)
    return functional.normalize(drawn, dim=1)


def bumps(x: Tensor, width: float, rng: torch.Generator) -> Tensor:
    """A sum of Gaussian bumps of both signs, (N)."""
    centres = 0.7 * directions(len(SIGNS), x.shape[1], rng)
    heights = torch.tensor(SIGNS, dtype=torch.float64)
    return (-torch.cdist(x, centres).square() / (2 * width**2)).exp() @ heights


def greedy_errors(units: Tensor, target: Tensor, most: int) -> list[float]:
    """The mean squared error with 1, 2 ... units (N, P), each the best one for what is left.

    All output weights are fitted again after each choice: what is left is made orthogonal to
    every chosen unit. A constant comes free.
    """
    columns = units - units.mean(dim=0)
    columns = columns / columns.norm(dim=0).clamp_min(1e-9)  # a unit may be constant on the places
    rows = columns.T.float().contiguous()  # single precision is enough, and quick, for the choice
    left = target - target.mean()
    basis = torch.zeros(len(target), most, dtype=torch.float64)
    errors = []
    for chosen in range(most):
        column = columns[:, (rows @ left.float()).abs().argmax()]
        for _ in range(2):  # twice, since once is not exact in floating point
            column = column - basis @ (column @ basis)
        basis[:, chosen] = column / column.norm()
        left = left - basis[:, chosen] * (basis[:, chosen] @ left)
        errors.append(float(left.square().mean()))
    return errors


def measure_barron(given: BarronConfig, seed: int, effort: Effort) -> Verdict:
    """Choose 256 threshold units one by one and look at m times the error."""
    curves = []
    for number in range(TARGETS[effort]):
        rng = generator(seed, "target", number)
        x = ball_places(PLACES, given.inputs, rng)
        target = bumps(x, given.bump, rng)
        if not given.smooth:
            noise = torch.randn(PLACES, generator=rng, dtype=torch.float64)
            target = noise * target.std()
        thresholds = 2 * torch.rand(CHOICE, generator=rng, dtype=torch.float64) - 1
        units = (x @ directions(CHOICE, given.inputs, rng).T > thresholds).double()
        errors = greedy_errors(units, target, UNITS[-1])
        curves.append([errors[count - 1] for count in UNITS])
    bound = (2 * len(SIGNS) * barron_constant(given.inputs, given.bump)) ** 2
    over = sum(
        error * count > bound for curve in curves for count, error in zip(UNITS, curve, strict=True)
    )
    growth = estimate([4 * curve[-1] / curve[-3] for curve in curves])
    means = [sum(errors) / len(errors) for errors in zip(*curves, strict=True)]
    most = max(count * error for count, error in zip(UNITS, means, strict=True))
    fixed = [most / UNITS[0] * (count / UNITS[0]) ** (-2 / given.inputs) for count in UNITS]
    return Verdict(
        findings=(
            no_violations("errors above (2 r C)² / m", over, n=len(curves) * len(UNITS)),
            at_most(
                f"m times the error with {UNITS[-1]} units over that with {UNITS[-3]}",
                1,
                growth.mean,
                n=growth.n,
                interval=growth.interval,
            ),
        ),
        chart=ClaimChart(
            x_label="units, m",
            y_label="mean squared error",
            series=(
                predicted("rate 1/m, above all dots", UNITS, [most / count for count in UNITS]),
                line(f"rate of fixed units, 1/m^(2/{given.inputs})", UNITS, fixed),
                measured(f"greedy units, mean of {len(curves)} functions", UNITS, means),
            ),
            explanation="In the end the error falls at least as fast as 1/m, although there are "
            f"{given.inputs} inputs; units that do not adapt can be as slow as the upper line.",
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
