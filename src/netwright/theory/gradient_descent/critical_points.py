r"""Critical points: where the gradient is 0, what they are, and the way down elsewhere.

At a critical point the eigenvalues of the Hessian decide: all positive, a minimum; all negative, a
maximum; both signs, a saddle. An eigenvalue of 0 decides nothing: x^4 has a minimum at 0, x^3 has
none, and both have f'' = 0 there.

Elsewhere the negative gradient is the steepest way down: of all unit directions u the slope u . g
is least, -|g|, for u = -g / |g|.

Shapes: P functions, M directions, D coordinates.
Source: Nocedal and Wright, "Numerical Optimization" (2006), sections 2.1 and 2.2.
"""

from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor

from netwright.backprop.second_order import Kind, critical_point
from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import generator
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, equals, no_violations

FUNCTIONS = {"quick": 100, "full": 10_000}
DIRECTIONS = {"quick": 1000, "full": 100_000}
STEP = 1e-3


@dataclass(frozen=True, kw_only=True)
class SecondDerivativeConfig(Config):
    """The functions whose critical point is asked about."""

    curved: Annotated[
        bool, Assumption("the second derivative is not 0; without it, f is a x^3 + b x^4")
    ] = True


@dataclass(frozen=True, kw_only=True)
class SteepestConfig(Config):
    """The space, and how length is measured in it."""

    dimensions: Annotated[int, Interval(ge=2, le=100), Doc("D, coordinates")] = 10
    euclidean: Annotated[
        bool, Assumption("directions have length 1; without it, their largest coordinate is 1")
    ] = True


def measure_second_derivative(given: SecondDerivativeConfig, seed: int, effort: Effort) -> Verdict:
    """Random polynomials a x^2 + b x^3 + c x^4: the sign of a, and what is seen near 0."""
    rng, count = generator(seed, "second-derivative-test"), FUNCTIONS[effort]
    a, b, c = torch.randn(3, count, generator=rng, dtype=torch.float64)
    a = a + 0.1 * a.sign() if given.curved else torch.zeros_like(a)

    def height(x: float) -> Tensor:
        return a * x**2 + b * x**3 + c * x**4  # type: ignore[no-any-return]

    def told(i: int) -> Kind:
        def polynomial(x: Tensor) -> Tensor:
            return (a[i] * x**2 + b[i] * x**3 + c[i] * x**4).sum()  # type: ignore[no-any-return]

        return critical_point(polynomial, a.new_zeros(1)).kind

    left, right = height(-STEP), height(STEP)
    is_minimum, is_maximum = (left > 0) & (right > 0), (left < 0) & (right < 0)
    seen: list[Kind] = [
        "minimum" if low else "maximum" if high else "undecided"
        for low, high in zip(is_minimum.tolist(), is_maximum.tolist(), strict=True)
    ]
    wrong = sum(told(i) != kind for i, kind in enumerate(seen))
    decided = is_minimum | is_maximum
    return Verdict(
        findings=(
            no_violations("functions that are not what the sign of f'' says", wrong, n=count),
            equals("functions with a minimum or maximum at 0", count, int(decided.sum()), n=count),
        ),
        chart=ClaimChart(
            x_label="second derivative at 0",
            y_label=f"lower neighbour's height over {STEP:g}²",
            series=(
                predicted("f'' / 2", (2 * a).sort().values.tolist(), a.sort().values.tolist()),
                measured(
                    "functions",
                    (2 * a).tolist()[:50],
                    (torch.minimum(left, right) / STEP**2).tolist()[:50],
                ),
            ),
            explanation=f"The neighbours of 0 are ±{STEP:g}. Where the second derivative is "
            "positive both are higher, where it is negative both are lower."
            if given.curved
            else "Where the second derivative is 0 it decides nothing: most of these are neither.",
        ),
    )


def measure_steepest(given: SteepestConfig, seed: int, effort: Effort) -> Verdict:
    """Random directions at random gradients: none goes down faster than the negative gradient."""
    rng, count = generator(seed, "steepest-descent"), DIRECTIONS[effort]
    shape = (count, given.dimensions)
    gradients = torch.randn(shape, generator=rng, dtype=torch.float64)
    # The hardest rivals: from anywhere to close to the negative gradient.
    spread = torch.logspace(-3, 1, count, dtype=torch.float64)[:, None]
    away = spread * torch.randn(shape, generator=rng, dtype=torch.float64)
    rivals = -gradients / gradients.norm(dim=1, keepdim=True) + away
    order = 2.0 if given.euclidean else torch.inf
    rivals, best = (
        vectors / torch.linalg.vector_norm(vectors, ord=order, dim=1, keepdim=True)
        for vectors in (rivals, -gradients)
    )
    ratio = (rivals * gradients).sum(1) / (best * gradients).sum(1)
    cosine = torch.nn.functional.cosine_similarity(rivals, -gradients)
    shown = slice(None, None, count // 50)
    return Verdict(
        findings=(
            no_violations(
                "directions that go down faster than the negative gradient",
                int((ratio > 1 + 1e-12).sum()),
                n=count,
            ),
        ),
        chart=ClaimChart(
            x_label="cosine of the angle to the negative gradient",
            y_label="slope over that of the negative gradient",
            series=(
                predicted("the cosine", [-1, 1], [-1, 1]),
                measured("random directions", cosine[shown].tolist(), ratio[shown].tolist()),
            ),
            explanation="A unit direction goes down by the cosine of its angle to the negative "
            "gradient, which is largest along it."
            if given.euclidean
            else "Measured by the largest coordinate, the signs of the gradient go down faster "
            "than the gradient itself.",
        ),
    )


SECOND_DERIVATIVE = Claim(
    card=Card(
        sentence="Where f' is 0, a positive second derivative makes a minimum and a negative one a "
        "maximum.",
        formula=r"f'(x) = 0,\; f''(x) > 0 \Rightarrow \mathrm{minimum}; \quad"
        r" f''(x) < 0 \Rightarrow \mathrm{maximum}",
        symbols={"f": "a function of one variable"},
        source="Nocedal and Wright (2006), Numerical Optimization, theorem 2.4",
        misprint="Often printed with a third case: f'' = 0 makes a point of inflection. It decides "
        "nothing: x^4 has a minimum at 0.",
    ),
    topic="Gradient descent",
    kind="theorem",
    settings=SecondDerivativeConfig,
    experiment=measure_second_derivative,
)
STEEPEST = Claim(
    card=Card(
        sentence="Of all unit directions the negative gradient goes down fastest.",
        formula=r"\min_{\|u\| = 1} u^T g = -\|g\|, \quad u^* = -\frac{g}{\|g\|}",
        symbols={"g": "the gradient, (D)", "u": "a direction, (D)"},
        source="Cauchy (1847), Comptes Rendus 25, 536-538",
    ),
    topic="Gradient descent",
    kind="theorem",
    settings=SteepestConfig,
    experiment=measure_steepest,
)
