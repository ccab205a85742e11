"""Newton's method on a log loss: few steps, each a linear system of all weights.

Shapes: N examples, D inputs, P scores, Q = P (D + 1) weights.
Source: Green, "Iteratively Reweighted Least Squares for Maximum Likelihood Estimation" (1984);
Byrd, Chin, Neveitt and Nocedal (2011) for the curvature of a sample.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from netwright.models.linear.log_loss import LogLoss

MOST_STEPS = 100
SAMPLE_A_WEIGHT = 100  # examples for which their curvature is that of all within a tenth
LEAST_SAMPLE = 5_000  # so that rare classes are in it too
COARSE = 1e-3  # the gradient of a sample is off by more
SERVES = 0.5  # a step that leaves more of the gradient asks for the curvature of all examples
ROUNDING = 1e-12  # of the loss, a sum over all examples
HALVES = tuple(0.5**k for k in range(30))


class Step(NamedTuple):
    """Where a step led."""

    theta: Tensor  # weights and bias of each score, (P, D + 1)
    misfit: float  # the mean log loss there, without the penalty
    slope: float  # the largest entry of the gradient before the step


def newton_direction(curvature: Tensor, gradient: Tensor) -> Tensor:
    """-H^{-1} g, (Q,); H is scaled to a diagonal of ones, so that units of inputs do not matter.

    The trace of damping stands in for directions that change nothing, as where all classes get
    the same bias more. The gradient has no part along them. Rounding may ask for more of it.
    """
    scale = curvature.diagonal().clamp_min(1e-30).rsqrt()
    scaled = curvature * scale[:, None] * scale
    damping, failed = 1e-12, True
    while failed:
        damped = scaled + damping * torch.eye(len(scaled), dtype=torch.float64)
        factor, failed = torch.linalg.cholesky_ex(damped)
        damping *= 100
    return -scale * torch.cholesky_solve((scale * gradient)[:, None], factor)[:, 0]


def newton_steps(
    loss: LogLoss, theta: Tensor, tol: float, sample: Tensor | None = None
) -> Iterator[Step]:
    """Step along -H^{-1} g, halved until the loss falls, until no entry of g is above tol.

    Args:
        loss: what is minimised.
        theta: where to start, (P, D + 1).
        tol: the gradient at which to stop.
        sample: examples whose curvature is taken as long as it serves; the gradient is of all
            examples, so that the end is the same.
    """
    scores, last, fall = loss.scores(theta), math.inf, -math.inf
    misfit = value = loss.misfit(scores)
    for _ in range(MOST_STEPS):
        chances = loss.link.chances(scores)
        gradient = loss.gradient(chances, theta)
        slope = float(gradient.abs().max())
        stalled = slope > SERVES * last
        rounded = stalled and sample is None and -fall < ROUNDING * value
        if last < math.inf and (slope <= tol or rounded):
            return
        if stalled:
            sample = None
        curvature = (
            loss.curvature(chances)
            if sample is None
            else loss.take(sample).curvature(chances[sample])
        )
        direction = newton_direction(curvature, gradient.flatten()).view_as(theta)
        if loss.link.shift_free:
            direction = direction - direction.mean(dim=0)  # of all shifts the one that sums to 0
        move = loss.scores(direction)
        value, fall = misfit + loss.penalty(theta), float((gradient * direction).sum())
        for size in HALVES:
            further = theta + size * direction
            misfit = loss.misfit(scores + size * move)
            if misfit + loss.penalty(further) <= value + 1e-4 * size * fall + ROUNDING * value:
                break
        else:
            return
        theta, scores = further, scores + size * move
        yield Step(theta, misfit, slope)
        last = slope


def minimise_log_loss(loss: LogLoss, tol: float) -> Iterator[Step]:
    """Newton steps from 0; where there are many examples, from the optimum of a sample."""
    num_scores, num_inputs = loss.truth.shape[1], loss.inputs.shape[1]
    theta = loss.inputs.new_zeros(num_scores, num_inputs + 1)
    counted = loss.share.nonzero()[:, 0]
    size = max(LEAST_SAMPLE, SAMPLE_A_WEIGHT * theta.numel())
    sample = None
    if len(counted) > 2 * size:
        order = torch.randperm(len(counted), generator=torch.Generator().manual_seed(0))
        sample = counted[order[:size]]
        for step in newton_steps(loss.take(sample), theta, max(tol, COARSE)):
            theta = step.theta
    yield from newton_steps(loss, theta, tol, sample)
