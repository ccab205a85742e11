"""Kernel regression: the answer for an input is the mean of the answers of examples like it.

Nothing is trained: the examples are stored, and how far "like" reaches is all there is to choose.

Shapes: B batch, N examples, D inputs, C classes, K outputs.
Source: Nadaraya, "On Estimating Regression" (1964); Watson, "Smooth Regression Analysis" (1964);
Haerdle and Marron (1985) for the width by leave-one-out.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, Self

import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.core.card import Card
from netwright.core.config import Config, Doc, OneOf, Positive
from netwright.core.errors import ConfigError
from netwright.core.learner import Examples, Learner
from netwright.core.seeding import generator
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.layers.attention.kernels import KERNELS, kernel_pooling, pool, scaled_distances
from netwright.models.grown_buffers import GrownBuffers
from netwright.models.model import Model

LEAST_PROBABILITY = 1e-9  # of a class that no near example has: its logit stays finite
MOST_TRIED = 2**24  # pairs of examples by which a width is judged
# Widths are tried from a hundredth of the spread to twice the distance of two examples.
NARROWEST, WIDEST, NUM_WIDTHS = 0.01, 2.0, 25


@dataclass(frozen=True, kw_only=True)
class KernelRegressionConfig(Config):
    """Settings of kernel regression."""

    kernel: Annotated[str, OneOf(KERNELS), Doc("the kernel")] = "gaussian"
    width: Annotated[
        tuple[Positive, ...],
        Doc("kernel width: one number, or one per input; default: chosen by leave-one-out"),
    ] = ()


class KernelRegression(GrownBuffers, Model, Learner):
    """Nadaraya and Watson's mean of the stored targets, weighed by a kernel."""

    settings: ClassVar[type[Config]] = KernelRegressionConfig
    config: KernelRegressionConfig
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"features", "image"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class", "real"})
    grown: ClassVar[tuple[str, ...]] = ("keys", "values", "weights")
    card: ClassVar[Card] = Card(
        sentence="The mean of all stored targets, each weighed by how near its example is; where "
        "none is near enough, the mean of all.",
        formula=r"f(q) = \frac{\sum_i v_i \, \alpha(u_i)}{\sum_j \alpha(u_j)}, \quad"
        r" u_i = \|(q - k_i) / h\|",
        symbols={
            "q": "the query: one input, flattened, (D)",
            "k_i": "stored example i, (D)",
            "v_i": "its target: reals (K), or 1 at its class and 0 elsewhere (C)",
            "h": "the width, one or one a coordinate, (D)",
            r"\alpha": "the kernel",
        },
        source="Nadaraya (1964), Theory of Probability and its Applications 9, 141-142; "
        "Watson (1964), Sankhya A 26, 359-372",
    )
    keys: Tensor
    values: Tensor
    weights: Tensor
    width: Tensor

    def __init__(self, config: KernelRegressionConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        if len(config.width) not in {0, 1, spec.num_features}:
            raise ConfigError(
                f"width must be one number, or {spec.num_features}, one per input, got "
                f"{len(config.width)}"
            )
        self.register_buffer("keys", torch.zeros(1, spec.num_features))
        self.register_buffer("values", torch.zeros(1, spec.num_outputs))
        self.register_buffer("weights", torch.ones(1))
        self.register_buffer("width", torch.ones(spec.num_features))

    @classmethod
    def build(cls, config: KernelRegressionConfig, spec: DataSpec) -> Self:
        """A model with as many inputs and outputs as the data has."""
        return cls(config, spec)

    def forward(self, x: Tensor) -> Tensor:
        """(B, ...) -> log-probabilities (B, C) or reals (B, K)."""
        pooled = kernel_pooling(
            x.flatten(1), self.keys, self.values, self.config.kernel, self.width, self.weights
        )
        return pooled.clamp_min(LEAST_PROBABILITY).log() if self.spec.target == "class" else pooled

    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        """One step: store the examples and choose the width, unless it is given."""
        weights = torch.ones(len(data.inputs)) if data.weights is None else data.weights
        counts = weights > 0  # the others foretell nothing, and are not there to be foretold
        self.keys = data.inputs[counts].flatten(1).to(self.keys)
        is_class = self.spec.target == "class"
        targets = F.one_hot(data.targets, self.spec.num_outputs) if is_class else data.targets
        self.values = targets[counts].to(self.values)
        self.weights = weights[counts].to(self.weights)
        if self.config.width:
            unit, factors = self.width.new_tensor(self.config.width), [1.0]
        else:
            unit = _spread(self.keys, self.weights, is_image=self.spec.inputs == "image")
            factors = _width_factors(self.spec.num_features)
        errors = self._leave_one_out(unit, factors, seed)  # one a factor
        best = errors.index(min(errors))
        self.width.copy_(unit * factors[best])
        yield {"leave_one_out": errors[best]}

    def _leave_one_out(self, unit: Tensor, factors: list[float], seed: int) -> list[float]:
        """Squared errors of examples that are foretold from the others, a share of the variance.

        Args:
            unit: widths that the factors multiply, (D,) or (1,).
            factors: each gives an error.
            seed: of the examples that are tried, where there are many.
        """
        count = len(self.keys)
        order = torch.randperm(count, generator=generator(seed, "leave-one-out"))
        tried = order[: max(1, MOST_TRIED // count)].to(self.keys.device)
        distances = scaled_distances(self.keys[tried], self.keys, unit)
        distances.scatter_(1, tried[:, None], math.inf)  # an example does not foretell itself
        centred = self.values - self.weights @ self.values / self.weights.sum()
        variance = (self.weights @ centred.square() / self.weights.sum()).clamp_min(1e-12)
        log_kernel = KERNELS.load(self.config.kernel).log_weight
        shares = self.weights[tried] / self.weights[tried].sum()
        errors = []
        for factor in factors:
            foretold = pool(log_kernel(distances / factor), self.values, self.weights)
            missed = (foretold - self.values[tried]).square() / variance
            errors.append(float(shares @ missed.mean(dim=1)))
        return errors


def _spread(keys: Tensor, weights: Tensor, *, is_image: bool) -> Tensor:
    """The standard deviation of each coordinate (D,); 1 where it does not vary.

    Pixels have one unit, and so one spread: else the few that hardly vary would decide.
    """
    shares = weights / weights.sum()
    shifted = keys - keys[0]  # exactly 0 where a coordinate does not vary
    spread = (shares @ (shifted - shares @ shifted).square()).sqrt()
    if is_image:
        spread = spread.square().mean().sqrt().expand_as(spread)
    return spread.where(spread > 0, 1.0)


def _width_factors(num_features: int) -> list[float]:
    """Widths to try, in spreads, each as much wider than the one before."""
    widest = WIDEST * math.sqrt(2 * num_features)  # two examples are sqrt(2 D) spreads apart
    exponents = torch.linspace(math.log(NARROWEST), math.log(widest), NUM_WIDTHS)
    factors: list[float] = exponents.exp().tolist()
    return factors
