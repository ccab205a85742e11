r"""The noise of mini-batches: how large it is, what it spoils, what it finds, and how to remove it.

A batch of B examples drawn independently gives g = (1/B) sum_j grad h_{i_j}, with

    E g = grad h,    E |g - grad h|^2 = s^2 / B,    s^2 the mean of |grad h_i - grad h|^2.

With a constant step this noise keeps stochastic gradient descent at a distance from the minimum.
SVRG subtracts what the noise was at a snapshot w~ whose full gradient is known,

    g = grad h_i(w) - grad h_i(w~) + grad h(w~),

which is as right on average, and whose noise vanishes as w and w~ meet at the minimum.

Shapes: R runs, N examples, D weights, B examples a batch, T steps.
Source: Robbins and Monro (1951); Hochreiter and Schmidhuber, "Flat Minima" (1997), for wide minima;
Johnson and Zhang, "Accelerating Stochastic Gradient Descent using Predictive Variance Reduction"
(2013).
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import torch
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Positive, Size
from netwright.core.seeding import generator
from netwright.inspection.claim_chart import ClaimChart, line, measured, predicted
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.descent_rates import optimizer_path
from netwright.theory.verdict import (
    Verdict,
    at_least,
    at_most,
    equals,
    estimate,
    estimate_share,
    no_violations,
)

DRAWS = {"quick": 4000, "full": 40_000}
RUNS = {"quick": 10, "full": 50}
WALKERS = {"quick": 500, "full": 5000}
EPOCHS = {"quick": 40, "full": 60}
EXAMPLES, WEIGHTS = 100, 5
WIDE_RATE, WIDE_NOISE = 0.05, 4.0  # step and spread of the gradient between two wells


@dataclass(frozen=True, kw_only=True)
class VarianceConfig(Config):
    """How the examples of a batch are drawn."""

    uniform: Annotated[bool, Assumption("every example is drawn as often as any other")] = True
    independent: Annotated[
        bool, Assumption("each draw is from all examples; without it, none comes twice in a batch")
    ] = True


@dataclass(frozen=True, kw_only=True)
class SmootherConfig(Config):
    """The batches that are compared with the whole set."""

    batch_size: Annotated[Size, Doc("B, examples a batch")] = 8
    examples_differ: Annotated[
        bool, Assumption("the examples differ; without it, each is a copy of the first")
    ] = True


@dataclass(frozen=True, kw_only=True)
class WideMinimaConfig(Config):
    """Two wells, and the noise of the gradient."""

    sharpness: Annotated[Positive, Doc("curvature of the sharp well; the wide one has 1")] = 25.0
    steps: Annotated[Size, Doc("steps, all from the bottom of the sharp well")] = 3000
    noise: Annotated[bool, Assumption("the gradient is noisy, with a spread of 4")] = True
    one_well_wider: Annotated[
        bool, Assumption("the wells differ in width; without it, both have the curvature 1")
    ] = True


@dataclass(frozen=True, kw_only=True)
class SvrgConfig(Config):
    """The step, and what it is spoilt or helped by."""

    lr: Annotated[Positive, Doc("the step size, constant")] = 0.01
    fresh_snapshots: Annotated[
        bool, Assumption("the snapshot is renewed each epoch; without it, it is the first place")
    ] = True
    examples_disagree: Annotated[
        bool, Assumption("no weights fit all examples, so that the noise lasts")
    ] = True


@dataclass(frozen=True, kw_only=True)
class Regressions:
    """Least squares on random examples, R of them side by side: inputs (R, N, D), targets (R, N)."""

    inputs: Tensor
    targets: Tensor

    def gradient(self, weights: Tensor, of: slice = slice(None)) -> Tensor:
        """The mean gradient of these examples at the weights, (R, D) -> (R, D)."""
        inputs, targets = self.inputs[:, of], self.targets[:, of]
        residuals = (inputs @ weights[..., None])[..., 0] - targets
        return (residuals[:, None] @ inputs)[:, 0] / residuals.shape[1]

    def losses(self, weights: Tensor) -> Tensor:
        """Half the mean squared error, (T, R, D) -> (T, R)."""
        predictions = torch.einsum("rnd,trd->trn", self.inputs, weights)
        return (predictions - self.targets).square().mean(-1) / 2

    def drawn(self, count: int, rng: torch.Generator) -> "Regressions":
        """So many examples of each, drawn independently."""
        chosen = torch.randint(self.targets.shape[1], (len(self.targets), count), generator=rng)
        return Regressions(
            inputs=self.inputs.take_along_dim(chosen[..., None], 1),
            targets=self.targets.take_along_dim(chosen, 1),
        )


def random_regressions(runs: int, rng: torch.Generator, noise: float = 1.0) -> Regressions:
    """Normal inputs, and targets from normal weights with normal noise."""
    inputs = torch.randn(runs, EXAMPLES, WEIGHTS, generator=rng, dtype=torch.float64)
    truth = torch.randn(runs, WEIGHTS, 1, generator=rng, dtype=torch.float64)
    spread = torch.randn(runs, EXAMPLES, generator=rng, dtype=torch.float64)
    return Regressions(inputs=inputs, targets=(inputs @ truth)[..., 0] + noise * spread)


def mean_over_batches(values: Tensor, size: int, chances: Tensor, *, repeat: bool) -> Tensor:
    """The mean of the means of all batches, each weighed by its chance, (N, D) -> (D)."""
    of = range(len(values))
    batches = itertools.product(of, repeat=size) if repeat else itertools.permutations(of, size)
    chosen = torch.tensor(list(batches))  # (batches, B)
    weights = chances[chosen].prod(-1)
    return weights @ values[chosen].mean(1) / weights.sum()


def measure_variance(given: VarianceConfig, seed: int, effort: Effort) -> Verdict:
    """All batches of six examples for the mean, many batches of all examples for the spread."""
    rng, draws = generator(seed, "minibatch-variance"), DRAWS[effort]
    task = random_regressions(1, rng)
    gradients = -task.targets[0, :, None] * task.inputs[0]  # of each example at zero, (N, D)
    chances = gradients.norm(dim=-1) ** (0 if given.uniform else 1)
    few = mean_over_batches(gradients[:6], 3, chances[:6], repeat=given.independent)
    full, sizes, spreads = gradients.mean(0), [1, 2, 4, 8, 16, 32], []
    for size in sizes:
        chosen = torch.multinomial(
            chances.expand(draws, -1), size, replacement=given.independent, generator=rng
        )
        spreads.append(float((gradients[chosen].mean(1) - full).square().sum(-1).mean()))
    slope = float(np.polyfit(np.log(sizes), np.log(spreads), 1)[0])
    bias = float((few - gradients[:6].mean(0)).norm())
    return Verdict(
        findings=(
            at_most("bias of the mean over all batches of 3 from 6", 1e-12, bias, n=6**3),
            equals("power of B in the variance", -1, slope, within=0.05, n=draws * len(sizes)),
        ),
        chart=ClaimChart(
            x_label="batch size B",
            y_label="mean squared distance to the full gradient",
            series=(
                predicted("s² / B", sizes, [_scatter(gradients) / size for size in sizes]),
                measured("mini-batches", sizes, spreads),
            ),
            explanation="Twice the batch has half the variance, and so 0.7 of the noise.",
            log="xy",
        ),
    )


def _scatter(gradients: Tensor) -> float:
    return float((gradients - gradients.mean(0)).square().sum(-1).mean())


def turns(losses: Tensor) -> Tensor:
    """How often a loss changes between falling and rising, (T, R) -> (R)."""
    change = losses.diff(dim=0)
    return (change[1:] * change[:-1] < 0).sum(0)


def measure_smoother(given: SmootherConfig, seed: int, effort: Effort) -> Verdict:
    """The loss of all examples along a run with batches and one without: how often it turns."""
    rng, steps = generator(seed, "minibatch-smoother"), 100
    task = random_regressions(RUNS[effort], rng)
    if not given.examples_differ:
        task = Regressions(
            inputs=task.inputs[:, :1].expand_as(task.inputs),
            targets=task.targets[:, :1].expand_as(task.targets),
        )
    start = torch.zeros(RUNS[effort], WEIGHTS, dtype=torch.float64)

    def losses(gradient: Callable[[Tensor], Tensor]) -> Tensor:
        return task.losses(optimizer_path("sgd", gradient, start, lr=0.05, steps=steps))

    whole = losses(task.gradient)
    batches = losses(lambda w: task.drawn(given.batch_size, rng).gradient(w))
    extra = estimate((turns(batches) - turns(whole)).tolist())
    times = range(steps + 1)
    return Verdict(
        findings=(
            at_most(
                f"turns of the loss in {steps} steps, batches minus whole set",
                0,
                extra.mean,
                n=extra.n,
                interval=extra.interval,
            ),
        ),
        chart=ClaimChart(
            x_label="steps",
            y_label="loss on all examples",
            series=(
                predicted("whole set", times, whole[:, 0].tolist()),
                line(f"batches of {given.batch_size}", times, batches[:, 0].tolist()),
            ),
            explanation="With batches the loss goes up and down. With the whole set it only falls, "
            f"but each step costs {EXAMPLES} gradients in place of {given.batch_size}.",
        ),
    )


def wells(x: Tensor, sharpness: float) -> tuple[Tensor, Tensor]:
    """The slope of min((x + 2)^2, sharpness (x - 2)^2) / 2, and whether x is in the wide well."""
    wide = (x + 2).square() < sharpness * (x - 2).square()
    return torch.where(wide, x + 2, sharpness * (x - 2)), wide


def expected_shares(sharpness: float, steps: int) -> list[float]:
    """The chance to be in the wide well after each step, by the Markov chain on a fine grid."""
    grid = torch.linspace(-7, 5, 241, dtype=torch.float64)
    slope, wide = wells(grid, sharpness)
    away = (grid - (grid - WIDE_RATE * slope)[:, None]) / (WIDE_RATE * WIDE_NOISE)
    moves = torch.softmax(-away.square() / 2, dim=-1)  # from row to column
    chance = ((grid - 2).abs() < 0.5).double()
    chance, shares = chance / chance.sum(), [0.0]
    for _ in range(steps):
        chance = chance @ moves
        shares.append(float(chance[wide].sum()))
    return shares


def measure_wide_minima(given: WideMinimaConfig, seed: int, effort: Effort) -> Verdict:
    """From the sharp of two wells, with noise and without: who ends in the wide one."""
    rng, n = generator(seed, "wide-minima"), WALKERS[effort]
    sharpness = given.sharpness if given.one_well_wider else 1.0
    noisy = calm = 1.5 + torch.rand(n, generator=rng, dtype=torch.float64)
    spread = WIDE_NOISE if given.noise else 0.0
    counts = [0]
    for _ in range(given.steps):
        noise = spread * torch.randn(n, generator=rng, dtype=torch.float64)
        noisy = noisy - WIDE_RATE * (wells(noisy, sharpness)[0] + noise)
        calm = calm - WIDE_RATE * wells(calm, sharpness)[0]
        counts.append(int(wells(noisy, sharpness)[1].sum()))
    expected = expected_shares(sharpness, given.steps)
    last, left = estimate_share(counts[-1], n), int(wells(calm, sharpness)[1].sum())
    within = 4 * math.sqrt(expected[-1] * (1 - expected[-1]) / n)
    shown = range(0, given.steps + 1, max(1, given.steps // 15))
    shares = [estimate_share(counts[step], n) for step in shown]
    return Verdict(
        findings=(
            at_least(
                "share with noise that ends in the wide well",
                0.7,
                last.mean,
                n=n,
                interval=last.interval,
            ),
            equals(
                "the same beside its Markov chain",
                expected[-1],
                last.mean,
                within=within,
                n=n,
                interval=last.interval,
            ),
            no_violations("runs without noise that leave the sharp well", left, n=n),
        ),
        chart=ClaimChart(
            x_label="steps",
            y_label="share of runs in the wide well",
            series=(
                predicted("Markov chain", shown, [expected[step] for step in shown]),
                measured(
                    "noisy descent",
                    shown,
                    [share.mean for share in shares],
                    [share.interval for share in shares],
                ),
            ),
            explanation="All start in the sharp well. Noise throws them out of it more often than "
            "out of the wide one, so most end there; without noise none moves.",
        ),
    )


def measure_svrg(given: SvrgConfig, seed: int, effort: Effort) -> Verdict:
    """Least squares, one example a step: the gap of SGD and of SVRG after each epoch."""
    rng, runs = generator(seed, "svrg-noise-floor"), RUNS[effort]
    task = random_regressions(runs, rng, noise=1.0 if given.examples_disagree else 0.0)
    best = torch.linalg.lstsq(task.inputs, task.targets[..., None]).solution[..., 0]
    plain = reduced = snapshot = torch.zeros_like(best)
    gaps = []
    for _ in range(EPOCHS[effort]):
        drawn, full = task.drawn(EXAMPLES, rng), task.gradient(snapshot)
        for t in range(EXAMPLES):
            one = slice(t, t + 1)
            plain = plain - given.lr * drawn.gradient(plain, one)
            noise = drawn.gradient(snapshot, one) - full
            reduced = reduced - given.lr * (drawn.gradient(reduced, one) - noise)
        snapshot = reduced if given.fresh_snapshots else snapshot
        away = torch.stack([plain, reduced]) - best
        gaps.append(torch.einsum("rnd,krd->krn", task.inputs, away).square().mean(-1) / 2)
    epochs, (sgd, svrg) = range(1, len(gaps) + 1), torch.stack(gaps, 1)  # (epochs, R) each
    return Verdict(
        findings=(
            at_most(
                "gap of SVRG to the least loss, the largest", 1e-10, float(svrg[-1].max()), n=runs
            ),
            at_least(
                "gap of SGD to the least loss, the smallest", 1e-4, float(sgd[-1].min()), n=runs
            ),
        ),
        chart=ClaimChart(
            x_label="epochs",
            y_label="gap to the least loss",
            series=(
                measured("SGD", epochs, sgd.median(1).values.tolist()),
                measured("SVRG", epochs, svrg.median(1).values.tolist()),
            ),
            explanation="With the same constant step SGD stays at the height of its noise, while "
            "SVRG falls by a factor each epoch.",
            log="y",
        ),
    )


_GRADIENT = {"g": "the gradient of a batch, (D)", "h": "the mean of the losses h_i of N examples"}
VARIANCE = Claim(
    card=Card(
        sentence="The gradient of a mini-batch is right on average, and its variance falls as one "
        "over the batch size.",
        formula=r"\mathbb{E}\, g = \nabla h, \quad \mathbb{E}\,\|g - \nabla h\|^2 = \frac{s^2}{B}",
        symbols={**_GRADIENT, "s^2": "the variance of a single example", "B": "the batch size"},
        source="Robbins and Monro (1951), Annals of Mathematical Statistics 22, 400-407",
    ),
    topic="Gradient descent",
    kind="theorem",
    settings=VarianceConfig,
    experiment=measure_variance,
)
SMOOTHER = Claim(
    card=Card(
        sentence="Mini-batches make the loss fall more smoothly than the whole set does.",
        formula=r"\#\{k : \Delta_k \Delta_{k+1} < 0\}_{\mathrm{batch}} \leq"
        r" \#\{k : \Delta_k \Delta_{k+1} < 0\}_{\mathrm{all}}",
        symbols={r"\Delta_k": "the change of the loss on all examples in step k"},
        source="Bottou, Curtis and Nocedal (2018), arXiv 1606.04838, section 4, has the contrary",
        misprint="Mini-batches are noisier, not smoother; they win because a step costs less.",
    ),
    topic="Gradient descent",
    kind="false",
    settings=SmootherConfig,
    experiment=measure_smoother,
)
WIDE_MINIMA = Claim(
    card=Card(
        sentence="Noisy gradients leave sharp minima for wide ones; exact gradients stay.",
        formula=r"h(x) = \tfrac12\min\left((x+2)^2,\; 25\,(x-2)^2\right)",
        symbols={"h": "a loss with a wide well at -2 and a sharp one at 2"},
        source="Hochreiter and Schmidhuber (1997), Neural Computation 9(1), 1-42",
    ),
    topic="Gradient descent",
    kind="empirical",
    settings=WideMinimaConfig,
    experiment=measure_wide_minima,
)
SVRG = Claim(
    card=Card(
        sentence="With a constant step SVRG reaches the minimum where SGD stalls at its noise.",
        formula=r"g = \nabla h_i(w) - \nabla h_i(\tilde w) + \nabla h(\tilde w)",
        symbols={**_GRADIENT, r"\tilde w": "the snapshot, the weights at the start of the epoch"},
        source="Johnson and Zhang (2013), NeurIPS 26, 315-323",
    ),
    topic="Gradient descent",
    kind="theorem",
    settings=SvrgConfig,
    experiment=measure_svrg,
)
