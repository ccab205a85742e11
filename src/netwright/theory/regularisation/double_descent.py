r"""Double descent: the test error peaks where parameters equal examples, and falls again beyond.

Targets depend on all D features, with |w| = 1; the first of them are used. With normal features,
p - 1 of them and a bias, u = 1 - (p-1)/D + sigma^2 of what they cannot explain, and the fit of
least norm, the mean test error is 1 + 1/n times

    p <= n - 2    u (1 + (p-1) / (n - p - 1))
    p >= n + 2    (p - n) / D + u (1 + (n-1) / (p - n - 1))

and has no bound between. The source has no bias: p and n for p - 1 and n - 1, and no 1 + 1/n,
which is what the estimate of the mean costs.

Shapes: n examples, p parameters, D features.
Source: Belkin, Hsu and Xu, "Two Models of Double Descent for Weak Features" (2020).
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import generator
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.models.linear.least_squares import solve_least_squares
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, at_least, at_most, equals

TRIES = {"quick": 20, "full": 200}
FRESH = 500
SHARES = (0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 4, 10)  # parameters over examples
AWAY = 2.0  # n / p or p / n, from which on a mean of so few tries is near its limit
PENALTY = 0.5

Data = tuple[Tensor, Tensor]


@dataclass(frozen=True, kw_only=True)
class DoubleDescentConfig(Config):
    """The regression."""

    examples: Annotated[
        int, Interval(ge=20, le=100), Doc("n, training examples; the most features are 10 n")
    ] = 40
    noise: Annotated[
        float, Interval(ge=0, le=100), Doc("sigma, standard deviation of the targets' noise")
    ] = 0.2
    unpenalised: Annotated[
        bool, Assumption("the fit has no penalty: it passes through all examples once it can")
    ] = True


def expected_error(given: DoubleDescentConfig, parameters: int) -> float:
    """The mean test error by the formula; infinite next to the peak, where there is no mean."""
    n, p, features = given.examples, parameters, 10 * given.examples
    unexplained = 1 - (p - 1) / features + given.noise**2
    if p <= n - 2:
        return (1 + 1 / n) * unexplained * (1 + (p - 1) / (n - p - 1))
    if p >= n + 2:
        missed = (p - n) / features  # of the weights, by the fit of least norm
        return (1 + 1 / n) * (missed + unexplained * (1 + (n - 1) / (p - n - 1)))
    return math.inf


def draw(given: DoubleDescentConfig, rows: int, weights: Tensor, random: torch.Generator) -> Data:
    """Normal features (rows, D) and their noisy targets (rows, 1)."""
    x = torch.randn(rows, len(weights), generator=random, dtype=torch.float64)
    noise = torch.randn(rows, 1, generator=random, dtype=torch.float64)
    return x, x @ weights + given.noise * noise


def errors_on_fresh_examples(
    given: DoubleDescentConfig, sizes: list[int], random: torch.Generator
) -> list[float]:
    """Mean squared errors on fresh examples, one a number of parameters, on one data set."""
    weights = torch.randn(10 * given.examples, 1, generator=random, dtype=torch.float64)
    weights = weights / weights.norm()
    x, y = draw(given, given.examples, weights, random)
    fresh, wanted = draw(given, FRESH, weights, random)
    errors = []
    for size in sizes:
        used = size - 1  # the bias is a parameter too
        l2 = 0.0 if given.unpenalised else PENALTY
        slope, bias = solve_least_squares(x[:, :used], y, l2=l2)
        errors.append(float((fresh[:, :used] @ slope.T + bias - wanted).square().mean()))
    return errors


def standard_error(values: Sequence[float]) -> float:
    """Of the mean of several tries."""
    return statistics.stdev(values) / math.sqrt(len(values))


def measure_double_descent(given: DoubleDescentConfig, seed: int, effort: Effort) -> Verdict:
    """Fit with fewer and with more parameters than examples, on many data sets."""
    random = generator(seed, "double descent")
    n = given.examples
    sizes = [round(share * n) for share in SHARES]
    few, most = sizes[SHARES.index(0.5)], sizes[-1]
    tries = [errors_on_fresh_examples(given, sizes, random) for _ in range(TRIES[effort])]
    errors = dict(zip(sizes, zip(*tries, strict=True), strict=True))
    medians = {size: statistics.median(values) for size, values in errors.items()}
    means = {size: statistics.mean(values) for size, values in errors.items() if size != n}
    away = [size for size in means if max(n / size, size / n) >= AWAY]
    below, above = range(sizes[0], n - 1), range(n + 2, most + 1)

    def expect(parameters: int) -> float:
        return expected_error(given, parameters)

    def standard_errors_off(size: int) -> float:
        return float(abs(means[size] - expect(size)) / standard_error(errors[size]))

    explanation = (
        "The error first rises to a peak where the parameters just suffice to fit every example, "
        "then falls again, below where it was."
        if given.unpenalised
        else f"With an L2 penalty of {PENALTY:g} the peak of the formulas, which are for the fit "
        "without one, is gone."
    )
    return Verdict(
        findings=(
            at_most(
                "standard errors between a mean test error and the formula, the most, at most "
                f"{few} or at least {2 * n} parameters",
                5,  # of few tries with long tails
                max(map(standard_errors_off, away)),
                n=len(tries),
            ),
            equals(
                "parameters with the largest median test error",
                n,
                max(sizes, key=medians.__getitem__),
                n=len(tries),
            ),
            at_least(
                f"median test error at {n} parameters, over that at {few}",
                10,
                medians[n] / medians[few],
                n=len(tries),
            ),
            at_most(
                f"median test error at {most} parameters, over that at {few}",
                1,
                medians[most] / medians[few],
                n=len(tries),
            ),
        ),
        chart=ClaimChart(
            x_label=f"parameters, for {n} training examples",
            y_label="mean squared test error",
            series=(
                predicted("mean below n, formula", below, map(expect, below)),
                predicted("mean above n, formula", above, map(expect, above)),
                measured(f"mean of {len(tries)} data sets", means, means.values()),
                measured(f"median at {n} parameters, where there is no mean", [n], [medians[n]]),
            ),
            explanation=explanation,
            log="xy",
        ),
    )


DOUBLE_DESCENT = Claim(
    card=Card(
        sentence="The test error of the least-squares fit of least norm peaks where there are as"
        " many parameters as examples, and falls again beyond.",
        formula=r"\frac{n E}{n+1} = u\left(1 + \frac{p-1}{n-p-1}\right) \; (p \le n-2), \quad"
        r" \frac{n E}{n+1} = \frac{p-n}{D} + u\left(1 + \frac{n-1}{p-n-1}\right)"
        r" \; (p \ge n+2)",
        symbols={
            "E": "mean squared test error, averaged over data sets",
            "n": "training examples",
            "p": "parameters: p - 1 of the D features that the targets depend on, and a bias",
            "u": "1 - (p-1)/D + sigma^2, the variance that the features leave unexplained",
        },
        source="Belkin, Hsu and Xu (2020), SIAM J. on Mathematics of Data Science 2, 1167-1180",
    ),
    topic="Regularisation",
    kind="empirical",
    settings=DoubleDescentConfig,
    experiment=measure_double_descent,
)
