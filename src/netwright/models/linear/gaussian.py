"""Linear regression with normal noise: the line, and how far targets scatter about it.

Shapes: N examples, D inputs, K outputs.
Source: Gauss, "Theoria Motus Corporum Coelestium" (1809), book 2, section 3.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config
from netwright.core.learner import Examples
from netwright.data.spec import DataSpec
from netwright.inspection.drawing.view import View
from netwright.inspection.predictions.noise_band import measure_noise_band
from netwright.inspection.predictions.residual_density import measure_residual_density
from netwright.metrics.samples import weighted_mean
from netwright.models.linear.regression import SYMBOLS, ClosedForm


def normal_log_density(y: Tensor, mean: Tensor, sigma: Tensor) -> Tensor:
    """The log of N(y; mean, sigma^2) = -1/2 log(2 pi sigma^2) - (y - mean)^2 / (2 sigma^2)."""
    return -0.5 * math.log(2 * math.pi) - sigma.log() - ((y - mean) / sigma).square() / 2


def rounding(y: Tensor) -> Tensor:
    """The least noise of each output, (N, K) -> (K).

    A perfect line has none, and then no finite likelihood: it is given that of its last digit.
    """
    largest = y.abs().amax(dim=0)
    return torch.finfo(y.dtype).eps * torch.where(largest > 0, largest, 1.0)


@dataclass(frozen=True, kw_only=True)
class GaussianRegressionConfig(Config):
    """Gaussian regression has nothing to set: line and noise are those of highest likelihood."""


class GaussianRegression(ClosedForm):
    """The line of least squares, and the noise about it: together of the highest likelihood."""

    settings: ClassVar[type[Config]] = GaussianRegressionConfig
    card: ClassVar[Card] = Card(
        sentence="A line and the normal noise about it, both of the highest likelihood.",
        formula=r"-\log p(y \mid X) = \sum_i \frac{1}{2}\log(2\pi\sigma^2)"
        r" + \frac{(y_i - w^T x_i - b)^2}{2\sigma^2}, \quad"
        r" \hat\sigma^2 = \frac{1}{n}\sum_i (y_i - \hat w^T x_i - \hat b)^2",
        symbols={**SYMBOLS, r"\sigma": "standard deviation of the noise, one an output, (K)"},
        source="Gauss (1809), Theoria Motus Corporum Coelestium, book 2, section 3",
        misprint="Often printed as -log(y|X): what is maximised is the probability P(y|X). The "
        "variance of highest likelihood divides by n; the unbiased one by n - D - 1.",
    )
    sigma: Tensor

    def __init__(self, config: Config, spec: DataSpec) -> None:
        super().__init__(config, spec)
        self.register_buffer("sigma", torch.ones(spec.num_outputs))

    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        """One step: the line, then the noise. `nll` is -log p of an example, all its outputs."""
        for numbers in super().fit_steps(data, seed):
            with torch.no_grad():
                means = self(data.inputs)
                variance = weighted_mean((data.targets - means).square(), data.weights)
                self.sigma.copy_(variance.sqrt().clamp_min(rounding(data.targets)))
                logs = normal_log_density(data.targets, means, self.sigma).sum(dim=1)  # (N,)
            yield {**numbers, "nll": -float(weighted_mean(logs, data.weights))}

    def own_views(self, examples: Examples) -> Mapping[str, View]:
        """The band about the line where it can be drawn, else the residuals beside the noise."""
        names = self.spec.target_names or tuple(f"output {k}" for k in range(len(self.sigma)))
        with torch.no_grad():
            means = self(examples.inputs)
        if self.spec.num_features == 1 and len(self.sigma) == 1:
            feature = (*self.spec.feature_names, "input")[0]
            x = examples.inputs.flatten()
            band = measure_noise_band(
                x, examples.targets[:, 0], means[:, 0], float(self.sigma), (feature, names[0])
            )
            return {"noise-band": band}
        residuals = (examples.targets - means) / self.sigma
        return {"residual-density": measure_residual_density(residuals, names, examples.weights)}
