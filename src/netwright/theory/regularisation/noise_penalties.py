r"""Noise is a penalty: dropout and noisy inputs both shrink the weights of a linear model.

    dropout      E (w^T h~ - y)^2 = (w^T h - y)^2 + (1 - p)/p sum_j w_j^2 h_j^2,    h~ = m h / p
    input noise  E |y - (X + E) w|^2 = |y - X w|^2 + n sigma^2 |w|^2

Shapes: N examples, D features, M = 2^D masks.
Source: Wager, Wang and Liang, "Dropout Training as Adaptive Regularization" (2013); Bishop,
"Training with Noise is Equivalent to Tikhonov Regularization" (1995).
"""

# ruff: noqa: RUF001 - the Greek letters are meant

from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Positive, Size
from netwright.core.errors import ConfigError
from netwright.core.seeding import generator
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.models.linear.least_squares import solve_least_squares
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, at_most, no_violations

CASES = {"quick": 200, "full": 5000}
SETS = {"quick": 1, "full": 10}
ROUNDING = 1e-12
MOST_ROWS = 400_000
STANDARD_ERRORS = 5  # chance alone goes further once in a million weights
KEPT = tuple(i / 20 for i in range(2, 21))  # p of the chart
SPREADS = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0)  # sigma of the noise


@dataclass(frozen=True, kw_only=True)
class DropoutConfig(Config):
    """A linear unit whose inputs are dropped."""

    features: Annotated[int, Interval(ge=2, le=12), Doc("D; all 2^D masks are summed over")] = 8
    examples: Annotated[int, Interval(ge=1, le=200), Doc("N, examples of the regression")] = 30
    keep: Annotated[
        float, Interval(gt=0, lt=1), Doc("p, the probability that a feature is kept")
    ] = 0.5
    independent: Annotated[bool, Assumption("each feature is dropped by itself")] = True
    rescaled: Annotated[
        bool, Assumption("what is kept is divided by p while training (inverted dropout)")
    ] = True


def factors_and_odds(given: DropoutConfig, keep: float) -> tuple[Tensor, Tensor]:
    """What each mask multiplies the features by (M, D), and its probability (M,)."""
    free = given.features if given.independent else given.features // 2
    numbers = torch.arange(2**free)
    masks = ((numbers.unsqueeze(1) >> torch.arange(free)) & 1).double()
    odds = (keep * masks + (1 - keep) * (1 - masks)).prod(dim=1)
    if not given.independent:  # features share a mask in pairs
        masks = masks[:, torch.arange(given.features) % free]
    return masks / (keep if given.rescaled else 1.0), odds


def penalty(weights: Tensor, hidden: Tensor, keep: float) -> Tensor:
    """(1 - p)/p sum_j w_j^2 h_j^2."""
    return (1 - keep) / keep * (weights * hidden).square().sum(dim=-1)


def expected_errors(
    given: DropoutConfig, keep: float, weights: Tensor, hidden: Tensor, targets: Tensor
) -> Tensor:
    """E (w^T h~ - y)^2 over all masks, for every case (B, D), (B, D), (B,) -> (B,)."""
    factors, odds = factors_and_odds(given, keep)
    return ((weights * hidden) @ factors.T - targets.unsqueeze(1)).square() @ odds


def gap_of_minimisers(given: DropoutConfig, random: torch.Generator) -> float:
    """Least squares on all masked copies of the data, against ridge with dropout's penalty."""
    x = torch.randn(given.examples, given.features, generator=random, dtype=torch.float64)
    y = torch.randn(given.examples, 1, generator=random, dtype=torch.float64)
    factors, odds = factors_and_odds(given, given.keep)
    copies = (factors.unsqueeze(1) * x).flatten(0, 1)  # (M N, D)
    share = odds.repeat_interleave(given.examples)
    found, _ = solve_least_squares(copies, y.repeat(len(odds), 1), weights=share)
    centred = x - x.mean(dim=0)  # the bias is free
    ridge = (1 - given.keep) / given.keep * x.square().sum(dim=0).diag()
    wanted = torch.linalg.solve(centred.T @ centred + ridge, centred.T @ (y - y.mean()))
    return float((found.T - wanted).abs().max())


def measure_dropout(given: DropoutConfig, seed: int, effort: Effort) -> Verdict:
    """Sum over all masks, for random weights, inputs and targets."""
    random = generator(seed, "dropout")
    weights, hidden = torch.randn(
        2, CASES[effort], given.features, generator=random, dtype=torch.float64
    )
    targets = torch.randn(CASES[effort], generator=random, dtype=torch.float64)
    plain = ((weights * hidden).sum(dim=1) - targets).square()
    wanted = plain + penalty(weights, hidden, given.keep)
    found = expected_errors(given, given.keep, weights, hidden, targets)
    wrong = int(((found - wanted).abs() > ROUNDING * wanted).sum())
    first = (weights[:1], hidden[:1])
    masks = len(factors_and_odds(given, given.keep)[1])
    return Verdict(
        findings=(
            no_violations(
                f"cases where the two sides differ by a share of {ROUNDING:g}", wrong, n=len(wanted)
            ),
            at_most(
                "largest difference of a weight, dropout's minimiser against ridge",
                1e-10,
                gap_of_minimisers(given, random),
                n=given.features,
            ),
        ),
        chart=ClaimChart(
            x_label="probability that a feature is kept, p",
            y_label="expected squared error",
            series=(
                predicted(
                    "error without dropout + (1 - p)/p Σ w²h²",
                    KEPT,
                    [float(plain[0] + penalty(*first, keep)) for keep in KEPT],
                ),
                measured(
                    f"mean over all {masks} masks",
                    KEPT,
                    [float(expected_errors(given, keep, *first, targets[:1])) for keep in KEPT],
                ),
            ),
            explanation=_dropout_told(given),
        ),
    )


def _dropout_told(given: DropoutConfig) -> str:
    if not given.rescaled:
        return (
            "Inputs that are not divided by p are smaller on average: more changes than a penalty."
        )
    if not given.independent:
        return "Inputs that are dropped together add products of their weights to the penalty."
    return (
        "One linear unit, one example: dropping inputs adds a penalty on the squares of its "
        "weights, each weighed by the square of its own input."
    )


DROPOUT_L2 = Claim(
    card=Card(
        sentence="For a linear unit with squared error, dropout is on average an L2 penalty that"
        " adapts to the size of each input.",
        formula=r"E(w^T \tilde h - y)^2 = (w^T h - y)^2 + \frac{1-p}{p} \sum_j w_j^2 h_j^2",
        symbols={
            r"\tilde h": "m h / p, where m_j is 1 with probability p and else 0, (D)",
            "p": "probability that an input is kept",
            "w": "weights, (D)",
            "y": "target",
        },
        source="Wager, Wang and Liang (2013), NIPS 26, 351-359",
        misprint="p is the share that is kept; `torch.nn.Dropout(p)` takes the share dropped.",
    ),
    topic="Regularisation",
    kind="theorem",
    settings=DropoutConfig,
    experiment=measure_dropout,
)


@dataclass(frozen=True, kw_only=True)
class InputNoiseConfig(Config):
    """The regression whose inputs are noisy."""

    examples: Annotated[Size, Doc("n, examples")] = 40
    features: Annotated[int, Interval(ge=2, le=20), Doc("D, features of one example")] = 5
    copies: Annotated[Size, Doc("noisy copies of every example")] = 4000
    target_noise: Annotated[Positive, Doc("standard deviation of the targets' own noise")] = 0.5
    independent: Annotated[bool, Assumption("each feature has noise of its own")] = True

    def __post_init__(self) -> None:
        """Refuse more noisy rows than fit in memory with ease."""
        super().__post_init__()
        if self.examples * self.copies > MOST_ROWS:
            raise ConfigError(
                f"examples times copies must be at most {MOST_ROWS}, "
                f"got {self.examples} times {self.copies}"
            )


def weights_from_copies(
    given: InputNoiseConfig, x: Tensor, y: Tensor, spread: float, random: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Least squares on noisy copies of the inputs: weights (D,) and their standard errors (D,)."""
    rows, own = given.copies * len(x), given.features if given.independent else 1
    noise = spread * torch.randn(rows, own, generator=random, dtype=torch.float64)
    noisy, targets = x.repeat(given.copies, 1) + noise, y.repeat(given.copies, 1)
    slope, bias = solve_least_squares(noisy, targets)
    centred = noisy - noisy.mean(dim=0)
    pulls = centred * (targets - noisy @ slope.T - bias)  # of each row on the weights
    reach = torch.linalg.solve(centred.T @ centred, pulls.T)  # (D, rows)
    return slope.flatten(), reach.square().sum(dim=1).sqrt()


def measure_input_noise(given: InputNoiseConfig, seed: int, effort: Effort) -> Verdict:
    """Least squares on noisy copies against ridge, for several strengths of the noise."""
    random = generator(seed, "input noise")
    truth = torch.ones(given.features, 1, dtype=torch.float64)
    deviations, ridges, copies = [], [], []
    for _ in range(SETS[effort]):
        x = torch.randn(given.examples, given.features, generator=random, dtype=torch.float64)
        own = torch.randn(given.examples, 1, generator=random, dtype=torch.float64)
        y = x @ truth + given.target_noise * own
        for spread in SPREADS:
            ridge = solve_least_squares(x, y, l2=spread**2)[0].flatten()
            copied, errors = weights_from_copies(given, x, y, spread, random)
            deviations.append((copied - ridge).abs() / errors)
            ridges.append(float(ridge.norm()))
            copies.append(float(copied.norm()))
    off = torch.cat(deviations)
    shown = slice(0, len(SPREADS))
    return Verdict(
        findings=(
            at_most(
                "difference of a weight from ridge, in standard errors, the largest",
                STANDARD_ERRORS,
                float(off.max()),
                n=len(off),
            ),
        ),
        chart=ClaimChart(
            x_label="standard deviation of the noise on each input, σ",
            y_label="length of the weights, |w|",
            series=(
                predicted("ridge with the penalty nσ²", SPREADS, ridges[shown]),
                measured(f"least squares on {given.copies} noisy copies", SPREADS, copies[shown]),
            ),
            explanation="The noisier the inputs, the less the model relies on any of them: its "
            "weights shrink as those of ridge regression do."
            if given.independent
            else "One noise for all inputs punishes the sum of the weights alone: they do not "
            "shrink as those of ridge regression do.",
        ),
    )


INPUT_NOISE = Claim(
    card=Card(
        sentence="Adding Gaussian noise to the inputs of a linear model is ridge regression with"
        " the penalty nσ².",
        formula=r"E\|y - (X + E)w\|^2 = \|y - Xw\|^2 + n \sigma^2 \|w\|^2",
        symbols={
            "X": "inputs, (n, D)",
            "E": "noise, each number from N(0, sigma^2), (n, D)",
            "y": "targets, (n)",
            "w": "weights, (D)",
        },
        source="Bishop (1995), Neural Computation 7, 108-116",
        misprint="Often headed noise on the weights. That would add sigma^2 |x|^2, which no"
        " weight can change.",
    ),
    topic="Regularisation",
    kind="theorem",
    settings=InputNoiseConfig,
    experiment=measure_input_noise,
)
