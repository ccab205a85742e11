"""Polynomial regression: least squares on all products of the features up to a degree.

Shapes: B batch, D inputs, M monomials, K outputs.
Source: Gergonne, "The Application of the Method of Least Squares to the Interpolation of
Sequences" (1815).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Annotated, ClassVar

import torch
from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc, NotNegative, Size
from netwright.core.errors import ConfigError
from netwright.core.learner import Examples
from netwright.data.spec import DataSpec
from netwright.models.linear.regression import ClosedForm

MOST_MONOMIALS = 5_000  # their products are a square matrix of this side


@dataclass(frozen=True, kw_only=True)
class PolynomialRegressionConfig(Config):
    """Settings of polynomial regression."""

    degree: Annotated[Size, Doc("maximum degree of the polynomial")] = 3
    l2: Annotated[NotNegative, Doc("L2 penalty on the weights")] = 1e-3


class PolynomialRegression(ClosedForm):
    """A linear map of the monomials of the scaled features, fitted in one step.

    Each feature is first brought to [-1, 1] over its examples: powers of large numbers would
    drown the others.
    """

    settings: ClassVar[type[Config]] = PolynomialRegressionConfig
    card: ClassVar[Card] = Card(
        sentence="Least squares, with a small L2 penalty, on all products of the features up to a "
        "degree.",
        formula=r"f(x) = b + \sum_{1 \le |k| \le d} w_k \prod_j z_j^{k_j}, \quad"
        r" z_j = \frac{x_j - c_j}{h_j}, \quad"
        r" \min_{w,b} \frac{1}{2n}\sum_i \|y_i - f(x_i)\|^2 + \frac{\lambda}{2}\|w\|^2",
        symbols={
            "x": "one input, flattened, (D)",
            "z": "the input scaled to [-1, 1], (D)",
            "c, h": "middle and half width of the examples, (D)",
            "k": "powers of the features, whole numbers from 0, (D)",
            "w_k": "weight of a monomial, (K)",
            "d": "the highest degree",
            "y_i": "target of example i, (K)",
            "n": "number of examples",
            r"\lambda": "the penalty, `l2`",
        },
        source="Gergonne (1815), Annales de Mathematiques pures et appliquees 6, 242-252",
    )
    centre: Tensor
    half_width: Tensor

    def __init__(self, config: PolynomialRegressionConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        self.degree, self.l2 = config.degree, config.l2
        count = math.comb(spec.num_features + config.degree, config.degree) - 1
        if count > MOST_MONOMIALS:
            raise ConfigError(
                f"degree {config.degree} of {spec.num_features} features makes {count} monomials, "
                f"wanted at most {MOST_MONOMIALS}"
            )
        self.affine = nn.Linear(count, spec.num_outputs)
        self.register_buffer("centre", torch.zeros(spec.num_features))
        self.register_buffer("half_width", torch.ones(spec.num_features))

    def design(self, x: Tensor) -> Tensor:
        """The monomials of each input, by degree: (B, ...) -> (B, M)."""
        scaled = (x.flatten(1) - self.centre) / self.half_width  # (B, D)
        return monomials(scaled, self.degree)

    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        """One step: the scale of the features, and the solution."""
        inputs = data.inputs.flatten(1)
        if data.weights is not None:
            inputs = inputs[data.weights > 0]  # the rows that count
        low, high = inputs.aminmax(dim=0)
        width = (high - low) / 2
        self.centre.copy_((low + high) / 2)
        self.half_width.copy_(torch.where(width > 0, width, torch.ones_like(width)))
        yield from super().fit_steps(data, seed)


def monomials(x: Tensor, degree: int) -> Tensor:
    """All products of 1 to `degree` columns: (B, D) -> (B, M), M = C(D + degree, degree) - 1.

    Two columns to degree 2: x1, x2, x1^2, x1 x2, x2^2.
    """
    places: dict[tuple[int, ...], int] = {(column,): column for column in range(x.shape[1])}
    parts = [x]
    for power in range(2, degree + 1):
        factors = list(combinations_with_replacement(range(x.shape[1]), power))
        shorter = [places[chosen[:-1]] for chosen in factors]
        parts.append(parts[-1][:, shorter] * x[:, [chosen[-1] for chosen in factors]])
        places = {chosen: place for place, chosen in enumerate(factors)}
    return torch.cat(parts, dim=1)
