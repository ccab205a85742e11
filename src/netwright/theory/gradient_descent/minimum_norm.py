r"""Of all solutions, gradient descent from zero finds the shortest.

A system A x = b with fewer equations than unknowns has many solutions. The gradient of
|A x - b|^2 / 2 is A^T (A x - b), a combination of the rows of A: what x_0 has outside their span
never changes, and what lies in it converges, so that

    x_k -> A^+ b + (I - A^+ A) x_0,    A^+ = A^T (A A^T)^{-1}.

From x_0 = 0 this is A^+ b, the solution of least norm: a regularizer that nobody has written down.

Shapes: P systems of M equations for D unknowns.
Source: Gunasekar et al., "Characterizing Implicit Bias in Terms of Optimization Geometry" (2018).
"""

import math
from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Size
from netwright.core.errors import ConfigError
from netwright.core.seeding import generator
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.optimizers.optimizer_path import optimizer_path
from netwright.theory.verdict import Verdict, at_most

SYSTEMS = {"quick": 20, "full": 200}
DECAY = 25  # the distance falls by at least exp(-25)
EXACT = 1e-8  # largest distance that counts as arrived


@dataclass(frozen=True, kw_only=True)
class MinimumNormConfig(Config):
    """The size of the systems, and how they are solved."""

    equations: Annotated[Size, Doc("M, equations")] = 5
    unknowns: Annotated[int, Interval(ge=2, le=200), Doc("D, unknowns")] = 20
    from_zero: Annotated[bool, Assumption("the first place is zero")] = True
    along_gradient: Annotated[
        bool, Assumption("each step follows the gradient; without it, AdaGrad rescales it")
    ] = True

    def __post_init__(self) -> None:
        """Refuse systems with one solution, and those that descent solves too slowly."""
        super().__post_init__()
        if 2 * self.equations > self.unknowns:
            raise ConfigError(
                f"equations must be at most half of the {self.unknowns} unknowns, "
                f"got {self.equations}"
            )


def row_part(matrix: Tensor, x: Tensor) -> Tensor:
    """What x has in the span of the rows, A^+ A x: (P, M, D), (P, D) -> (P, D)."""
    return (torch.linalg.pinv(matrix) @ (matrix @ x[..., None]))[..., 0]  # type: ignore[no-any-return]


def measure_minimum_norm(given: MinimumNormConfig, seed: int, effort: Effort) -> Verdict:
    """Solve random systems, and compare where they end with the pseudoinverse."""
    rng, count = generator(seed, "minimum-norm"), SYSTEMS[effort]
    shape = (count, given.equations, given.unknowns)
    matrix = torch.randn(*shape, generator=rng, dtype=torch.float64)
    target = torch.randn(*shape[:2], 1, generator=rng, dtype=torch.float64)
    elsewhere = torch.randn(count, given.unknowns, generator=rng, dtype=torch.float64)
    # Equations times a number are the same equations: now the step 1 suits every system.
    stretches: Tensor = torch.linalg.svdvals(matrix)  # (P, M), from the largest on
    matrix, target = matrix / stretches[:, :1, None], target / stretches[:, :1, None]
    condition = float((stretches[:, 0] / stretches[:, -1]).square().max())
    shortest = (torch.linalg.pinv(matrix) @ target)[..., 0]

    def gradient(x: Tensor) -> Tensor:
        return (matrix.mT @ (matrix @ x[..., None] - target))[..., 0]

    first = torch.zeros_like(elsewhere) if given.from_zero else elsewhere
    name, steps = "sgd" if given.along_gradient else "adagrad", math.ceil(DECAY * condition)
    starts = torch.stack([first, elsewhere])  # (2, P, D)
    found, moved = optimizer_path(name, gradient, starts, lr=1.0, steps=steps)[-1]
    formula = shortest + elsewhere - row_part(matrix, elsewhere)
    return Verdict(
        findings=(
            at_most(
                "distance to the solution of least norm, the largest",
                EXACT,
                float((found - shortest).norm(dim=-1).max()),
                n=count,
            ),
            at_most(
                "distance to the formula from another place, the largest",
                EXACT,
                float((moved - formula).norm(dim=-1).max()),
                n=count,
            ),
        ),
        chart=ClaimChart(
            x_label="norm of the solution by the pseudoinverse",
            y_label="norm of the solution found",
            series=(
                predicted("the same norm", *2 * [sorted(_norms(shortest) + _norms(formula))]),
                measured(
                    "from zero" if given.from_zero else "not from zero",
                    _norms(shortest),
                    _norms(found),
                ),
                measured("from another place", _norms(formula), _norms(moved)),
            ),
            explanation=_told(given),
        ),
    )


def _told(given: MinimumNormConfig) -> str:
    if not given.along_gradient:
        return "AdaGrad's steps leave the span of the rows, and so end at longer solutions."
    shorter = (
        "From zero each system ends at its shortest solution; from" if given.from_zero else "From"
    )
    return (
        f"{shorter} another place the part that no equation sees stays, and makes the solution "
        "longer."
    )


def _norms(x: Tensor) -> list[float]:
    return x.norm(dim=-1).tolist()  # type: ignore[no-any-return]


MINIMUM_NORM = Claim(
    card=Card(
        sentence="Gradient descent from zero finds the shortest of all solutions of a linear "
        "system.",
        formula=r"x_k \to A^+ b + (I - A^+ A)\, x_0",
        symbols={
            "A": "the system, (M, D) with M < D",
            "b": "its right side, (M)",
            "A^+": "the pseudoinverse, A^T (A A^T)^{-1} where the rows are independent, (D, M)",
            "x_0": "the first place, (D)",
        },
        source="Gunasekar et al. (2018), arXiv 1802.08246",
    ),
    topic="Gradient descent",
    kind="theorem",
    settings=MinimumNormConfig,
    experiment=measure_minimum_norm,
)
