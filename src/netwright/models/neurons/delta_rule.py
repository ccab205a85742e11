r"""The delta rule: each weight moves by its input times the error, down the squared error's slope.

    E = 1/(2n) sum_i |t_i - y_i|^2,    y = g(w^T x + b)
    Delta w = eta/n sum_i (t_i - y_i) g'(z_i) x_i,    g' = 1, or y (1 - y) for the sigmoid

Shapes: B batch, N examples, D features, K outputs.
Source: Widrow and Hoff, "Adaptive switching circuits" (1960).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, Self

import torch
from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Positive, Size
from netwright.core.errors import DataError
from netwright.core.learner import Examples, Learner
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.models.model import Model
from netwright.models.neurons.separability import with_ones

Unit = Literal["linear", "sigmoid"]
# The most that 1/2 (g(z) - t)^2 curves in z, for t in [0, 1] where g is the sigmoid.
CURVATURE: dict[Unit, float] = {"linear": 1.0, "sigmoid": 0.0771}


def unit_output(z: Tensor, unit: Unit) -> Tensor:
    """g(z): the sum itself, or 1 / (1 + e^{-z})."""
    return z if unit == "linear" else z.sigmoid()


def delta(z: Tensor, targets: Tensor, unit: Unit) -> Tensor:
    """(t - y) g'(z), of any shape: minus the slope of 1/2 (t - y)^2 in the sum z."""
    output = unit_output(z, unit)
    error = targets - output
    return error if unit == "linear" else error * output * (1 - output)


def longest_safe_step(inputs: Tensor, shares: Tensor, unit: Unit) -> float:
    """1 / L: with L the squared error's largest curvature no step of this length goes uphill.

    Args:
        inputs: (N, D).
        shares: how much each example counts; they sum to 1, (N,).
        unit: which output.
    """
    wide = with_ones(inputs.double())
    gram = wide.T @ (shares.double()[:, None] * wide)
    return 1 / (CURVATURE[unit] * float(torch.linalg.eigvalsh(gram)[-1]))


@dataclass(frozen=True, kw_only=True)
class DeltaRuleConfig(Config):
    """Settings of the delta rule."""

    unit: Annotated[Unit, Doc("activation of the output units")] = "linear"
    lr: Annotated[
        Positive | None, Doc("learning rate; default: the largest safe one for the data")
    ] = None
    epochs: Annotated[Size, Doc("full-batch steps")] = 300


class DeltaRule(Model, Learner):
    """y = g(W x + b), one output a class or a real, all weights zero at the start."""

    settings: ClassVar[type[Config]] = DeltaRuleConfig
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"features", "image"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class", "real"})
    card: ClassVar[Card] = Card(
        sentence="Units whose weights move by input times error, down the squared error's slope.",
        formula=r"\Delta w = \frac{\eta}{n} \sum_i (t_i - y_i) \, g'(z_i) \, x_i, \quad"
        r" y_i = g(z_i), \quad z_i = w^T x_i + b",
        symbols={
            "x_i": "input i, flattened, (D)",
            "t_i": "target: the real, or of a class +1 and -1 (linear), 1 and 0 (sigmoid)",
            "g": "the identity, with slope 1, or the sigmoid, with slope y (1 - y)",
            r"\eta": "step size, `lr`",
            "n": "number of examples",
        },
        source="Widrow and Hoff (1960), IRE WESCON Convention Record 4, 96-104",
        misprint="e^{-wx+b} in the sigmoid, which is 1 / (1 + e^{-(wx+b)}), and the slope "
        "(y - t) y (1 - y) x as the step, which goes against it.",
    )

    def __init__(self, config: DeltaRuleConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        self.unit, self.lr, self.epochs = config.unit, config.lr, config.epochs
        self.sums = nn.Linear(spec.num_features, spec.num_outputs)
        nn.init.zeros_(self.sums.weight)
        nn.init.zeros_(self.sums.bias)

    @classmethod
    def build(cls, config: DeltaRuleConfig, spec: DataSpec) -> Self:
        """One unit a class, or a real."""
        return cls(config, spec)

    def forward(self, x: Tensor) -> Tensor:
        """(B, ...) -> sums as logits (B, C), or outputs as reals (B, K)."""
        z: Tensor = self.sums(x.flatten(1))
        return z if self.spec.target == "class" else unit_output(z, self.unit)

    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        """One step over all examples an item. The seed has no part in it."""
        x, goals = data.inputs.flatten(1), self._goals(data.targets)
        shares = x.new_ones(len(x)) if data.weights is None else data.weights.to(x)
        shares = shares / shares.sum()
        rate = self.lr or longest_safe_step(x, shares, self.unit)
        weight, bias = self.sums.weight, self.sums.bias
        for _ in range(self.epochs):
            with torch.no_grad():
                z = nn.functional.linear(x, weight, bias)
                pulls = shares[:, None] * delta(z, goals, self.unit)  # (N, K)
                squares = (goals - unit_output(z, self.unit)).square().sum(dim=1)
                weight.add_(pulls.T @ x, alpha=rate)
                bias.add_(pulls.sum(dim=0), alpha=rate)
            yield {"squared_error": float(shares @ squares) / 2}

    def _goals(self, targets: Tensor) -> Tensor:
        """What the units should put out, (N, K)."""
        like = self.sums.weight
        if self.spec.target == "class":
            hot = nn.functional.one_hot(targets, self.spec.num_outputs).to(like)
            return 2 * hot - 1 if self.unit == "linear" else hot
        low, high = targets.aminmax()
        if self.unit == "sigmoid" and (low < 0 or high > 1):
            raise DataError(
                "a sigmoid unit reaches targets between 0 and 1, "
                f"got {(low if low < 0 else high).item():g}"
            )
        return targets.to(like)
