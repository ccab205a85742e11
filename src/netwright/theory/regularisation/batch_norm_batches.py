r"""Batch normalisation and the size of a batch: the mean of few examples is mostly noise.

A batch of B independent examples has the mean of a unit right up to sigma / sqrt B. With two
examples a batch each unit is left with little but the sign of their difference, while the
network that is tested uses means over many batches: what was learned does not fit them.

Compared are networks with and without it, for one size of a batch and equally many steps: those
with larger batches see more examples, and are better for that alone.

Shapes: B examples a batch, D units, T steps.
Source: Ioffe and Szegedy, "Batch Normalization" (2015); Wu and He, "Group Normalization" (2018),
figure 1, for small batches.
"""

# ruff: noqa: RUF001 - the Greek letters are meant

import math
from dataclasses import dataclass
from typing import Annotated

import torch
from torch import nn

from netwright.core.card import Card
from netwright.core.config import Config
from netwright.core.seeding import derive_seed, generator
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.held_out import digits, held_out
from netwright.theory.verdict import (
    ClaimFinding,
    Verdict,
    at_least,
    at_most,
    equals,
    estimate_ratio,
)

SIZES = (2, 8, 64, 512)
FEW, MANY = 2, 64  # examples of the batches that networks learn from
UNITS = {"quick": 2000, "full": 50_000}
TRIES = {"quick": 3, "full": 10}
STEPS = {"quick": 120, "full": 200}
SPREAD = 3.0  # sigma of a unit


@dataclass(frozen=True, kw_only=True)
class BatchNormBatchesConfig(Config):
    """How the examples of a batch are drawn."""

    independent: Annotated[
        bool,
        Assumption(
            "the examples of a batch are independent; without it, each comes twice, and means are "
            "off by √2 more"
        ),
    ] = True


def spread_of_means(size: int, units: int, rng: torch.Generator, *, independent: bool) -> float:
    """The spread over units of the mean that batch normalisation takes from one batch, in sigma."""
    rows = size if independent else size // 2
    batch = SPREAD * torch.randn(rows, units, generator=rng)
    normalise = nn.BatchNorm1d(units, momentum=1.0)  # its running mean is that of the last batch
    normalise(batch if independent else batch.repeat(2, 1))
    means = normalise.get_buffer("running_mean")
    return float(means.square().mean().sqrt()) / SPREAD


def test_loss(size: int, seed: int, effort: Effort, *, batch_norm: bool) -> float:
    """Of a network that learns digits in batches of this size, equally many steps for all."""
    settings = {"hidden": (32, 32), "dropout": 0.0, "batch_norm": batch_norm}
    steps = STEPS[effort]
    train = {"lr": 5e-3, "batch_size": size, "epochs": steps, "max_steps": steps}
    data = digits(max(SIZES), seed % 2**31)
    return held_out("mlp", data, seed=seed, settings=settings, train=train).loss


def measure_batch_norm_batches(given: BatchNormBatchesConfig, seed: int, effort: Effort) -> Verdict:
    """The spread of batch means for each size, and the test loss of networks for two of them."""
    rng, units = generator(seed, "batch-norm-batches"), UNITS[effort]
    spreads = [spread_of_means(B, units, rng, independent=given.independent) for B in SIZES]
    tries = [derive_seed(seed, "batch-norm-batches", i) for i in range(TRIES[effort])]
    normed, plain = (
        {B: [test_loss(B, one, effort, batch_norm=on) for one in tries] for B in (FEW, MANY)}
        for on in (True, False)
    )
    few, many = (
        estimate_ratio([ours / theirs for ours, theirs in zip(normed[B], plain[B], strict=True)])
        for B in (FEW, MANY)
    )
    return Verdict(
        findings=(
            *_spread_findings(spreads, units),
            at_least(f"test loss with batch norm over without, B = {FEW}", 1, **few.as_measured()),
            at_most(f"test loss with batch norm over without, B = {MANY}", 1, **many.as_measured()),
        ),
        chart=ClaimChart(
            x_label="examples a batch, B",
            y_label="spread of the batch's mean, in σ",
            series=(
                predicted("1 / √B", SIZES, [B**-0.5 for B in SIZES]),
                measured("batches of normal numbers", SIZES, spreads),
            ),
            explanation="The mean of two examples says next to nothing. After "
            f"{STEPS[effort]} steps on digits the test loss with batch norm is {few.mean:.2f} "
            f"times that without where B = {FEW}, and {many.mean:.2f} times where B = {MANY}."
            if given.independent
            else "Where each example comes twice, a batch has half as many to average over, and "
            "its mean is off by √2 more than the formula says.",
            log="xy",
        ),
    )


def _spread_findings(spreads: list[float], units: int) -> list[ClaimFinding]:
    """A spread over n units is known up to a share of 1 / sqrt(2 n); four of them are allowed."""
    return [
        equals(
            f"spread of the mean of {size} examples over σ/√{size}",
            1,
            spread * math.sqrt(size),
            within=4 / math.sqrt(2 * units),
            n=units,
        )
        for size, spread in zip(SIZES, spreads, strict=True)
    ]


BATCH_NORM_BATCHES = Claim(
    card=Card(
        sentence="Batch normalisation helps with batches of 64, and harms with batches of two: "
        "their means are off by σ/√B.",
        formula=r"\hat\mu_B = \frac{1}{B}\sum_{i \in \mathrm{batch}} x_i, \quad"
        r" \mathrm{std}(\hat\mu_B) = \frac{\sigma}{\sqrt{B}}",
        symbols={
            r"\hat\mu_B": "the mean of a unit over a batch",
            r"\sigma": "the spread of the unit over all examples",
            "B": "examples a batch",
        },
        source="Ioffe and Szegedy (2015), arXiv 1502.03167; Wu and He (2018), arXiv 1803.08494",
        misprint="Often said to be best with 50 to 100 examples a batch. What is shown is that few "
        "examples harm, not that more than 100 do.",
    ),
    topic="Regularisation",
    kind="empirical",
    settings=BatchNormBatchesConfig,
    experiment=measure_batch_norm_batches,
)
