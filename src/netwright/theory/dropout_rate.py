r"""How many units to keep: the test loss of a network that overfits, against dropout's rate.

Dropout keeps each hidden unit with the probability p while training. Half of the units, p = 0.5,
gives the largest variance p (1 - p) to the thinned networks that are averaged, and is the usual
choice. Where the network has many more units than it needs the loss is nearly flat around it; a
network that is small for its task has no unit to spare, and every one dropped costs.

Shapes: P probabilities, R tries.
Source: Srivastava et al., "Dropout: A Simple Way to Prevent Neural Networks from Overfitting"
(2014), section 7.3.
"""

from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import derive_seed
from netwright.inspection.claim_chart import ClaimChart, measured, predicted
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.held_out import digits, held_out
from netwright.theory.verdict import Verdict, at_most, estimate

KEPT = {
    "quick": (0.2, 0.35, 0.5, 0.7, 0.9),
    "full": (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
}
TRIES = {"quick": 3, "full": 10}
TRAINING = {"lr": 0.01, "batch_size": 50, "epochs": 30}
NARROW = 8


@dataclass(frozen=True, kw_only=True)
class DropoutRateConfig(Config):
    """The network and what it learns from."""

    hidden: Annotated[int, Interval(ge=64, le=512), Doc("units of the hidden layer")] = 128
    examples: Annotated[int, Interval(ge=100, le=300), Doc("digits to learn from")] = 150
    tolerance: Annotated[
        float, Interval(gt=0, le=0.2), Doc("how far above the best loss is near, as a share")
    ] = 0.05
    wide: Annotated[
        bool, Assumption(f"there are units to spare; without it, there are {NARROW} of them")
    ] = True


def test_losses(given: DropoutRateConfig, kept: tuple[float, ...], seed: int) -> list[float]:
    """One try: the test loss of a network trained with each probability, on the same digits."""
    data = digits(given.examples, seed % 2**31)
    hidden = given.hidden if given.wide else NARROW
    return [
        held_out(
            "mlp",
            data,
            seed=seed,
            settings={"hidden": (hidden,), "dropout": 1 - p},
            train=TRAINING,
        ).loss
        for p in kept
    ]


def measure_dropout_rate(given: DropoutRateConfig, seed: int, effort: Effort) -> Verdict:
    """Networks that keep few and many of their units, several times."""
    kept, tries = KEPT[effort], TRIES[effort]
    losses = torch.tensor(
        [test_losses(given, kept, derive_seed(seed, "dropout-rate", i)) for i in range(tries)],
        dtype=torch.float64,
    )  # (R, P)
    means, half = losses.mean(0), kept.index(0.5)
    best = int(means.argmin())
    spread = [estimate(column.tolist()) for column in losses.T]
    return Verdict(
        findings=(
            at_most(
                "test loss with half of the units over the best of all probabilities",
                1 + given.tolerance,
                float(means[half] / means[best]),
                n=losses.numel(),
            ),
        ),
        chart=ClaimChart(
            x_label="share of hidden units kept while training, p",
            y_label="test loss",
            series=(
                predicted(
                    f"{given.tolerance:.0%} above the best",
                    kept,
                    [float(means[best]) * (1 + given.tolerance)] * len(kept),
                ),
                measured("networks on digits", kept, means.tolist(), [e.interval for e in spread]),
            ),
            explanation=f"Means over {tries} networks of {given.hidden} units that learn from "
            f"{given.examples} digits, with 95 % intervals. Around p = 0.5 the loss is nearly flat."
            if given.wide
            else f"A network of {NARROW} units has none to spare: the more it keeps, the better.",
        ),
    )


DROPOUT_RATE = Claim(
    card=Card(
        sentence="In a network with units to spare, keeping half of the hidden units is within 5 % "
        "of the best test loss.",
        formula=r"h = \frac{m}{p} \odot \phi(Wx + b), \quad m_j \sim \mathrm{Bernoulli}(p),"
        r" \quad p = 0.5",
        symbols={
            "m": "which units are kept, drawn anew for each example",
            "p": "the probability to keep a unit; dropout's rate is 1 - p",
            r"\phi(Wx + b)": "the hidden layer",
        },
        source="Srivastava et al. (2014), JMLR 15, 1929-1958, section 7.3",
    ),
    topic="Regularisation",
    kind="empirical",
    settings=DropoutRateConfig,
    experiment=measure_dropout_rate,
)
