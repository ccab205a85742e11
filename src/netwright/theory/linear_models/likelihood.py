r"""Squared error and the noise behind it: what it assumes, and what it suffers from.

With y = w x + b + noise of density N(0, sigma^2),

    -log p(y | X) = sum_i 1/2 log(2 pi sigma^2) + (y_i - w x_i - b)^2 / (2 sigma^2),

so that for every sigma the likelihood is highest at least squares. Laplace's noise has the highest
likelihood at the least absolute deviations instead, which one far-off target does not move.

Shapes: N examples, D inputs.
Source: Gauss (1809); Edgeworth, "On Observations Relating to Several Quantities" (1887).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Positive
from netwright.core.errors import ConfigError
from netwright.core.seeding import generator
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.models.linear.gaussian import normal_log_density
from netwright.models.linear.least_squares import solve_least_squares
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, at_least, at_most, equals

SETS = {"quick": 6, "full": 100}
SIGMAS = (0.5, 3.0)
FAR_OFF = 500  # times the noise is where one target stands out
HEIGHTS = 11  # of the outlier, in the chart


def least_squares(x: Tensor, y: Tensor) -> Tensor:
    """Weights and bias of the least squared error: (N, D), (N,) -> (D + 1,)."""
    slope, bias = solve_least_squares(x, y[:, None])
    return torch.cat((slope[0], bias))


def least_absolute_deviations(x: Tensor, y: Tensor) -> Tensor:
    """Weights and bias of the least absolute error, (D + 1,): a linear program.

    Minimise sum_i (u_i + v_i) where w x_i + b + u_i - v_i = y_i, and u, v are not negative.
    """
    import numpy as np  # noqa: PLC0415 - beside scipy.optimize, which costs half a second
    from scipy.optimize import linprog  # noqa: PLC0415

    rows, columns = x.shape
    design = np.hstack((x.numpy(), np.ones((rows, 1)), np.eye(rows), -np.eye(rows)))
    cost = np.concatenate((np.zeros(columns + 1), np.ones(2 * rows)))
    bounds = [(None, None)] * (columns + 1) + [(0, None)] * (2 * rows)
    found = linprog(cost, A_eq=design, b_eq=y.numpy(), bounds=bounds, method="highs")
    return torch.from_numpy(np.asarray(found.x)[: columns + 1])


def most_likely_normal(x: Tensor, y: Tensor, sigma: float) -> Tensor:
    """Weights and bias (D + 1,) that L-BFGS finds for normal noise of this size."""
    theta = torch.zeros(x.shape[1] + 1, dtype=torch.float64, requires_grad=True)
    spread = torch.tensor(sigma, dtype=torch.float64)
    steps = torch.optim.LBFGS(
        [theta],
        max_iter=200,
        tolerance_grad=1e-10,
        tolerance_change=0.0,
        line_search_fn="strong_wolfe",
    )

    def minus_log_likelihood() -> Tensor:
        steps.zero_grad()
        loss = -normal_log_density(y, x @ theta[:-1] + theta[-1], spread).mean()
        torch.autograd.backward(loss)
        return loss

    steps.step(minus_log_likelihood)  # type: ignore[no-untyped-call]
    return theta.detach()


@dataclass(frozen=True, kw_only=True)
class GaussianNoiseConfig(Config):
    """The data, and its noise."""

    examples: Annotated[int, Interval(ge=1, le=500), Doc("N, examples of a set")] = 40
    inputs: Annotated[int, Interval(ge=1, le=50), Doc("D, inputs of an example")] = 3
    gaussian: Annotated[bool, Assumption("the noise is normal; off, it is Laplace's")] = True

    def __post_init__(self) -> None:
        """Refuse so few examples that weights are not told, or hardly."""
        super().__post_init__()
        if self.examples < 2 * (self.inputs + 1):
            raise ConfigError(
                f"examples must be at least {2 * (self.inputs + 1)}, twice the weights and the "
                f"bias, got {self.examples}"
            )


def measure_gaussian_noise(given: GaussianNoiseConfig, seed: int, effort: Effort) -> Verdict:
    """Maximise the likelihood of the noise that made the targets, and compare the weights."""
    squares: list[Tensor] = []
    likely: dict[float, list[Tensor]] = {sigma: [] for sigma in SIGMAS}
    for number in range(SETS[effort]):
        numbers = generator(seed, "gaussian-noise-likelihood", number)
        x, y = _noisy_line(given, numbers)
        squares.append(least_squares(x, y))
        for sigma, found in likely.items():
            # The size of Laplace's noise does not change where its likelihood is highest.
            found.append(
                most_likely_normal(x, y, sigma)
                if given.gaussian
                else least_absolute_deviations(x, y)
            )
    by_squares = torch.cat(squares)
    ends = [float(end) for end in by_squares.aminmax()]
    by_size = {sigma: torch.cat(weights) for sigma, weights in likely.items()}
    return Verdict(
        findings=tuple(
            at_most(
                f"largest difference of a weight, noise of size {sigma:g}",
                1e-6,
                float((weights - by_squares).abs().max()),
                n=len(weights),
            )
            for sigma, weights in by_size.items()
        ),
        chart=ClaimChart(
            x_label="weight by least squares",
            y_label="weight of the highest likelihood",
            series=(
                predicted("the same", ends, ends),
                *(  # every other weight each: all of both would hide one another
                    measured(f"noise of size {sigma:g}", by_squares[turn::2], weights[turn::2])
                    for turn, (sigma, weights) in enumerate(by_size.items())
                ),
            ),
            explanation="Each dot is a weight of one data set. On the dashed line both ways find "
            "the same weight, whatever size of noise is assumed."
            if given.gaussian
            else "Each dot is a weight of one data set. Off the dashed line the least absolute "
            "error, which Laplace's noise asks for, finds another weight.",
        ),
    )


def _noisy_line(given: GaussianNoiseConfig, numbers: torch.Generator) -> tuple[Tensor, Tensor]:
    def normals(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=numbers, dtype=torch.float64)

    x, weights = normals(given.examples, given.inputs), normals(given.inputs)
    noise = normals(given.examples)
    if not given.gaussian:
        # A normal number whose variance is exponential is Laplace's.
        uniform = torch.rand(given.examples, generator=numbers, dtype=torch.float64)
        noise = noise * (-2 * torch.log1p(-uniform)).sqrt()
    return x, x @ weights + 1 + noise


GAUSSIAN_NOISE = Claim(
    card=Card(
        sentence="Under normal noise the weights of highest likelihood are those of least squares.",
        formula=r"\arg\max_{w,b} \prod_i N(y_i;\, w^T x_i + b,\, \sigma^2)"
        r" = \arg\min_{w,b} \sum_i (y_i - w^T x_i - b)^2",
        symbols={
            "x_i, y_i": "input (D) and target of example i",
            "w, b": "weights (D) and bias",
            r"\sigma": "size of the noise; any",
        },
        source="Gauss (1809), Theoria Motus Corporum Coelestium, book 2, section 3",
        misprint="Often printed as minimising -log(y|X), where -log P(y|X) is meant.",
    ),
    topic="Linear models",
    kind="theorem",
    settings=GaussianNoiseConfig,
    experiment=measure_gaussian_noise,
)


@dataclass(frozen=True, kw_only=True)
class OutliersConfig(Config):
    """The clean data, and the one outlier."""

    examples: Annotated[
        int, Interval(ge=20, le=200), Doc("N, clean examples; their inputs lie between 0 and 1")
    ] = 50
    height: Annotated[Positive, Doc("how far the outlier lies above the line")] = 100.0
    noise: Annotated[Positive, Doc("size of the noise of the clean targets")] = 0.1
    within_range: Annotated[
        bool, Assumption("the outlier's input lies among the others; off, it lies far away")
    ] = True

    def __post_init__(self) -> None:
        """Refuse an outlier that is none."""
        super().__post_init__()
        if self.height < FAR_OFF * self.noise:
            raise ConfigError(
                f"height must be at least {FAR_OFF} times the noise of {self.noise:g}, "
                f"got {self.height:g}"
            )


def measure_outliers(given: OutliersConfig, seed: int, effort: Effort) -> Verdict:
    """Add one outlier to clean lines, and see how far it moves both slopes."""
    place = 1.0 if given.within_range else 20.0
    squares, absolute, formula = [], [], []
    for number in range(SETS[effort]):
        x, y = _clean_line(given, seed, number)
        squares.append(_slope_shift(least_squares, x, y, place, given.height))
        absolute.append(_slope_shift(least_absolute_deviations, x, y, place, given.height))
        formula.append(_shift_of_squares(x, place, given.height))
    ratios = [
        abs(far / near) if near else math.inf for far, near in zip(squares, absolute, strict=True)
    ]
    return Verdict(
        findings=(
            at_least(
                "shift of the slope by squares over that by absolute error, the least of all",
                10,
                min(ratios),
                n=len(ratios),
            ),
            equals(
                "mean shift of the slope of least squares",
                math.fsum(formula) / len(formula),
                math.fsum(squares) / len(squares),
                within=1e-6 * given.height,
                n=len(squares),
            ),
        ),
        chart=_outlier_chart(given, seed, place),
    )


def _clean_line(given: OutliersConfig, seed: int, number: int) -> tuple[Tensor, Tensor]:
    numbers = generator(seed, "squared-loss-outliers", number)
    x = torch.rand(given.examples, generator=numbers, dtype=torch.float64)
    noise = torch.randn(given.examples, generator=numbers, dtype=torch.float64)
    return x, 2 * x + 1 + given.noise * noise


def _slope_shift(
    fit: Callable[[Tensor, Tensor], Tensor], x: Tensor, y: Tensor, place: float, height: float
) -> float:
    """How far an outlier at `place`, so far above the line of least squares, moves the slope."""
    slope, bias = least_squares(x[:, None], y)
    more_x = torch.cat((x, x.new_tensor([place])))
    more_y = torch.cat((y, (slope * place + bias + height)[None]))
    return float(fit(more_x[:, None], more_y)[0] - fit(x[:, None], y)[0])


def _shift_of_squares(x: Tensor, place: float, height: float) -> float:
    """The same for least squares by its formula: the pull of one more point on the slope."""
    away = place - float(x.mean())
    part = len(x) / (len(x) + 1)
    return height * part * away / (float(x.var(correction=0)) * len(x) + part * away**2)


def _outlier_chart(given: OutliersConfig, seed: int, place: float) -> ClaimChart:
    x, y = _clean_line(given, seed, 0)
    heights = [given.height * step / (HEIGHTS - 1) for step in range(HEIGHTS)]

    def shifts(fit: Callable[[Tensor, Tensor], Tensor]) -> list[float]:
        return [_slope_shift(fit, x, y, place, height) for height in heights]

    return ClaimChart(
        x_label=f"height of the outlier above the line of {given.examples} clean points",
        y_label="shift of the fitted slope",
        series=(
            predicted(
                "formula for squares", heights, [_shift_of_squares(x, place, h) for h in heights]
            ),
            measured("least squares", heights, shifts(least_squares)),
            measured("least absolute error", heights, shifts(least_absolute_deviations)),
        ),
        explanation="The further off one target lies, the more it turns the line of least squares, "
        "without end. The line of the least absolute error only asks on which side it lies."
        if given.within_range
        else "An outlier whose input is far from the others is a lever: it turns the line of the "
        "least absolute error as well.",
    )


OUTLIERS = Claim(
    card=Card(
        sentence="One far-off target turns the line of least squares, and hardly the line of the "
        "least absolute error.",
        formula=r"\Delta w = \frac{h\, q\, (x_0 - \bar x)}{\sum_i (x_i - \bar x)^2"
        r" + q\, (x_0 - \bar x)^2}, \quad q = \frac{N}{N+1}",
        symbols={
            "x_0": "input of the outlier",
            "h": "its height above the line of least squares",
            r"\bar x": "mean of the N clean inputs",
            r"\Delta w": "shift of the slope of least squares",
        },
        source="Edgeworth (1887), Hermathena 6, 279-285; Huber (1964), Annals of Mathematical "
        "Statistics 35, 73-101",
    ),
    topic="Linear models",
    kind="empirical",
    settings=OutliersConfig,
    experiment=measure_outliers,
)
