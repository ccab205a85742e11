r"""The noise of mini-batches: how large it is, what it spoils, and how to remove it.

The mean gradient g of B examples drawn independently has E g = grad h and, with s^2 the mean of
|grad h_i - grad h|^2, the variance s^2 / B. With a constant step eta this noise keeps SGD, to first
order, eta s^2 / 4 above the least loss. SVRG subtracts what the noise was at a snapshot w~,

    g = grad h_i(w) - grad h_i(w~) + grad h(w~),

which is as right on average, and whose noise vanishes as w and w~ meet at the minimum.

Shapes: R runs, N examples, D weights, B examples a batch, T steps.
Source: Robbins and Monro (1951); Johnson and Zhang, "Accelerating Stochastic Gradient Descent using
Predictive Variance Reduction" (2013).
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import numpy as np
import torch
from annotated_types import Interval
from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import generator
from netwright.inspection.training.claim_chart import ClaimChart, line, measured, predicted
from netwright.optimizers import svrg as svrg_optimizer
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.optimizers.optimizer_path import optimizer_path
from netwright.theory.verdict import Verdict, at_least, at_most, equals, estimate

DRAWS = {"quick": 4000, "full": 40_000}
RUNS = {"quick": 10, "full": 50}
EPOCHS = {"quick": 30, "full": 60}
EXAMPLES, WEIGHTS = 100, 10


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

    batch_size: Annotated[int, Interval(ge=1, le=100), Doc("B, examples a batch")] = 8
    examples_differ: Annotated[
        bool, Assumption("the examples differ; without it, each is a copy of the first")
    ] = True


@dataclass(frozen=True, kw_only=True)
class SvrgConfig(Config):
    """The step, and what it is spoilt or helped by."""

    lr: Annotated[float, Interval(ge=0.01, le=0.03), Doc("the step size, constant")] = 0.01
    fresh_snapshots: Annotated[
        bool, Assumption("the snapshot is renewed each epoch; without it, it is the first place")
    ] = True
    examples_disagree: Annotated[
        bool, Assumption("no weights fit all examples, so that the noise lasts")
    ] = True


@dataclass(frozen=True, kw_only=True)
class Regressions:
    """Least squares, R of them side by side: inputs (R, N, D) and targets (R, N)."""

    inputs: Tensor
    targets: Tensor

    def gradient(self, weights: Tensor, of: slice = slice(None)) -> Tensor:
        """The mean gradient of these examples at the weights, (..., R, D) -> (..., R, D)."""
        inputs, targets = self.inputs[:, of], self.targets[:, of]
        residuals = (inputs @ weights[..., None])[..., 0] - targets
        return (residuals[..., None, :] @ inputs)[..., 0, :] / targets.shape[1]

    def best(self) -> Tensor:
        """The weights of the least loss, (R, D)."""
        return torch.linalg.lstsq(self.inputs, self.targets[..., None]).solution[..., 0]  # type: ignore[no-any-return]

    def gaps(self, weights: Tensor) -> Tensor:
        """How far half the mean squared error is above the least, (T, R, D) -> (T, R)."""
        away = torch.einsum("rnd,trd->trn", self.inputs, weights - self.best())
        return away.square().mean(-1) / 2

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
    batches = 6**3 if given.independent else math.perm(6, 3)
    full, sizes, spreads, doubts = gradients.mean(0), (1, 2, 4, 8, 16, 32), [], []
    for size in sizes:
        chosen = torch.multinomial(
            chances.expand(draws, -1), size, replacement=given.independent, generator=rng
        )
        distances = (gradients[chosen].mean(1) - full).square().sum(-1)
        spreads.append(float(distances.mean()))
        doubts.append(float(distances.std()) / math.sqrt(draws))
    slope = float(np.polyfit(np.log(sizes), np.log(spreads), 1)[0])
    bias = float((few - gradients[:6].mean(0)).norm())
    single = float((gradients - full).square().sum(-1).mean())
    share = float(np.mean(np.multiply(sizes, spreads))) / single
    doubt = float(np.linalg.norm(np.multiply(sizes, doubts))) / len(sizes) / single
    return Verdict(
        findings=(
            at_most("bias of the mean over all batches of 3 from 6", 1e-12, bias, n=batches),
            equals("power of B in the variance", -1, slope, within=0.05, n=draws * len(sizes)),
            equals(
                "B times variance over s², mean of all B",
                1,
                share,
                within=4 * doubt,
                n=draws * len(sizes),
            ),
        ),
        chart=ClaimChart(
            x_label="batch size B",
            y_label="mean squared distance to the full gradient",
            series=(
                predicted("s² / B", sizes, (single / size for size in sizes)),
                measured("mini-batches", sizes, spreads),
            ),
            explanation=_variance_told(given),
            log="xy",
        ),
    )


def _variance_told(given: VarianceConfig) -> str:
    if not given.uniform:
        return "Draws that prefer long gradients have another mean than the full gradient."
    if not given.independent:
        return "A batch without repeats knows more: its variance is s² / B · (N - B) / (N - 1)."
    return "Twice the batch has half the variance, and so 0.7 of the noise."


def turns(values: Tensor) -> Tensor:
    """How often a curve changes between falling and rising, (T, R) -> (R)."""
    change = torch.nn.functional.hardshrink(values.diff(dim=0), 1e-12)  # less is rounding
    return (change[1:] * change[:-1] < 0).sum(0)


def measure_smoother(given: SmootherConfig, seed: int, effort: Effort) -> Verdict:
    """The loss of all examples along a run with batches and one without: how often it turns."""
    rng, steps = generator(seed, "minibatch-smoother"), 100
    task = random_regressions(RUNS[effort], rng)
    if not given.examples_differ:
        task = task.drawn(1, rng).drawn(EXAMPLES, rng)
    start = torch.zeros(RUNS[effort], WEIGHTS, dtype=torch.float64)

    def gaps(gradient: Callable[[Tensor], Tensor]) -> Tensor:
        return task.gaps(optimizer_path("sgd", gradient, start, lr=0.05, steps=steps))

    whole = gaps(task.gradient)
    batches = gaps(lambda w: task.drawn(given.batch_size, rng).gradient(w))
    more = estimate((turns(batches) - turns(whole)).tolist())
    what, times = "turns of the loss, batches minus whole set", range(steps + 1)
    return Verdict(
        findings=(at_most(what, 0, more.mean, n=more.n, interval=more.interval),),
        chart=ClaimChart(
            x_label="steps",
            y_label="loss on all examples, above the least",
            series=(
                predicted("whole set", times, whole[:, 0].tolist()),
                line(f"batches of {given.batch_size}", times, batches[:, 0].tolist()),
            ),
            explanation="With batches the loss goes up and down. With the whole set it only falls, "
            f"but each step costs {EXAMPLES} gradients in place of {given.batch_size}."
            if given.examples_differ
            else "Where all examples are alike, every batch has the gradient of the whole set.",
            log="y",
        ),
    )


def measure_svrg(given: SvrgConfig, seed: int, effort: Effort) -> Verdict:
    """Least squares, one example a step: the gap of SGD and of SVRG after each epoch."""
    rng, runs = generator(seed, "svrg-noise-floor"), RUNS[effort]
    task = random_regressions(runs, rng, noise=1.0 if given.examples_disagree else 0.0)
    period = EXAMPLES if given.fresh_snapshots else EXAMPLES * EPOCHS[effort]
    plain = torch.zeros(runs, WEIGHTS, dtype=torch.float64)
    reduced = nn.Parameter(plain)
    optimizer, gaps = svrg_optimizer.SVRG([reduced], lr=given.lr, period=period), []

    def leave_gradient(task: Regressions, of: slice = slice(None)) -> None:
        reduced.grad = task.gradient(reduced.detach(), of)

    for _ in range(EPOCHS[effort]):
        drawn = task.drawn(EXAMPLES, rng)
        for one in (slice(t, t + 1) for t in range(EXAMPLES)):
            plain = plain - given.lr * drawn.gradient(plain, one)
            optimizer.step(partial(leave_gradient, drawn, one), partial(leave_gradient, task))
        gaps.append(task.gaps(torch.stack([plain, reduced.detach()])))
    sgd, svrg = torch.stack(gaps, 1)  # (epochs, R) each
    epochs = range(1, len(gaps) + 1)
    noise = ((task.inputs @ task.best()[..., None])[..., 0] - task.targets).square()
    floor = given.lr / 4 * float((noise * task.inputs.square().sum(-1)).mean())
    return Verdict(
        findings=(
            at_most("gap of SVRG, the largest", 1e-10, float(svrg[-1].max()), n=runs),
            at_least("gap of SGD, the smallest", 1e-4, float(sgd[-1].min()), n=runs),
        ),
        chart=ClaimChart(
            x_label="epochs",
            y_label="gap to the least loss, median of the runs",
            series=(
                predicted("noise of SGD, ηs² / 4", epochs, [floor] * len(epochs)),
                measured("SGD", epochs, sgd.median(1).values.tolist()),
                measured("SVRG", epochs, svrg.median(1).values.tolist()),
            ),
            explanation=_svrg_told(given),
            log="y",
        ),
    )


def _svrg_told(given: SvrgConfig) -> str:
    if not given.examples_disagree:
        return "Weights that fit all examples leave no noise at the minimum: SGD falls there too."
    if not given.fresh_snapshots:
        return "What the noise was at a place long left does not cancel the noise: both stall."
    return (
        "With the same constant step SGD stays at the height of its noise, while SVRG falls by a "
        "factor each epoch."
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
        formula=r"\mathrm{turns}(h_{\mathrm{batches}}) \leq \mathrm{turns}(h_{\mathrm{all}})",
        symbols={r"\mathrm{turns}": "how often the loss changes between falling and rising"},
        source="Bottou, Curtis and Nocedal (2018), arXiv 1606.04838, section 4, has the contrary",
        misprint="Mini-batches are noisier, not smoother; they win because a step costs less.",
    ),
    topic="Gradient descent",
    kind="false",
    settings=SmootherConfig,
    experiment=measure_smoother,
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
