r"""Nadaraya-Watson regression finds any smooth curve, if its kernel narrows at the right speed.

A query takes the mean of the targets of the examples near it. With the width h its error is

    bias^2 + variance  ~  C_1 h^4 + C_2 / (n h),

so that it falls to 0 if h -> 0 and n h -> infinity; h = c n^{-1/5} is best, and gives n^{-4/5}.

Shapes: N examples, B queries.
Source: Nadaraya (1964); Watson (1964); Mack and Silverman (1982).
"""

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import torch
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Positive
from netwright.core.seeding import generator
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.layers.attention.kernels import kernel_pooling
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Estimate, Verdict, at_most, equals, estimate, estimate_ratio

COUNTS = (50, 158, 500, 1581, 5000)
TRIES = {"quick": 30, "full": 300}
END = 5.0  # inputs lie between 0 and here
QUERIES = 61  # inside, where examples lie on both sides
RATE, WITHIN = -0.8, 0.12


@dataclass(frozen=True, kw_only=True)
class NadarayaWatsonConfig(Config):
    """The noise, the width, and how it goes with the number of examples."""

    noise: Annotated[Positive, Doc("standard deviation of the noise on the targets")] = 0.5
    width: Annotated[Positive, Doc("of the Gaussian kernel, with 50 examples")] = 0.45
    narrowing: Annotated[
        bool, Assumption("the kernel narrows as examples are added; without it, its width stays")
    ] = True
    more_neighbours: Annotated[
        bool,
        Assumption(
            "it narrows slower than 1/n, so that more and more examples lie within its width"
        ),
    ] = True


def curve(x: Tensor) -> Tensor:
    """2 sin x + x."""
    return 2 * x.sin() + x


def width_for(given: NadarayaWatsonConfig, count: int) -> float:
    """The width, h ~ n^{-1/5}, or too slow or too fast."""
    power = 0.0 if not given.narrowing else 0.2 if given.more_neighbours else 1.0
    return given.width * math.pow(COUNTS[0] / count, power)


def squared_error(given: NadarayaWatsonConfig, count: int, rng: torch.Generator) -> float:
    """Of the pooled targets of so many noisy examples, the mean over queries."""
    x = END * torch.rand(count, 1, generator=rng)
    y = curve(x) + given.noise * torch.randn(count, 1, generator=rng)
    queries = torch.linspace(END / 5, 4 * END / 5, QUERIES)[:, None]
    found = kernel_pooling(queries, x, y, "gaussian", width_for(given, count))
    return float((found - curve(queries)).square().mean())


def measure_nadaraya_watson(given: NadarayaWatsonConfig, seed: int, effort: Effort) -> Verdict:
    """Regress on 50 to 5000 examples, each number many times."""
    rng = generator(seed, "nadaraya-watson")
    errors = [[squared_error(given, count, rng) for count in COUNTS] for _ in range(TRIES[effort])]
    slopes = np.polyfit(np.log(COUNTS), np.log(errors).T, 1)[0]  # one a try
    rate = estimate(slopes.tolist())
    left = estimate_ratio([row[-1] / row[0] for row in errors])
    means = [estimate_ratio(column) for column in zip(*errors, strict=True)]
    return Verdict(
        findings=(
            equals("slope of log error over log n", RATE, within=WITHIN, **rate.as_measured()),
            at_most("error with 5000 examples over that with 50", 0.1, **left.as_measured()),
        ),
        chart=_chart(means, rate.mean),
    )


def _chart(means: list[Estimate], rate: float) -> ClaimChart:
    """Errors with their intervals, beside a line of the slope -4/5 through their middle."""
    logs = [math.log(found.mean) for found in means]
    middle = sum(logs) / len(logs) - RATE * sum(map(math.log, COUNTS)) / len(COUNTS)
    return ClaimChart(
        x_label="examples, n",
        y_label="squared error of the curve",
        series=(
            predicted("slope -4/5", COUNTS, [math.exp(middle) * n**RATE for n in COUNTS]),
            measured(
                "measured, with 95 % intervals",
                COUNTS,
                [found.mean for found in means],
                [found.interval for found in means],
            ),
        ),
        explanation="Kernel regression of y = 2 sin x + x from noisy examples. The slope of the "
        f"measured errors is {rate:.2f}.",
        log="xy",
    )


NADARAYA_WATSON = Claim(
    card=Card(
        sentence="Kernel regression comes as near as one likes to any smooth curve, if its kernel"
        " narrows as examples are added; with the width n^(-1/5) its error falls as n^(-4/5).",
        formula=r"f(q) = \frac{\sum_i v_i \, \alpha(\frac{q - k_i}{h})}"
        r"{\sum_j \alpha(\frac{q - k_j}{h})}, \quad h \sim n^{-1/5} \;\Rightarrow\;"
        r" \mathrm{E}(f(q) - y(q))^2 \sim n^{-4/5}",
        symbols={
            "q": "query, a place",
            "k_i": "key, the place of example i",
            "v_i": "value, its target",
            "h": "width of the kernel",
            "n": "examples",
        },
        source="Mack and Silverman (1982), Zeitschrift für Wahrscheinlichkeitstheorie 61, 405-415",
    ),
    topic="Attention",
    kind="theorem",
    settings=NadarayaWatsonConfig,
    experiment=measure_nadaraya_watson,
)
