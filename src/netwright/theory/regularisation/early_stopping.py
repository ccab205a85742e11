r"""Early stopping: gradient descent that is cut short shrinks the weights much as ridge does.

After t steps from 0, direction i has this share of its least-squares weight; ridge with the
penalty 1 / (eta t) has

    descent  1 - (1 - eta lambda_i)^t
    ridge    lambda_i / (lambda_i + 1 / (eta t)) = x / (1 + x),   x = eta lambda_i t.

The first is larger by a share of x (1 + 1/t) / 2, and less where x is not small.

Shapes: N examples, D features.
Source: Bishop, "Pattern Recognition and Machine Learning" (2006), section 5.5.2.
"""

# ruff: noqa: RUF001 - the Greek letters are meant

import math
from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.errors import ConfigError
from netwright.core.seeding import generator
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.models.linear.least_squares import solve_least_squares
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, at_most, no_violations

STOPPING_SETS = {"quick": 5, "full": 50}
SMALL = 0.2  # eta lambda t of the directions that are compared
FLATTEST = 1e-4  # curvature


@dataclass(frozen=True, kw_only=True)
class EarlyStoppingConfig(Config):
    """The regression, and when its descent is stopped."""

    features: Annotated[
        int, Interval(ge=2, le=200), Doc("D, directions, with curvatures from 1 down to 1e-4")
    ] = 40
    examples: Annotated[int, Interval(ge=3, le=2000), Doc("N, examples, more than D")] = 100
    lr: Annotated[float, Interval(ge=1e-3, le=1), Doc("eta, the step size")] = 0.1
    steps: Annotated[int, Interval(ge=1, le=10_000), Doc("t, steps of gradient descent")] = 300
    early: Annotated[
        bool, Assumption(f"stopped early: eta lambda t is at most {SMALL} in a direction compared")
    ] = True
    from_zero: Annotated[bool, Assumption("the descent starts at 0, where ridge pulls to")] = True

    def __post_init__(self) -> None:
        """Refuse inputs of lower rank, and a descent that is nowhere early."""
        super().__post_init__()
        if self.examples <= self.features:
            raise ConfigError(
                f"examples must be more than features, {self.features}, got {self.examples}"
            )
        if self.lr * self.steps * FLATTEST > SMALL:
            raise ConfigError(
                f"lr times steps must be at most {SMALL / FLATTEST:g}, so that the flattest "
                f"direction is stopped early, got {self.lr * self.steps:g}"
            )


def shrinkages(
    given: EarlyStoppingConfig, random: torch.Generator
) -> tuple[Tensor, Tensor, Tensor]:
    """Curvatures (D,), and what is left of the least-squares weights by descent and by ridge."""
    x = torch.randn(given.examples, given.features, generator=random, dtype=torch.float64)
    left, _, right = torch.linalg.svd(x - x.mean(dim=0), full_matrices=False)
    curvatures = torch.logspace(0, math.log10(FLATTEST), given.features, dtype=torch.float64)
    x = (left * (given.examples * curvatures).sqrt()) @ right  # X^T X / n has these curvatures
    y = torch.randn(given.examples, 1, generator=random, dtype=torch.float64)
    least = right @ solve_least_squares(x, y)[0].T  # (D, 1), in the directions of the curvatures
    weights = torch.zeros_like(least)
    if not given.from_zero:
        weights = torch.randn(weights.shape, generator=random, dtype=torch.float64)
    for _ in range(given.steps):
        weights = weights - given.lr * x.T @ (x @ weights - y) / given.examples
    ridge = solve_least_squares(x, y, l2=1 / (given.lr * given.steps))[0].T
    return (
        curvatures,
        (right @ weights / least).squeeze(1),
        (right @ ridge / least).squeeze(1),
    )


def measure_early_stopping(given: EarlyStoppingConfig, seed: int, effort: Effort) -> Verdict:
    """Descend for a while, and compare with ridge direction by direction."""
    random = generator(seed, "early stopping")
    sets = [shrinkages(given, random) for _ in range(STOPPING_SETS[effort])]
    curvatures, stopped, ridge = (torch.stack(part) for part in zip(*sets, strict=True))
    products = given.lr * given.steps * curvatures
    formula = 1 - (1 - given.lr * curvatures) ** given.steps
    wrong = int(((stopped - formula).abs() > 1e-8).sum())
    compared = products <= SMALL if given.early else torch.ones_like(products, dtype=torch.bool)
    return Verdict(
        findings=(
            at_most(
                "share by which descent and ridge differ in a direction, the largest",
                SMALL / 2 * (1 + 1 / given.steps),
                float((stopped / ridge - 1).abs()[compared].max()),
                n=int(compared.sum()),
            ),
            no_violations(
                "directions in which descent has not 1 - (1 - eta lambda)^t of its way behind it",
                wrong,
                n=stopped.numel(),
            ),
        ),
        chart=ClaimChart(
            x_label="step size times curvature times steps, ηλt",
            y_label="share of the least-squares weight",
            series=(
                predicted("ridge with α = 1/(ηt)", products[0], products[0] / (1 + products[0])),
                measured(f"gradient descent after {given.steps} steps", products[0], stopped[0]),
            ),
            explanation="One dot for each direction of one data set. From 0, both leave flat "
            "directions near 0 and fit steep ones; they agree where ηλt is small.",
            log="x",
        ),
    )


EARLY_STOPPING = Claim(
    card=Card(
        sentence="Stopping gradient descent early shrinks the weights much as an L2 penalty of"
        " 1/(ηt) would, where ηλt is small.",
        formula=r"1 - (1 - \eta\lambda_i)^t \approx \frac{\lambda_i}{\lambda_i + \alpha},"
        r" \quad \alpha = \frac{1}{\eta t}",
        symbols={
            r"\lambda_i": "curvature of direction i, an eigenvalue of X^T X / n",
            r"\eta": "step size",
            "t": "steps",
            r"\alpha": "the L2 penalty, beside half the mean squared error",
        },
        source="Bishop (2006), Pattern Recognition and Machine Learning, section 5.5.2",
    ),
    topic="Regularisation",
    kind="empirical",
    settings=EarlyStoppingConfig,
    experiment=measure_early_stopping,
)
