r"""How many units to keep: the test loss of a network that overfits, against dropout's rate.

Dropout keeps each hidden unit with the probability p while training, and divides what is kept by p:
its noise has the variance (1 - p) / p of the squared signal, which grows the more is dropped. Too
little of it does not keep a network from learning wrong labels by heart, too much hides the signal.
Half of the units is the usual choice. A network that is small for its task has no unit to spare,
and every one dropped costs.

Shapes: P probabilities, R tries.
Source: Srivastava et al., "Dropout: A Simple Way to Prevent Neural Networks from Overfitting"
(2014), section 7.3.
"""

from dataclasses import dataclass, replace
from typing import Annotated

import torch
from annotated_types import Interval

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import derive_seed, generator
from netwright.data.dataset import Data
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.held_out import digits, held_out
from netwright.theory.verdict import Verdict, at_least, at_most, estimate, estimate_ratio

KEPT = {
    "quick": (0.25, 0.5, 0.8, 1.0),
    "full": (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
}
TRIES = {"quick": 2, "full": 10}
TRAINING = {"lr": 0.02, "epochs": 40}  # each step takes all examples
WRONG = 0.2  # of the labels
HELPS = 1.05  # times the loss that a network without dropout has at least
NARROW = 8


@dataclass(frozen=True, kw_only=True)
class DropoutRateConfig(Config):
    """The network and what it learns from."""

    hidden: Annotated[int, Interval(ge=64, le=512), Doc("units of both hidden layers")] = 128
    examples: Annotated[int, Interval(ge=100, le=300), Doc("digits to learn from")] = 150
    tolerance: Annotated[
        float, Interval(gt=0, le=0.2), Doc("how far above the best loss is near, as a share")
    ] = 0.05
    wide: Annotated[
        bool, Assumption(f"there are units to spare; without it, there are {NARROW} of them")
    ] = True


def mislabelled(data: Data, seed: int) -> Data:
    """The same data, with a share of the labels to learn from drawn anew."""
    rng, labels = generator(seed, "labels"), data.train.targets
    is_wrong = torch.rand(len(labels), generator=rng) < WRONG
    drawn = torch.randint(int(labels.max()) + 1, labels.shape, generator=rng)
    return replace(data, train=replace(data.train, targets=labels.where(~is_wrong, drawn)))


def test_losses(given: DropoutRateConfig, kept: tuple[float, ...], seed: int) -> list[float]:
    """One try: the test loss of a network trained with each probability, on the same digits."""
    data = mislabelled(digits(given.examples, seed % 2**31), seed)
    hidden = 2 * (given.hidden if given.wide else NARROW,)
    return [
        held_out(
            "mlp",
            data,
            seed=seed,
            settings={"hidden": hidden, "dropout": 1 - p},
            train={**TRAINING, "batch_size": given.examples},
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
    half, all_kept = kept.index(0.5), kept.index(1.0)
    best = int(losses.log().mean(0).argmin())
    # Both losses of a ratio are of one try: the same digits, and the same wrong labels.
    above = estimate_ratio((losses[:, half] / losses[:, best]).tolist())
    without = estimate_ratio((losses[:, all_kept] / losses[:, half]).tolist())
    spread = [estimate(column.tolist()) for column in losses.T]
    return Verdict(
        findings=(
            at_most(
                f"test loss at p = 0.5 over that at the best, p = {kept[best]:g}",
                1 + given.tolerance,
                above.mean,
                n=above.n,
                interval=above.interval,
            ),
            at_least(
                "test loss without dropout over that at p = 0.5",
                HELPS,
                without.mean,
                n=without.n,
                interval=without.interval,
            ),
        ),
        chart=ClaimChart(
            x_label="share of hidden units kept while training, p",
            y_label="test loss",
            series=(
                predicted(
                    f"{given.tolerance:.0%} above the best",
                    kept,
                    [spread[best].mean * (1 + given.tolerance)] * len(kept),
                ),
                measured(
                    "networks on digits",
                    kept,
                    [found.mean for found in spread],
                    [found.interval for found in spread],
                ),
            ),
            explanation=f"Means over {tries} networks of two layers of {given.hidden} units that "
            f"learn from {given.examples} digits, a fifth of them with a wrong label, with 95 % "
            "intervals. Without dropout, at p = 1, they learn the wrong labels too."
            if given.wide
            else f"Layers of {NARROW} units have none to spare: the more they keep, the better.",
        ),
    )


DROPOUT_RATE = Claim(
    card=Card(
        sentence="In a network with units to spare that overfits, keeping half of the hidden units "
        "is within 5 % of the best test loss, and better than keeping all.",
        formula=r"h = \frac{m}{p} \odot \phi(Wx + b), \quad m_j \sim \mathrm{Bernoulli}(p),"
        r" \quad p = 0.5",
        symbols={
            "m": "which units are kept, drawn anew for each example",
            "p": "the probability to keep a unit; dropout's rate is 1 - p",
            r"\phi(Wx + b)": "the hidden layer",
        },
        source="Srivastava et al. (2014), JMLR 15, 1929-1958, section 7.3",
        misprint="Which p is best depends on the network and the data. Tried here with two hidden "
        "layers of 128 units and 150 small digits, a fifth of them with a wrong label.",
    ),
    topic="Regularisation",
    kind="empirical",
    settings=DropoutRateConfig,
    experiment=measure_dropout_rate,
)
