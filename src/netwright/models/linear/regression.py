"""Linear regression: one affine map, learned by gradient steps, in closed form, or with a penalty.

Shapes: B batch, D inputs, K outputs.
Source: Legendre (1805) for least squares; Hoerl and Kennard (1970) for ridge.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, Self

import torch
from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc, NotNegative
from netwright.core.learner import Examples, Learner
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.layers.stack import FLATTEN, Stacked
from netwright.metrics.samples import weighted_mean
from netwright.models.linear.least_squares import Solver, solve_least_squares
from netwright.models.model import Model

SYMBOLS = {
    "x": "one input, flattened, (D)",
    "W": "weights, (K, D)",
    "b": "bias, (K)",
    "y_i": "target of example i, (K)",
    "n": "number of examples",
}


@dataclass(frozen=True, kw_only=True)
class LinearRegressionConfig(Config):
    """Linear regression has nothing to set: the data gives its shape."""


class LinearRegression(Model, Stacked):
    """f(x) = W x + b, learned by gradient steps on the squared error."""

    settings: ClassVar[type[Config]] = LinearRegressionConfig
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"features", "image", "series"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"real"})
    card: ClassVar[Card] = Card(
        sentence="One affine map, learned by gradient steps on the squared error.",
        formula=r"f(x) = W x + b, \quad \min_{W,b} \frac{1}{n}\sum_i \|y_i - f(x_i)\|^2",
        symbols=SYMBOLS,
        source="Legendre (1805), Nouvelles methodes pour la determination des orbites",
    )

    def __init__(self, config: Config, spec: DataSpec) -> None:
        super().__init__(config, spec)
        self.affine = nn.Linear(spec.num_features, spec.num_outputs)

    @classmethod
    def build(cls, config: Config, spec: DataSpec) -> Self:
        """A map with as many inputs and outputs as the data has."""
        return cls(config, spec)

    def forward(self, x: Tensor) -> Tensor:
        """(B, ...) -> (B, K)."""
        reals: Tensor = self.affine(x.flatten(1))
        return reals

    def stack(self) -> list[nn.Module]:
        """What `forward` calls."""
        return [FLATTEN, self.affine]

    @classmethod
    def is_linear(cls, config: Config) -> bool:
        """Linear in weights and bias."""
        return True


class ClosedForm(LinearRegression, Learner):
    """The same map, fitted in one step; `l2` and `solver` say how."""

    l2: float = 0.0
    solver: Solver = "svd"

    def design(self, x: Tensor) -> Tensor:
        """What the map is applied to: (B, ...) -> (B, D)."""
        return x.flatten(1)

    def forward(self, x: Tensor) -> Tensor:
        """(B, ...) -> (B, K)."""
        reals: Tensor = self.affine(self.design(x))
        return reals

    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        """One step: the solution. The seed has no part in it."""
        slope, bias = solve_least_squares(
            self.design(data.inputs),
            data.targets,
            l2=self.l2,
            weights=data.weights,
            solver=self.solver,
        )
        with torch.no_grad():
            self.affine.weight.copy_(slope)
            self.affine.bias.copy_(bias)
            errors = (self(data.inputs) - data.targets).square().mean(dim=1)  # (N,)
        yield {"loss": float(weighted_mean(errors, data.weights))}


@dataclass(frozen=True, kw_only=True)
class LeastSquaresConfig(Config):
    """Settings of least squares."""

    solver: Annotated[
        Solver,
        Doc(
            "svd takes any columns; qr is faster with many columns, which must be linearly "
            "independent"
        ),
    ] = "svd"


class LeastSquares(ClosedForm):
    """The solution that leaves the least squared error, and of those the one of least norm."""

    settings: ClassVar[type[Config]] = LeastSquaresConfig
    card: ClassVar[Card] = Card(
        sentence="Linear regression in closed form: the least-squares solution in one step.",
        formula=r"(W, b) = \arg\min \sum_i \|y_i - W x_i - b\|^2",
        symbols=SYMBOLS,
        source="Gauss (1809); solved by the QR and the singular value decomposition",
        misprint="With examples as rows of X it is w = (X^T X)^{-1} X^T y; with examples as "
        "columns, often printed beside that formula, it is w = (X X^T)^{-1} X y.",
    )

    def __init__(self, config: LeastSquaresConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        self.solver = config.solver


@dataclass(frozen=True, kw_only=True)
class RidgeConfig(Config):
    """Settings of ridge regression."""

    l2: Annotated[NotNegative, Doc("L2 penalty; scikit-learn's alpha is n times it")] = 1e-3


class Ridge(ClosedForm):
    """Least squares with a penalty that pulls the weights, not the bias, toward zero."""

    settings: ClassVar[type[Config]] = RidgeConfig
    card: ClassVar[Card] = Card(
        sentence="Least squares with an L2 penalty on the weights, in closed form.",
        formula=r"\min_{W,b} \frac{1}{2n}\sum_i \|y_i - W x_i - b\|^2 + \frac{\lambda}{2}\|W\|^2,"
        r"\quad W^T = (X^T X + n \lambda I)^{-1} X^T Y",
        symbols={**SYMBOLS, r"\lambda": "the penalty, `l2`", "X, Y": "centred data"},
        source="Hoerl and Kennard (1970), Technometrics 12, 55-67",
    )

    def __init__(self, config: RidgeConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        self.l2 = config.l2
