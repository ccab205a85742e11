r"""Momentum: how long its steps get, what it is good for, and a sign that ruins Nesterov's.

    heavy ball    v <- beta v + eta grad h(w),                w <- w - v
    Nesterov      v <- beta v + eta grad h(w - beta v),       w <- w - v

Under a constant gradient the heavy ball's step is eta (1 + beta + beta^2 + ...) times it, which
tends to eta / (1 - beta). On h = 1/2 sum_i lambda_i w_i^2, with c = eta lambda, both are
recurrences of two terms:

    heavy ball    w_{k+1} = (1 + beta - c) w_k - beta w_{k-1}
    Nesterov      w_{k+1} = (1 + beta)(1 - c) w_k - beta (1 - c) w_{k-1},   at the look-ahead

Looking back instead, at w + beta v, is stable only up to c = 1 / beta - 1.

Shapes: P starts, D coordinates, T steps.
Source: Polyak, "Some Methods of Speeding up the Convergence of Iteration Methods" (1964);
Nesterov (1983); Sutskever et al., "On the Importance of Initialization and Momentum" (2013).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import torch
from annotated_types import Ge, Interval
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.errors import ConfigError
from netwright.core.seeding import generator
from netwright.inspection.training.claim_chart import ClaimChart, line, measured, predicted
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.optimizers.optimizer_path import optimizer_path
from netwright.theory.verdict import ClaimFinding, Verdict, at_most, equals, estimate, no_violations

STARTS = {"quick": 100, "full": 1000}
REMAINDER = 1e-7  # of the limit, at the last step
FAR_BELOW = 1e-3
DOTS = 40  # of a curve in a chart
NAMES = {"sgd": "gradient descent", "momentum": "heavy ball", "nesterov": "Nesterov"}


@dataclass(frozen=True, kw_only=True)
class HeavyBallConfig(Config):
    """Momentum, and how often to step."""

    momentum: Annotated[
        float, Interval(ge=0, le=0.999), Doc("beta, the share of a step that the next one keeps")
    ] = 0.9
    steps: Annotated[int, Interval(ge=1, le=25_000), Doc("T, steps")] = 400
    constant_gradient: Annotated[
        bool, Assumption("every gradient is the same; without it, each turns the last one round")
    ] = True

    def __post_init__(self) -> None:
        """Refuse fewer steps than the limit takes to be seen."""
        super().__post_init__()
        if self.momentum**self.steps > REMAINDER:
            enough = math.ceil(math.log(REMAINDER) / math.log(self.momentum))
            raise ConfigError(
                f"steps must be at least {enough} for a momentum of {self.momentum:g}, "
                f"got {self.steps}"
            )


@dataclass(frozen=True, kw_only=True)
class IllConditionedConfig(Config):
    """A narrow valley, or a round bowl."""

    condition: Annotated[
        float, Interval(ge=100, le=5000), Doc("the largest curvature over the smallest")
    ] = 100.0
    momentum: Annotated[
        float, Interval(ge=0.7, le=0.9), Doc("beta, the share of a step that the next one keeps")
    ] = 0.9
    ill_conditioned: Annotated[
        bool, Assumption("some directions are much flatter; without it, all bend alike")
    ] = True

    @property
    def steps(self) -> int:
        """T, in which gradient descent goes most of the way along the flat direction."""
        return math.ceil(2 * self.condition)


@dataclass(frozen=True, kw_only=True)
class NesterovMisprintConfig(Config):
    """A narrow valley, and the step of gradient descent or a tenth of it."""

    condition: Annotated[float, Ge(1), Doc("the largest curvature over the smallest")] = 100.0
    momentum: Annotated[
        float, Interval(ge=0.6, le=0.9), Doc("beta, the share of a step that the next one keeps")
    ] = 0.9
    steps: Annotated[int, Interval(ge=100, le=400), Doc("T, steps")] = 200
    usual_step: Annotated[
        bool, Assumption("the step is 1/L, which suits gradient descent; without it, a tenth")
    ] = True


def measure_heavy_ball_limit(given: HeavyBallConfig, seed: int, effort: Effort) -> Verdict:
    """The same gradients again and again: how long the steps of momentum get."""
    count, beta, lr = STARTS[effort], given.momentum, 0.01
    times = torch.arange(1, given.steps + 1, dtype=torch.float64)
    rng = generator(seed, "heavy-ball-limit")
    gradient = torch.randn(count, generator=rng, dtype=torch.float64)
    turns = torch.ones_like(times) if given.constant_gradient else -((-1) ** times)
    coming = iter(turns)
    path = optimizer_path(
        "momentum",
        lambda _: next(coming) * gradient,
        torch.zeros_like(gradient),
        lr=lr,
        steps=given.steps,
        momentum=beta,
    )
    factors = -path.diff(dim=0) / (lr * gradient)  # (T, P)
    sums = torch.cumsum(beta ** (times - 1), 0)
    limit, last = 1 / (1 - beta), factors[-1]
    within = 10 * REMAINDER * limit
    worst = float(last[(last - limit).abs().argmax()])
    wrong = (factors - sums[:, None]).abs() > within
    shown = slice(0, round(6 * limit), max(1, round(limit / 10)))
    return Verdict(
        findings=(
            equals("last step over lr times gradient", limit, worst, within=within, n=count),
            no_violations(
                "steps that are not the sum of powers from 0", int(wrong.sum()), n=wrong.numel()
            ),
        ),
        chart=ClaimChart(
            x_label="step t",
            y_label="step over learning rate times gradient",
            series=(
                predicted("sum of βᵏ from k = 0", times[shown].tolist(), sums[shown].tolist()),
                measured("momentum", times[shown].tolist(), factors[shown, 0].tolist()),
                line("sum from k = 1", times[shown].tolist(), (sums - 1)[shown].tolist()),
            ),
            explanation="Steady directions gain speed until friction holds it: the step tends to "
            "1 / (1 - β). A sum that starts at 1 forgets the gradient at hand."
            if given.constant_gradient
            else "A gradient that turns round at every step gains no speed: what momentum keeps "
            "of the last step works against the next.",
        ),
    )


def recurrence_losses(
    name: str, curvatures: Tensor, start: Tensor, c: Tensor, beta: float, steps: int
) -> list[float]:
    """Losses of the recurrence w_{k+1} = a w_k - b w_{k-1} that an optimizer is, c = eta lambda."""
    a, b, first = {
        "sgd": (1 - c, 0 * c, 1 - c),
        "momentum": (1 + beta - c, beta + 0 * c, 1 - c),
        "nesterov": ((1 + beta) * (1 - c), beta * (1 - c), 1 - (1 + beta) * c),
    }[name]
    places = [start, first * start]
    for _ in range(steps - 1):
        places.append(a * places[-1] - b * places[-2])
    return [float(curvatures @ place.square()) / 2 for place in places]


def _valley(condition: float, seed: int, effort: Effort) -> tuple[Tensor, Tensor]:
    """Curvatures (D) and starts (P, D); the first start is (1, 1)."""
    curvatures = torch.tensor([1.0, condition], dtype=torch.float64)
    rng = generator(seed, "valley")
    starts = 0.5 + torch.rand(STARTS[effort], 2, generator=rng, dtype=torch.float64)
    starts[0] = 1.0
    return curvatures, starts


def measure_ill_conditioned(given: IllConditionedConfig, seed: int, effort: Effort) -> Verdict:
    """A narrow valley from many starts: last losses of three optimizers with the same step."""
    curvatures, starts = _valley(given.condition, seed, effort)
    if not given.ill_conditioned:
        curvatures = curvatures.amax().expand(2)
    lr, beta, steps = 1 / given.condition, given.momentum, given.steps
    shown = slice(0, steps + 1, steps // DOTS)
    times = range(steps + 1)[shown]
    last, series = {}, []
    for name, title in NAMES.items():
        options: dict[str, Any] = {} if name == "sgd" else {"momentum": beta}
        path = optimizer_path(name, lambda w: curvatures * w, starts, lr=lr, steps=steps, **options)
        losses = path.square() @ curvatures / 2  # (T + 1, P)
        expected = recurrence_losses(name, curvatures, starts[0], lr * curvatures, beta, steps)
        series.append(predicted(f"{title}, recurrence", times, expected[shown]))
        series.append(measured(title, times, losses[shown, 0].tolist()))
        last[name] = losses[-1]
    return Verdict(
        findings=(
            *_against(last["sgd"], last["momentum"], "heavy ball"),
            *_against(last["sgd"], last["nesterov"], "Nesterov"),
        ),
        chart=ClaimChart(
            x_label="steps",
            y_label="loss",
            series=tuple(series),
            explanation="The step must be short for the steep direction, and then the flat one "
            "takes gradient descent forever; momentum gains speed along it."
            if given.ill_conditioned
            else "Where all directions bend alike, a step of 1/L arrives at once. The heavy ball "
            "overshoots and has to come back.",
            log="y",
        ),
    )


def _against(plain: Tensor, loss: Tensor, name: str) -> tuple[ClaimFinding, ClaimFinding]:
    mean, above = estimate(loss.tolist()), int((loss > FAR_BELOW * plain).sum())
    return (
        no_violations(
            f"starts from which {name} ends above a thousandth of gradient descent's loss",
            above,
            n=mean.n,
        ),
        at_most(
            f"mean loss of {name}, against a thousandth of gradient descent's",
            FAR_BELOW * float(plain.mean()),
            mean.mean,
            n=mean.n,
            interval=mean.interval,
        ),
    )


def look_back(
    gradient: Callable[[Tensor], Tensor], start: Tensor, *, lr: float, momentum: float, steps: int
) -> Tensor:
    """Nesterov's method with the wrong sign: the gradient where the last step came from."""
    place, velocity, path = start, torch.zeros_like(start), [start]
    for _ in range(steps):
        velocity = momentum * velocity + lr * gradient(place + momentum * velocity)
        place = place - velocity
        path.append(place)
    return torch.stack(path)


def measure_nesterov_misprint(given: NesterovMisprintConfig, seed: int, effort: Effort) -> Verdict:
    """A narrow valley from many starts: does looking back get down?"""
    curvatures, starts = _valley(given.condition, seed, effort)
    lr = (1.0 if given.usual_step else 0.1) / given.condition
    beta, steps = given.momentum, given.steps

    def gradient(w: Tensor) -> Tensor:
        return curvatures * w

    wrong = look_back(gradient, starts, lr=lr, momentum=beta, steps=steps).square() @ curvatures / 2
    right = optimizer_path("nesterov", gradient, starts, lr=lr, steps=steps, momentum=beta)
    plain = optimizer_path("sgd", gradient, starts, lr=lr, steps=steps).square() @ curvatures / 2
    ratio, plain_ratio = wrong[-1] / wrong[0], plain[-1] / plain[0]
    what = "last loss over the first, the largest"
    shown = slice(0, steps + 1, math.ceil(steps / DOTS))
    times = range(steps + 1)[shown]
    return Verdict(
        findings=(
            at_most(f"{what} of looking back", 1, float(ratio.max()), n=len(ratio)),
            at_most(f"{what} of gradient descent", 1, float(plain_ratio.max()), n=len(ratio)),
        ),
        chart=ClaimChart(
            x_label="steps",
            y_label="loss",
            series=(
                predicted(
                    "looking ahead, w - βv",
                    times,
                    (right[shown, 0].square() @ curvatures / 2).tolist(),
                ),
                measured("looking back, w + βv", times, wrong[shown, 0].tolist()),
            ),
            explanation="The step is w - v, so the place ahead is w - βv. With the other sign the "
            "correction comes too late, and every swing is larger than the last."
            if given.usual_step
            else "The step is w - v, so the place ahead is w - βv. With a step this short even the "
            "other sign gets down.",
            log="y",
        ),
    )


_SYMBOLS = {
    r"\eta": "the learning rate",
    r"\beta": "momentum, 0.9",
    "v": "the velocity, a running sum of gradients, from 0",
}
HEAVY_BALL_LIMIT = Claim(
    card=Card(
        sentence="Under a constant gradient momentum's step tends to the learning rate over one "
        "minus momentum.",
        formula=r"v_t = \eta \sum_{k=0}^{t-1} \beta^k g \;\to\; \frac{\eta}{1-\beta}\, g",
        symbols={**_SYMBOLS, "g": "the gradient, the same at each step"},
        source="Polyak (1964), USSR Computational Mathematics 4(5), 1-17",
        misprint="Often printed with a sum from k = 1, which loses the gradient at hand and would "
        "tend to beta / (1 - beta): 9 in place of 10.",
    ),
    topic="Optimizers",
    kind="theorem",
    settings=HeavyBallConfig,
    experiment=measure_heavy_ball_limit,
)
ILL_CONDITIONED = Claim(
    card=Card(
        sentence="Along a narrow valley momentum, Nesterov's too, ends far below gradient descent "
        "with the same step.",
        formula=r"w_{k+1} = w_k - \eta \nabla h(w_k) + \beta (w_k - w_{k-1})",
        symbols={**_SYMBOLS, "h": "a quadratic with curvatures 1 and 100"},
        source="Polyak (1964), USSR Computational Mathematics 4(5), 1-17",
    ),
    topic="Optimizers",
    kind="empirical",
    settings=IllConditionedConfig,
    experiment=measure_ill_conditioned,
)
NESTEROV_MISPRINT = Claim(
    card=Card(
        sentence="Taking the gradient at w + βv and stepping to w - v descends wherever gradient "
        "descent does.",
        formula=r"v \leftarrow \beta v + \eta \nabla h(w + \beta v), \quad w \leftarrow w - v",
        symbols=_SYMBOLS,
        source="Nesterov (1983), Soviet Mathematics Doklady 27, 372-376, has the other sign",
        misprint="A velocity that is subtracted leads to w - beta v: the gradient belongs there. "
        "With the plus sign the method runs away at steps that suit gradient descent.",
    ),
    topic="Optimizers",
    kind="false",
    settings=NesterovMisprintConfig,
    experiment=measure_nesterov_misprint,
)
