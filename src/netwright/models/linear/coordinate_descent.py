"""Coordinate descent for squared error with an L1 penalty: one weight at a time, each exactly.

    1/(2n) |y - X w|^2 + l1 |w|_1 + l2/2 |w|^2

Only X^T X / n and X^T y / n are needed, so that a sweep costs the same for any number of examples.
Several problems that share their inputs are solved side by side. Where inputs are much alike sweeps
creep; now and then the weights that are not 0 are therefore moved together, by Newton's step.

Shapes: D inputs, R problems, S weights of a problem that are not 0.
Source: Friedman, Hastie and Tibshirani, "Regularization Paths for Generalized Linear Models via
Coordinate Descent" (2010); Lee, Battle, Raina and Ng, "Efficient Sparse Coding Algorithms" (2006),
for the step that keeps the signs.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# On the diagonal, as a part of the trace: columns that depend on each other can be solved too.
RIDGE = 1e-13


def soft_threshold(value: Array, threshold: Array) -> Array:
    """Nearer to 0 by the threshold, and exactly 0 within it: S(v, t) = sign(v) max(|v| - t, 0)."""
    return np.sign(value) * np.maximum(np.abs(value) - threshold, 0.0)


@dataclass(kw_only=True)
class CoordinateDescent:
    """Weights on their way to the optimum, all problems at once.

    Args:
        gram: X^T X / n, with l2 on its diagonal, (D, D).
        alignment: X^T y / n of each problem, (R, D).
        power: y^T y / n of each problem, (R,).
        l1: the penalty of each problem, (R,).
    """

    gram: Array
    alignment: Array
    power: Array
    l1: Array
    weights: Array = field(init=False)
    slack: Array = field(init=False)  # X^T (y - X w) / n - l2 w, (R, D)

    def __post_init__(self) -> None:
        """Start from 0."""
        self.weights = np.zeros_like(self.alignment)
        self.slack = self.alignment.copy()

    def sweep(self) -> None:
        """Put each weight in turn where the loss is least, the others held."""
        for column, row in enumerate(self.gram):
            size = row[column]
            if size == 0.0:
                continue  # a constant input
            old = self.weights[:, column]
            new = soft_threshold(self.slack[:, column] + size * old, self.l1) / size
            change = new - old
            if change.any():
                self.slack -= change[:, None] * row
                self.weights[:, column] = new

    def settle(self) -> None:
        """Move the weights that are not 0 together to where the loss is least, their signs held."""
        for problem in range(len(self.weights)):
            while self._newton_step(problem) < 1.0:
                pass  # a weight became 0, so that this ends

    def _newton_step(self, problem: int) -> float:
        """Go to the least loss of these signs, or to where the first weight reaches 0.

        Returns the part of the step that was made; no part of it lets the loss rise.
        """
        weights, slack = self.weights[problem], self.slack[problem]
        on = np.flatnonzero(weights)
        old = weights[on]
        curvature = self.gram[np.ix_(on, on)]  # (S, S)
        curvature.flat[:: len(on) + 1] += RIDGE * curvature.trace()
        step = np.linalg.solve(curvature, slack[on] - self.l1[problem] * np.sign(old))
        reach = np.full(len(on), np.inf)  # the part of the step that takes a weight to 0
        np.divide(-old, step, out=reach, where=old * step < 0)
        part = float(reach.min(initial=1.0))
        weights[on] = np.where(reach <= part, 0.0, old + part * step)
        slack[:] = self.alignment[problem] - self.gram @ weights
        return part

    def gap(self) -> Array:
        """How far each loss is above the least at most, (R,): primal minus a dual value."""
        aligned = (self.weights * self.alignment).sum(axis=1)
        residual = self.power - aligned - (self.weights * self.slack).sum(axis=1)
        largest = np.abs(self.slack).max(axis=1)
        shrink = np.minimum(1.0, self.l1 / np.maximum(largest, self.l1))  # into the dual's bounds
        primal = residual / 2 + self.l1 * np.abs(self.weights).sum(axis=1)
        dual = shrink * (self.power - aligned) - shrink**2 * residual / 2
        gap: Array = primal - dual
        return gap

    def mean_squares(self, l2: float) -> Array:
        """The mean squared error of each problem, (R,)."""
        both = (self.weights * (self.alignment + self.slack)).sum(axis=1)
        squares: Array = self.power - both - l2 * (self.weights**2).sum(axis=1)
        return squares
