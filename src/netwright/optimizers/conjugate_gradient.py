r"""Conjugate gradients: solve A x = b with nothing of A but what it does to a vector.

    x <- x + a p,   r <- r - a A p,   p <- r + (r.r / r'.r') p,   a = r.r / p.A p

with r' the residual before. In exact arithmetic P steps solve P equations, and k steps where A has
k different eigenvalues; with the condition number c the error falls by (sqrt c - 1) / (sqrt c + 1)
a step, where that of gradient descent falls by (c - 1) / (c + 1).

Shapes: P unknowns.
Source: Hestenes and Stiefel, "Methods of Conjugate Gradients for Solving Linear Systems" (1952).
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor


class Solved(NamedTuple):
    """What was found, and how the way was."""

    x: Tensor  # (P,)
    residuals: list[float]  # the length of b - A x before each step and after the last


def conjugate_gradient(
    product: Callable[[Tensor], Tensor], b: Tensor, *, steps: int, tol: float
) -> Solved:
    """The x of A x = b from 0 on, for a symmetric A without negative eigenvalues.

    Args:
        product: v -> A v, (P,) -> (P,).
        b: the right side.
        steps: products at most.
        tol: the length of b - A x over that of b at which it ends.
    """
    x, residual, direction = torch.zeros_like(b), b, b
    square = residual @ residual
    residuals = [float(square) ** 0.5]
    for _ in range(steps):
        if residuals[-1] <= tol * residuals[0]:
            break
        image = product(direction)
        curvature = direction @ image
        if curvature <= 0:  # A is flat here up to rounding: there is nothing more to find
            break
        rate = square / curvature
        x = x + rate * direction
        residual = residual - rate * image
        before, square = square, residual @ residual
        direction = residual + square / before * direction
        residuals.append(float(square) ** 0.5)
    return Solved(x, residuals)
