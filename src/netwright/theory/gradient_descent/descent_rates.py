r"""How fast gradient descent gets down when its step is 1 / L, L the largest curvature.

    any smooth h      h(x_{k+1}) <= h(x_k) - |grad h(x_k)|^2 / (2 L)
    bounded below     min_{j<k} |grad h(x_j)|^2 <= 2 L (h(x_0) - h*) / k
    convex            h(x_k) - h* <= L |x_0 - x*|^2 / (2 k)
    PL inequality     h(x_k) - h* <= (1 - mu / L)^k (h(x_0) - h*)

where the Polyak-Lojasiewicz inequality says |grad h|^2 / 2 >= mu (h - h*): a small gradient means a
small gap. Many losses go down at once: their sum has the gradients of all.

Shapes: P losses, D coordinates, N examples, T steps.
Source: Nesterov, "Introductory Lectures on Convex Optimization" (2004), section 1.2; Beck and
Teboulle, "A Fast Iterative Shrinkage-Thresholding Algorithm" (2009), theorem 3.1; Polyak, "Gradient
Methods for Minimizing Functionals" (1963).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import torch
from annotated_types import Interval
from torch import Tensor
from torch.nn.functional import softplus

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Positive
from netwright.core.seeding import generator
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.optimizers.optimizer_path import optimizer_path
from netwright.theory.verdict import Verdict, at_least, at_most, no_violations

LOSSES = {"quick": 20, "full": 200}
COORDINATES, EXAMPLES = 10, 40
ROUNDING = 1e-12  # a loss of about 1 cannot show a smaller decrease

Loss = Callable[[Tensor], Tensor]  # (..., P, D) -> (..., P)


@dataclass(frozen=True, kw_only=True)
class DescentConfig(Config):
    """The curvature of the losses, and how often to step."""

    curvature: Annotated[Positive, Doc("L, the largest curvature of each loss")] = 4.0
    steps: Annotated[int, Interval(ge=1, le=1000), Doc("T, steps of gradient descent")] = 100
    short_step: Annotated[bool, Assumption("the step is 1/L; without it, it is 3/L")] = True

    @property
    def rate(self) -> float:
        """The step size."""
        return (1 if self.short_step else 3) / self.curvature

    def told(self, text: str) -> str:
        """The text on a chart, which speaks of what is assumed."""
        switches = [value for value in vars(self).values() if isinstance(value, bool)]
        return text if all(switches) else "With an assumption off, the promise need not be kept."


@dataclass(frozen=True, kw_only=True)
class SmoothConfig(DescentConfig):
    """A gradient without jumps, or with."""

    smooth: Annotated[
        bool, Assumption("the gradient changes at most L times as fast as the place: no kinks")
    ] = True


@dataclass(frozen=True, kw_only=True)
class PolyakLojasiewiczConfig(DescentConfig):
    """A gradient that grows with the gap, or not."""

    gradient_tells_gap: Annotated[
        bool, Assumption("|grad h|^2 / 2 >= mu (h - h*), the Polyak-Lojasiewicz inequality")
    ] = True


@dataclass(frozen=True, kw_only=True)
class ConvexConfig(DescentConfig):
    """A bowl, or a bowl with ripples."""

    convex: Annotated[bool, Assumption("the loss lies below its chords")] = True


def gradient_of(loss: Loss) -> Callable[[Tensor], Tensor]:
    """The gradients of all losses at once: each depends on its own coordinates only."""
    return torch.func.grad(lambda x: loss(x).sum())


def random_inputs(count: int, rank: int, curvature: float, rng: torch.Generator) -> Tensor:
    """Inputs X of this rank, (P, N, D), with `curvature` the largest eigenvalue of X^T X / N."""
    left = torch.randn(count, EXAMPLES, rank, generator=rng, dtype=torch.float64)
    right = torch.randn(count, rank, COORDINATES, generator=rng, dtype=torch.float64)
    inputs = left @ right
    largest = torch.linalg.matrix_norm(inputs, ord=2).square() / EXAMPLES  # (P)
    return inputs * (curvature / largest).sqrt()[:, None, None]  # type: ignore[no-any-return]


def random_start(count: int, rng: torch.Generator, scale: float) -> Tensor:
    """Places to start from, (P, D)."""
    return scale * torch.randn(count, COORDINATES, generator=rng, dtype=torch.float64)


def _rate_verdict(what: str, reached: Tensor, bound: Tensor, explanation: str, log: Any) -> Verdict:
    """`reached` and `bound` are (T, P), from step 1 on; the chart shows the closest loss."""
    ratio = reached / bound
    steps = range(1, len(ratio) + 1)
    closest = int(ratio.amax(0).argmax())
    return Verdict(
        findings=(
            no_violations(
                f"steps with a {what} above the bound", int((ratio > 1).sum()), n=ratio.numel()
            ),
            at_most(
                f"{what} over its bound, the largest of all steps",
                1,
                float(ratio.max()),
                n=ratio.numel(),
            ),
        ),
        chart=ClaimChart(
            x_label="steps k",
            y_label=what,
            series=(
                predicted("bound", steps, bound[:, closest].tolist()),
                measured("gradient descent", steps, reached[:, closest].tolist()),
            ),
            explanation=explanation,
            log=log,
        ),
    )


def measure_sufficient_decrease(given: SmoothConfig, seed: int, effort: Effort) -> Verdict:
    """Logistic regressions on random labels: each step's decrease beside the promised one."""
    rng = generator(seed, "sufficient-decrease")
    # The logistic loss bends at most 1/4.
    inputs = random_inputs(LOSSES[effort], COORDINATES, 4 * given.curvature, rng)
    signs = torch.randint(2, inputs.shape[:2], generator=rng) * 2.0 - 1

    def loss(weights: Tensor) -> Tensor:
        margins = signs * torch.einsum("pnd,...pd->...pn", inputs, weights)
        return (softplus(-margins) if given.smooth else (1 - margins).relu()).mean(-1)

    gradient = gradient_of(loss)
    start = random_start(LOSSES[effort], rng, scale=3.0)
    path = optimizer_path("sgd", gradient, start, lr=given.rate, steps=given.steps)
    decrease = -loss(path).diff(dim=0)  # (T, P)
    promised = gradient(path[:-1]).square().sum(-1) / (2 * given.curvature)
    seen = promised > 1e3 * ROUNDING
    shown = seen & (torch.arange(given.steps) % 20 == 0)[:, None]
    return Verdict(
        findings=(
            no_violations(
                "steps that decrease the loss by less than promised",
                int((decrease < promised - ROUNDING).sum()),
                n=decrease.numel(),
            ),
            at_least(
                "decrease over the promised one, the smallest of all steps",
                1,
                float((decrease / promised)[seen].min()),
                n=int(seen.sum()),
            ),
        ),
        chart=ClaimChart(
            x_label="promised decrease, |∇h|² / 2L",
            y_label="decrease of the loss in one step",
            series=(
                predicted("as promised", *2 * [sorted(promised[shown].tolist())]),
                measured("gradient descent", promised[shown].tolist(), decrease[shown].tolist()),
            ),
            explanation=given.told(
                "Every dot is a step of a logistic regression. None lies below the line: "
                "a step of 1/L never gains less than the gradient promises."
            ),
            log="xy",
        ),
    )


def measure_critical_point(given: SmoothConfig, seed: int, effort: Effort) -> Verdict:
    """Sums of waves, which are not convex: the smallest gradient so far beside its bound."""
    rng = generator(seed, "critical-point")
    heights = torch.rand(LOSSES[effort], COORDINATES, generator=rng, dtype=torch.float64)
    heights = given.curvature * heights / heights.amax(-1, keepdim=True)

    def loss(x: Tensor) -> Tensor:
        crest = (x / 2).sin().abs()  # with sin^2 (x / 2) = (1 - cos x) / 2
        return 2 * (heights * (crest.square() if given.smooth else crest)).sum(-1)

    gradient = gradient_of(loss)
    start = random_start(LOSSES[effort], rng, scale=10.0)
    path = optimizer_path("sgd", gradient, start, lr=given.rate, steps=given.steps)
    k = torch.arange(1, given.steps + 1, dtype=torch.float64)[:, None]
    return _rate_verdict(
        "smallest gradient so far",
        gradient(path[:-1]).norm(dim=-1).cummin(0).values,
        (2 * given.curvature * loss(start) / k).sqrt(),
        given.told(
            "The bound says by which step a gradient below ε has been seen: 2L(h₀ - h*) / ε²."
        ),
        log="xy",
    )


def measure_polyak_lojasiewicz(
    given: PolyakLojasiewiczConfig, seed: int, effort: Effort
) -> Verdict:
    """Least squares with dependent inputs, so that many weights are best: the gap at each step."""
    rng = generator(seed, "polyak-lojasiewicz")
    rank = COORDINATES // 2
    inputs = random_inputs(LOSSES[effort], rank, given.curvature, rng)
    best = random_start(LOSSES[effort], rng, scale=1.0)

    def loss(weights: Tensor) -> Tensor:
        residuals = torch.einsum("pnd,...pd->...pn", inputs, weights - best)
        # Off: as curved where it is best, but nearly straight far away.
        curve = residuals.square() / 2 if given.gradient_tells_gap else pseudo_huber(residuals)
        return curve.mean(-1)

    start = random_start(LOSSES[effort], rng, scale=100.0)
    path = optimizer_path("sgd", gradient_of(loss), start, lr=given.rate, steps=given.steps)
    k = torch.arange(1, given.steps + 1, dtype=torch.float64)[:, None]
    factor = 1 - smallest_curvature(inputs, rank) / given.curvature
    return _rate_verdict(
        "gap to the best loss",
        loss(path[1:]),
        (factor.pow(k) + ROUNDING**2) * loss(start),  # residuals are known to so many digits
        given.told(
            "The gap falls at least by the factor 1 - μ/L a step, though the loss has a whole flat "
            "space of minima and is not strongly convex."
        ),
        log="y",
    )


def pseudo_huber(residuals: Tensor) -> Tensor:
    """A square near 0, a straight line far away; its curvature is 1 at most."""
    return (1 + residuals.square()).sqrt() - 1


def smallest_curvature(inputs: Tensor, rank: int) -> Tensor:
    """The smallest eigenvalue of X^T X / N that is not zero, (P)."""
    return torch.linalg.svdvals(inputs)[:, rank - 1].square() / inputs.shape[1]  # type: ignore[no-any-return]


def measure_convex_rate(given: ConvexConfig, seed: int, effort: Effort) -> Verdict:
    """Quadratics, flat in some directions and nearly so in others: the gap at each step."""
    rng = generator(seed, "convex-rate")
    start = random_start(LOSSES[effort], rng, scale=5.0)
    curvatures = given.curvature * torch.linspace(0, 1, COORDINATES, dtype=torch.float64).pow(4)
    curvatures[: COORDINATES // 3] = 0

    def loss(x: Tensor) -> Tensor:
        bowl = curvatures * x.square() / 2
        if given.convex:
            return bowl.sum(-1)
        # Half a bowl and half of ripples bend at most L, and both are 0 at 0.
        return (bowl + given.curvature * (1 - (3 * x).cos()) / 9).sum(-1) / 2

    path = optimizer_path("sgd", gradient_of(loss), start, lr=given.rate, steps=given.steps)
    k = torch.arange(1, given.steps + 1, dtype=torch.float64)[:, None]
    distance = (start * (curvatures > 0)).square().sum(-1)  # to the nearest best place
    return _rate_verdict(
        "gap to the best loss",
        loss(path[1:]),
        given.curvature * distance / (2 * k),
        given.told(
            "Where directions are nearly flat the gap need not fall by a factor a step, but it is "
            "never above c/k: half the gap may cost twice the steps."
        ),
        log="xy",
    )


_SYMBOLS = {
    "h": "the loss",
    "L": "its largest curvature: how fast the gradient may change",
    "x_k": "the place after k steps of size 1/L, (D)",
}
SUFFICIENT_DECREASE = Claim(
    card=Card(
        sentence="A step of 1/L decreases the loss by at least the squared gradient over 2L.",
        formula=r"h\left(x - \frac{1}{L}\nabla h(x)\right) \leq"
        r" h(x) - \frac{\|\nabla h(x)\|^2}{2L}",
        symbols=_SYMBOLS,
        source="Nesterov (2004), Introductory Lectures on Convex Optimization, section 1.2.3",
        misprint="Often printed with = in place of <=, and with |h|^2 in place of |grad h|^2.",
    ),
    topic="Gradient descent",
    kind="theorem",
    settings=SmoothConfig,
    experiment=measure_sufficient_decrease,
)
CRITICAL_POINT = Claim(
    card=Card(
        sentence="Gradient descent meets a gradient below ε within 2L(h0 - h*)/ε² steps, "
        "convex or not.",
        formula=r"\min_{j < k} \|\nabla h(x_j)\|^2 \leq \frac{2L\,(h(x_0) - h^*)}{k}",
        symbols={**_SYMBOLS, "h^*": "the least loss"},
        source="Nesterov (2004), Introductory Lectures on Convex Optimization, section 1.2.3",
    ),
    topic="Gradient descent",
    kind="theorem",
    settings=SmoothConfig,
    experiment=measure_critical_point,
)
POLYAK_LOJASIEWICZ = Claim(
    card=Card(
        sentence="Where a small gradient means a small gap, the gap falls by a factor each step.",
        formula=r"\frac{1}{2}\|\nabla h\|^2 \geq \mu\,(h - h^*) \;\Rightarrow\;"
        r" h(x_k) - h^* \leq \left(1 - \frac{\mu}{L}\right)^k (h(x_0) - h^*)",
        symbols={
            **_SYMBOLS,
            "h^*": "the least loss",
            r"\mu": "for least squares the smallest eigenvalue of X^T X / N that is not zero",
        },
        source="Polyak (1963), USSR Computational Mathematics 3(4), 864-878",
        misprint="The gradient in the proof is that of the step before, not of the last place.",
    ),
    topic="Gradient descent",
    kind="theorem",
    settings=PolyakLojasiewiczConfig,
    experiment=measure_polyak_lojasiewicz,
)
CONVEX_RATE = Claim(
    card=Card(
        sentence="On a convex loss the gap after k steps is at most L|x0 - x*|²/(2k).",
        formula=r"h(x_k) - h^* \leq \frac{L\,\|x_0 - x^*\|^2}{2k}",
        symbols={**_SYMBOLS, "x^*": "the nearest best place, with the loss h*"},
        source="Beck and Teboulle (2009), SIAM Journal on Imaging Sciences 2(1), 183-202, theorem "
        "3.1, for a loss that is all smooth",
    ),
    topic="Gradient descent",
    kind="theorem",
    settings=ConvexConfig,
    experiment=measure_convex_rate,
)
