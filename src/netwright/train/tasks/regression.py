"""One or several reals: squared error on standardised targets, measured in their own units.

Shapes: B batch, K reals.
"""

import math
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import torch
from torch import Tensor

from netwright.core.checks import check_shape
from netwright.core.outputs import Output, logits_of
from netwright.data.dataset import Split
from netwright.data.loader import Batch
from netwright.metrics.catalog import Kind
from netwright.train.tasks.task import Task, weighted_mean


class Regression(Task):
    """Mean squared error of the model's output against (y - center) / scale.

    A model starts out near 0 with steps of about 1, whatever the units of the target; predictions
    and metrics are in the target's own units.

    Args:
        center: what is subtracted from the targets (K,).
        scale: what they are then divided by (K,).
    """

    target: ClassVar[Kind] = "real"
    headline: ClassVar[str] = "rmse"

    def __init__(self, center: Tensor, scale: Tensor) -> None:
        self.center, self.scale = center, scale

    @classmethod
    def fitted(cls, train: Split) -> Self:
        """Mean and standard deviation of the training targets; a constant target has scale 1."""
        center, scale = train.targets.mean(dim=0), train.targets.std(dim=0, correction=0)
        return cls(center, torch.where(scale > 0, scale, torch.ones_like(scale)))

    @classmethod
    def plain(cls, num_outputs: int) -> Self:
        """Targets as they are, for models that find their own scale."""
        return cls(torch.zeros(num_outputs), torch.ones(num_outputs))

    def loss(self, output: Tensor | Output, batch: Batch) -> Tensor:
        """Mean squared error in standardised units."""
        reals = logits_of(output).float()
        check_shape("the model's output", reals, *batch.targets.shape)  # never broadcast silently
        wanted = (batch.targets - self.center.to(reals.device)) / self.scale.to(reals.device)
        return weighted_mean((reals - wanted).square().mean(dim=1), batch.weights)

    def headline_sum(self, output: Tensor | Output, batch: Batch) -> Tensor:
        """Squared errors in the target's units: mean over outputs, sum over examples."""
        return (self.predictions(output) - batch.targets).square().mean(dim=1).sum()

    def headline_value(self, mean: float) -> float:
        """The root of the mean squared error."""
        return math.sqrt(mean)

    def predictions(self, output: Tensor | Output) -> Tensor:
        """Reals (N, K) in the units of the targets."""
        reals = logits_of(output).float()
        return reals * self.scale.to(reals.device) + self.center.to(reals.device)

    def baseline(self, train: Split, count: int) -> Tensor:
        """The mean of the training targets."""
        return train.targets.cpu().mean(dim=0).expand(count, -1)

    def describe_baseline(self, train: Split, names: Sequence[str]) -> str:
        """The mean of each target."""
        means = [f"{mean:.4g}" for mean in self.baseline(train, 1)[0].tolist()]
        return f"always the mean of the training rows, {', '.join(means)}"

    def to_json(self) -> dict[str, Any]:
        """Center and scale, exactly."""
        return {
            "kind": "regression",
            "center": self.center.tolist(),
            "scale": self.scale.tolist(),
        }
