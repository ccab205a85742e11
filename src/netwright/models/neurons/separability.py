"""Linear separability: whether a plane parts two classes, the widest one, and how many there are.

    V(S) = {(w, b): y_i (w^T x_i + b) > 0 for all i}        the version space

S is separable where V(S) is not empty. A bias is the weight of a constant feature: `with_ones`.

Shapes: N points, D features.
Source: Lawson and Hanson, "Solving Least Squares Problems" (1974), chapter 23 (the widest plane).
"""

from typing import NamedTuple

import torch
from torch import Tensor

from netwright.core.checks import check_shape
from netwright.core.errors import DataError, RunError
from netwright.metrics.samples import check_not_empty

SOLVED, INFEASIBLE = 0, 2  # what `linprog` says of a program
UNREACHABLE = 1e-7  # of a residual that is 1 at most: planes thinner than this are rounding


class WidestPlane(NamedTuple):
    """The unit normal (D,) of the plane through the origin with the widest margin."""

    normal: Tensor
    margin: float


def with_ones(points: Tensor) -> Tensor:
    """The points with a constant feature 1 behind the others, (N, D + 1)."""
    return torch.cat((points, points.new_ones(len(points), 1)), dim=1)


def is_separable(points: Tensor, signs: Tensor, *, bias: bool = True) -> bool:
    """Whether a plane has all points on the sides of their classes: a linear program.

    It looks for (w, b) with y_i (w^T x_i + b) >= 1, which exists where one with > 0 does. Each
    feature is measured in its largest value: a weight may be of any size, the solver's steps not.
    Where the solver gives up, nobody knows: RunError.

    Args:
        points: (N, D).
        signs: +1 or -1, (N,).
        bias: False asks for a plane through the origin.
    """
    from scipy.optimize import linprog  # noqa: PLC0415 - it costs half a second

    turned = _turned(with_ones(points) if bias else points, signs)
    largest = turned.abs().amax(dim=0)
    turned = turned / largest.where(largest > 0, 1.0)
    found = linprog(
        c=torch.zeros(turned.shape[1]).numpy(),
        A_ub=-turned.numpy(),
        b_ub=-torch.ones(len(turned)).numpy(),
        bounds=(None, None),
        method="highs",
    )
    if found.status not in {SOLVED, INFEASIBLE}:
        raise RunError(f"the linear program has no solution: {found.message}")
    return bool(found.status == SOLVED)


def widest_plane(points: Tensor, signs: Tensor) -> WidestPlane:
    """The plane through the origin whose nearest point is as far as can be.

    The shortest w with y_i w^T x_i >= 1 is a least-distance program, which non-negative least
    squares solves exactly: with E = (y_i x_i, 1) as columns and u >= 0 nearest to E u = (0, 1), the
    residual r = E u - (0, 1) is the answer, w = -r_w / r_1. Points that no plane parts leave r = 0.

    Args:
        points: (N, D); give `with_ones(points)` for a plane with a bias.
        signs: +1 or -1, (N,).
    """
    from scipy.optimize import nnls  # noqa: PLC0415 - it costs half a second

    columns = with_ones(_turned(points, signs)).T  # (D + 1, N)
    goal = torch.zeros(len(columns), dtype=torch.float64)
    goal[-1] = 1.0
    # The default of 3 N rounds is too few for a handful of points in many dimensions.
    solution, _ = nnls(columns.numpy(), goal.numpy(), maxiter=30 * max(columns.shape))
    residual = columns @ torch.from_numpy(solution) - goal
    if residual.norm() < UNREACHABLE:
        raise DataError("points must be linearly separable: no plane has a margin above zero")
    normal = residual[:-1] / residual[:-1].norm()
    return WidestPlane(normal, float((_turned(points, signs) @ normal).min()))


def version_space_share(
    points: Tensor, signs: Tensor, draws: int, random: torch.Generator
) -> float:
    """The share of all directions (w, b) that separate the points, from random ones.

    Directions are drawn on the unit sphere of R^(D+1): they are normal numbers, whose length does
    not matter. The same draws are met by every set of points, so that more points leave fewer.
    """
    turned = _turned(with_ones(points), signs)
    directions = torch.randn(draws, turned.shape[1], generator=random, dtype=torch.float64)
    return float((directions @ turned.T > 0).all(dim=1).double().mean())


def _turned(points: Tensor, signs: Tensor) -> Tensor:
    """y_i x_i, (N, D): a plane through the origin separates where all lie on its positive side."""
    check_shape("points", points, "N", "D")
    check_not_empty("points", points)
    check_shape("signs", signs, len(points))
    return points.double() * signs.double().unsqueeze(1)
