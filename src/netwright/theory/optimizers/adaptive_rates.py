r"""Adaptive steps under a steady gradient: Adam's first one, and how AdaGrad's fade.

Adam divides a running mean m of the gradient by the root of one of its square, v. Both start at 0:
after one step m = (1 - b1) g and v = (1 - b2) g^2. Uncorrected, the first step would be

    lr (1 - b1) / sqrt(1 - b2) = 3.162 lr    for b1 = 0.9, b2 = 0.999,

while the corrected means are g and g^2, and the step is lr whatever the gradient.

AdaGrad divides by the root of the sum of all squares, t g^2 after t equal gradients, so its step is
lr / sqrt(t); RMSProp divides by the root of their running mean, which stays g^2.

Shapes: G gradients, T steps.
Source: Kingma and Ba, "Adam" (2015); Duchi, Hazan and Singer, "Adaptive Subgradient Methods"
(2011); Tieleman and Hinton, lecture 6.5 (2012).
"""

from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Fraction
from netwright.core.seeding import generator
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.optimizer import build_optimizer
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.optimizers.optimizer_path import optimizer_path
from netwright.theory.verdict import ClaimFinding, Verdict, equals, no_violations

GRADIENTS = {"quick": 50, "full": 1000}
STEPS = {"quick": 1000, "full": 10_000}
EPS = 1e-8  # Adam's own
RATE = 0.01


@dataclass(frozen=True, kw_only=True)
class AdamFirstStepConfig(Config):
    """How long Adam remembers, and what it starts from."""

    beta1: Annotated[Fraction, Doc("b1, how long the mean of gradients remembers")] = 0.9
    beta2: Annotated[
        float, Interval(ge=0, le=0.99999), Doc("b2, how long the mean of squares remembers")
    ] = 0.999
    from_zero: Annotated[
        bool, Assumption("both means start at 0; without it, at g and g squared")
    ] = True
    large_gradients: Annotated[
        bool, Assumption("the gradients are far above eps, so that eps does not count")
    ] = True


@dataclass(frozen=True, kw_only=True)
class AdagradDecayConfig(Config):
    """The gradients that are seen."""

    constant_gradient: Annotated[
        bool, Assumption("every gradient is the same; without it, they fall as 1/t")
    ] = True


def first_steps(
    gradient: Tensor, betas: tuple[float, float], *, from_zero: bool
) -> tuple[Tensor, Tensor]:
    """Adam's first step over lr by its running means as they are, and the one that it takes."""
    place = nn.Parameter(torch.zeros_like(gradient))
    adam = build_optimizer(
        OPTIMIZERS.load("adam"),
        nn.ParameterList([place]),
        lr=RATE,
        options={"betas": betas, "eps": EPS},
    )
    if not from_zero:
        means = {"exp_avg": gradient.clone(), "exp_avg_sq": gradient.square()}
        adam.state[place] = {"step": torch.tensor(0.0), **means}
    place.grad = gradient
    adam.step()
    after = adam.state[place]
    return after["exp_avg"] / (after["exp_avg_sq"].sqrt() + EPS), -place.detach() / RATE


def measure_adam_first_step(given: AdamFirstStepConfig, seed: int, effort: Effort) -> Verdict:
    """First steps for gradients of many sizes, with and without the correction."""
    count, betas = GRADIENTS[effort], (given.beta1, given.beta2)
    low, high = (-2.0, 2.0) if given.large_gradients else (-12.0, -9.0)
    sizes = torch.logspace(low, high, count, dtype=torch.float64)
    rng = generator(seed, "adam-first-step")
    signs = torch.randint(2, (count,), generator=rng) * 2 - 1
    plain, corrected = (
        step * signs for step in first_steps(sizes * signs, betas, from_zero=given.from_zero)
    )
    factor = (1 - given.beta1) / (1 - given.beta2) ** 0.5
    shown = slice(0, None, count // 12)
    places = sizes[shown].tolist()
    return Verdict(
        findings=(
            _farthest("first step over lr, uncorrected", factor, plain),
            _farthest("first step over lr, corrected", 1.0, corrected),
        ),
        chart=ClaimChart(
            x_label="size of the gradient, |g|",
            y_label="first step over the learning rate",
            series=(
                predicted("(1 - β₁) / √(1 - β₂)", places, [factor] * len(places)),
                measured("without bias correction", places, plain[shown].tolist()),
                predicted("1", places, [1.0] * len(places)),
                measured("Adam", places, corrected[shown].tolist()),
            ),
            explanation=_first_step_told(given),
            log="x",
        ),
    )


def _first_step_told(given: AdamFirstStepConfig) -> str:
    if not given.from_zero:
        return (
            "Means that start at g and g² are right from the first step on: as they are they give "
            "the learning rate, and the correction for starting at zero spoils it."
        )
    if not given.large_gradients:
        return (
            "Gradients below ε = 1e-8 are lost beside it: the smaller they are, the shorter the "
            "first step, with the correction and without."
        )
    return (
        "Adam's first step is the learning rate, whatever the gradient. Without the correction "
        "for starting at zero it would be (1 - β₁) / √(1 - β₂) times as long."
    )


def _farthest(what: str, expected: float, values: Tensor) -> ClaimFinding:
    """The value that lies farthest from what is expected."""
    worst = float(values[(values - expected).abs().argmax()])
    return equals(f"{what}, the farthest", expected, worst, within=1e-3 * expected, n=len(values))


def effective_rates(name: str, gradients: Tensor) -> Tensor:
    """Step over lr for a gradient of the first one's size, at each step: (T) -> (T)."""
    coming = iter(gradients)
    path = optimizer_path(
        name, lambda _: next(coming), gradients[0] * 0, lr=RATE, steps=len(gradients)
    )
    return -path.diff() / RATE / gradients * gradients[0].abs()


def measure_adagrad_decay(given: AdagradDecayConfig, seed: int, effort: Effort) -> Verdict:
    """The same gradient again and again: how long AdaGrad's and RMSProp's steps are."""
    size = 0.5 + torch.rand((), generator=generator(seed, "adagrad-decay"), dtype=torch.float64)
    times = torch.arange(1, STEPS[effort] + 1, dtype=torch.float64)
    gradients = size / (1 if given.constant_gradient else times) * torch.ones_like(times)
    adagrad, rmsprop = (effective_rates(name, gradients) for name in ("adagrad", "rmsprop"))
    fading = times.rsqrt()
    shown = sorted({int(t) - 1 for t in torch.logspace(0, float(times[-1].log10()), 30).round()})
    return Verdict(
        findings=(
            equals(
                "AdaGrad's last step over lr",
                float(fading[-1]),
                float(adagrad[-1]),
                within=1e-6,
                n=len(times),
            ),
            no_violations(
                "AdaGrad's steps that are not lr / √t",
                int(((adagrad - fading).abs() > 1e-6).sum()),
                n=len(times),
            ),
            equals("RMSProp's last step over lr", 1, float(rmsprop[-1]), within=0.01, n=len(times)),
        ),
        chart=ClaimChart(
            x_label="step t",
            y_label="step over the learning rate",
            series=(
                predicted("1 / √t", times[shown].tolist(), fading[shown].tolist()),
                measured("AdaGrad", times[shown].tolist(), adagrad[shown].tolist()),
                predicted("1", times[shown].tolist(), [1.0] * len(shown)),
                measured("RMSProp", times[shown].tolist(), rmsprop[shown].tolist()),
            ),
            explanation="AdaGrad counts every gradient that it has seen and slows down for good; "
            "RMSProp forgets, and settles at the learning rate."
            if given.constant_gradient
            else "The squares of gradients that fall as 1/t have a finite sum, so that AdaGrad "
            "stops slowing down; RMSProp forgets the large ones, and speeds up.",
            log="xy",
        ),
    )


ADAM_FIRST_STEP = Claim(
    card=Card(
        sentence="Without bias correction Adam's first step would be 3.16 times as long.",
        formula=r"\frac{m_1}{\sqrt{v_1}} = \frac{1-\beta_1}{\sqrt{1-\beta_2}}\,"
        r"\mathrm{sign}(g), \quad \frac{\hat m_1}{\sqrt{\hat v_1}} = \mathrm{sign}(g)",
        symbols={
            "m_1, v_1": "running means of g and g^2 after one step from 0",
            r"\hat m_1, \hat v_1": "the same, divided by one minus beta",
            r"\beta_1, \beta_2": "0.9 and 0.999",
        },
        source="Kingma and Ba (2015), arXiv 1412.6980, section 3",
        misprint="Often printed without the division of m and v by one minus a power of beta.",
    ),
    topic="Optimizers",
    kind="theorem",
    settings=AdamFirstStepConfig,
    experiment=measure_adam_first_step,
)
ADAGRAD_DECAY = Claim(
    card=Card(
        sentence="Under a constant gradient AdaGrad's steps fall as one over the root of their "
        "number, RMSProp's do not.",
        formula=r"\frac{g}{\sqrt{\sum_{k \leq t} g^2}} = \frac{\mathrm{sign}(g)}{\sqrt{t}},"
        r" \quad \frac{g}{\sqrt{s_t}} \to \mathrm{sign}(g)",
        symbols={"g": "the gradient, the same at each step", "s_t": "a running mean of g^2"},
        source="Duchi, Hazan and Singer (2011), JMLR 12, 2121-2159",
    ),
    topic="Optimizers",
    kind="theorem",
    settings=AdagradDecayConfig,
    experiment=measure_adagrad_decay,
)
