r"""The gradient of softmax and cross-entropy together: chance minus truth.

    l(o) = -sum_k y_k log p_k,  p = softmax(o),    dl/do = p - y   where   sum_k y_k = 1

In general it is (sum_k y_k) p - y, by the softmax's Jacobian diag(p) - p p^T.

Shapes: B cases, C classes.
Source: Bridle, "Probabilistic Interpretation of Feedforward Classification Network Outputs" (1990).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import generator
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.layers.softmax import softmax
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, at_most, no_violations

CASES = {"quick": 200, "full": 20_000}
SHOWN = 40  # cases in the chart
STEP = 1e-4  # of the differences: their own error is of its square
TOLERANCE = 1e-6


@dataclass(frozen=True, kw_only=True)
class SoftmaxGradientConfig(Config):
    """The classes, and the targets."""

    classes: Annotated[int, Interval(ge=2, le=100), Doc("C, the number of classes")] = 5
    sum_to_one: Annotated[
        bool, Assumption("the targets sum to 1; off, each is 0 or 1 by itself, as labels are")
    ] = True


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """-sum_k y_k log softmax(o)_k, (B, C) -> (B,)."""
    return -(targets * softmax(logits).log()).sum(dim=1)


def central_differences(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """The gradient (B, C) of a function of each row, by steps to both sides."""
    steps = STEP * torch.eye(x.shape[1], dtype=x.dtype)
    slopes = [(function(x + step) - function(x - step)) / (2 * STEP) for step in steps]
    return torch.stack(slopes, dim=1)


def measure_softmax_gradient(given: SoftmaxGradientConfig, seed: int, effort: Effort) -> Verdict:
    """Compare differences of the loss with chance minus truth, on random logits and targets."""
    numbers = generator(seed, "softmax-gradient")
    shape = (CASES[effort], given.classes)
    logits = 2 * torch.randn(shape, generator=numbers, dtype=torch.float64)
    drawn = torch.rand(shape, generator=numbers, dtype=torch.float64)
    targets = drawn / drawn.sum(dim=1, keepdim=True)
    if not given.sum_to_one:
        targets = (drawn > 0.5).double()
    found = central_differences(lambda o: cross_entropy(o, targets), logits)
    claimed = softmax(logits) - targets
    errors = (found - claimed).norm(dim=1) / claimed.norm(dim=1)
    ends = [float(end) for end in claimed[:SHOWN].aminmax()]
    return Verdict(
        findings=(
            no_violations(
                f"cases whose gradient is off by more than {TOLERANCE:g} of it",
                int((errors > TOLERANCE).sum()),
                n=len(errors),
            ),
            at_most("largest relative error", TOLERANCE, float(errors.max()), n=len(errors)),
        ),
        chart=ClaimChart(
            x_label="chance minus target, p - y",
            y_label="slope of the loss, by differences",
            series=(
                predicted("the same", ends, ends),
                measured(
                    "entries of the gradient",
                    claimed[:SHOWN].flatten().tolist(),
                    found[:SHOWN].flatten().tolist(),
                ),
            ),
            explanation="Each dot is one entry of the gradient of one case. On the dashed line the "
            "slope of the loss is the chance that the model gives minus the target.",
        ),
    )


SOFTMAX_GRADIENT = Claim(
    card=Card(
        sentence="The gradient of the cross-entropy of a softmax is its chances minus the targets.",
        formula=r"\frac{\partial}{\partial o_j} \left(-\sum_k y_k \log p_k\right) = p_j - y_j,"
        r" \quad p = \mathrm{softmax}(o)",
        symbols={
            "o": "logits, (C)",
            "p": "chances, (C)",
            "y": "targets that sum to 1, (C)",
        },
        source="Bridle (1990), Neurocomputing, 227-236",
        misprint="The slope of the loss by a chance is -y_k/p_k, often printed without its minus.",
    ),
    topic="Linear models",
    kind="theorem",
    settings=SoftmaxGradientConfig,
    experiment=measure_softmax_gradient,
)
