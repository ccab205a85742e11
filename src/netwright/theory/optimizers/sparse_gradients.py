r"""Rare features: AdaGrad steps far where gradients are seldom, SGD has one rate for all.

A weight learns only when its feature occurs. After t steps AdaGrad has divided a frequent feature's
rate by the root of a large sum of squares and a rare one's by that of a small sum, so that both can
come to their place; SGD's one rate is too long for the first or too short for the second.

Both are tuned: each is judged by the best of a grid of rates, SGD also with a rate that falls as
1 / sqrt t, as AdaGrad's do. The loss of a logistic regression is known exactly, and so is its least
value: with p the true probability and q the model's, the gap is the mean of KL(p | q).

Shapes: G rates, R data sets, B examples a batch, D features, T steps.
Source: Duchi, Hazan and Singer, "Adaptive Subgradient Methods for Online Learning and Stochastic
Optimization" (2011).
"""

import math
from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor
from torch.nn.functional import softplus

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import generator
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.optimizers.optimizer_path import optimizer_path
from netwright.theory.verdict import Verdict, at_most, estimate_ratio

DATA_SETS = {"quick": 16, "full": 40}
STEPS = {"quick": 400, "full": 2000}
FEATURES, BATCH, JUDGED = 40, 8, 500
RATES = 2.0 ** torch.arange(-4, 7)
# Name -> the optimizer, and the power of t that its rate is divided by.
RIVALS = {"SGD": ("sgd", 0.0), "SGD, rate / √t": ("sgd", 0.5), "AdaGrad": ("adagrad", 0.0)}


@dataclass(frozen=True, kw_only=True)
class SparseGradientsConfig(Config):
    """How often the features occur."""

    rarest: Annotated[
        float, Interval(ge=5e-4, le=1e-2), Doc("how often the rarest feature occurs; the last: 1")
    ] = 1e-3
    sparse: Annotated[
        bool, Assumption("most features are rare; without it, all occur equally often")
    ] = True

    @property
    def frequencies(self) -> Tensor:
        """From the rarest to 1, evenly in the logarithm, (D); or the mean of these for all."""
        frequencies = torch.logspace(math.log10(self.rarest), 0, FEATURES)
        return frequencies if self.sparse else frequencies.mean().expand(FEATURES)


@dataclass(frozen=True, kw_only=True)
class Stream:
    """Examples that come in batches, and what is known about them.

    Args:
        frequencies: how often each feature is 1 and not 0, (D).
        truth: the weights that the labels are drawn by, (R, D, 1).
        rng: where the draws come from.
    """

    frequencies: Tensor
    truth: Tensor
    rng: torch.Generator

    def inputs(self, count: int) -> Tensor:
        """So many examples of each data set, (R, count, D)."""
        shape = (len(self.truth), count, len(self.frequencies))
        return (torch.rand(shape, generator=self.rng) < self.frequencies).float()

    def batch(self) -> tuple[Tensor, Tensor]:
        """Inputs (R, B, D) and labels (R, B, 1)."""
        inputs = self.inputs(BATCH)
        return inputs, torch.bernoulli((inputs @ self.truth).sigmoid(), generator=self.rng)

    def gap(self, weights: Tensor, inputs: Tensor) -> Tensor:
        """How far the loss of the weights is above the least on these inputs (R, count, D).

        Weights (G, R, D, 1) -> gaps (G, R).
        """
        best, logits = inputs @ self.truth, inputs @ weights
        chance = best.sigmoid()
        return (softplus(logits) - softplus(best) - chance * (logits - best)).mean((-2, -1))


def trained(
    optimizer: str, power: float, batches: list[tuple[Tensor, Tensor]], start: Tensor
) -> Tensor:
    """The weights after all batches for every rate, (G, R, D, 1).

    Steps of both optimizers are proportional to the rate, so weights in units of the rate move as
    with the rate 1, and one path has all rates side by side.
    """
    rates, coming = RATES[:, None, None, None], iter(enumerate(batches, start=1))

    def gradient(scaled: Tensor) -> Tensor:
        step, (inputs, labels) = next(coming)
        residuals = (inputs @ (rates * scaled)).sigmoid() - labels
        return inputs.mT @ residuals / (BATCH * float(step) ** power)  # type: ignore[no-any-return]

    path = optimizer_path(optimizer, gradient, start, lr=1.0, steps=len(batches), only_last=True)
    return rates * path[-1]


def measure_sparse_gradients(given: SparseGradientsConfig, seed: int, effort: Effort) -> Verdict:
    """Logistic regressions by AdaGrad and SGD, the same batches, each at its best rate."""
    rng, count = generator(seed, "sparse-gradients"), DATA_SETS[effort]
    truth = 2 * torch.randn(count, FEATURES, 1, generator=rng)
    stream = Stream(frequencies=given.frequencies, truth=truth, rng=rng)
    batches = [stream.batch() for _ in range(STEPS[effort])]
    start, judged = torch.zeros(len(RATES), *truth.shape), stream.inputs(JUDGED)
    gaps = {
        name: stream.gap(trained(optimizer, power, batches, start), judged)  # (G, R)
        for name, (optimizer, power) in RIVALS.items()
    }
    best = {name: found.amin(0) for name, found in gaps.items()}  # (R)
    plain, falling, adagrad = best.values()
    lead = adagrad / torch.minimum(plain, falling)
    ratio = estimate_ratio(lead.tolist())
    tuned = {name: float(found.mean(1).min()) for name, found in gaps.items()}
    return Verdict(
        findings=(
            at_most(
                "AdaGrad's gap to the least loss over the better SGD's, geometric mean",
                1,
                ratio.mean,
                n=ratio.n,
                interval=ratio.interval,
            ),
            at_most(
                "data sets on which AdaGrad's gap is above, share",
                0.5,
                float((lead > 1).double().mean()),
                n=count,
            ),
        ),
        chart=ClaimChart(
            x_label="learning rate",
            y_label=f"gap to the least loss after {STEPS[effort]} steps",
            series=(
                predicted("the best of SGD", [1.0], [min(list(tuned.values())[:2])]),
                *(
                    measured(name, RATES.tolist(), found.mean(1).tolist())
                    for name, found in gaps.items()
                ),
            ),
            explanation=f"Means over {count} data sets. " + _told(given),
            log="xy",
        ),
    )


def _told(given: SparseGradientsConfig) -> str:
    if not given.sparse:
        return (
            "Where all features occur equally often one rate serves all of them, and AdaGrad's "
            "best rate does not come below the best of SGD."
        )
    return (
        f"Features occur in 1 of {1 / given.rarest:,.0f} examples up to all of them: at its best "
        "rate AdaGrad comes below the best of SGD, with a constant rate or a falling one."
    )


SPARSE_GRADIENTS = Claim(
    card=Card(
        sentence="Where most features are rare, AdaGrad comes closer to the least loss than SGD in "
        "as many steps, each at its best rate.",
        formula=r"w_i \leftarrow w_i - \eta \frac{g_i}{\sqrt{\sum_{k \leq t} g_{k,i}^2}},"
        r" \quad \min_\eta h(w_{\mathrm{AdaGrad}}) < \min_\eta h(w_{\mathrm{SGD}})",
        symbols={
            "g_i": "the gradient for weight i, 0 where its feature does not occur",
            r"\eta": "the learning rate",
            "h": "the loss",
        },
        source="Duchi, Hazan and Singer (2011), JMLR 12, 2121-2159",
    ),
    topic="Optimizers",
    kind="empirical",
    settings=SparseGradientsConfig,
    experiment=measure_sparse_gradients,
)
