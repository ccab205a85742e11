"""Made-up functions to learn: a line, a polynomial, and a network that teaches.

Shapes: N examples, F features, K outputs.
Source: Gardner and Derrida, "Three unfinished works on the optimal storage capacity of networks"
(1989) for a teacher network.
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Literal

import torch
from torch import Tensor

from netwright.core.config import Doc, NotNegative, Size
from netwright.core.errors import ConfigError
from netwright.data.dataset import Data
from netwright.data.source import Source
from netwright.data.synthetic.base import LICENCE, SyntheticConfig, as_data, stream


@dataclass(frozen=True, kw_only=True)
class LineConfig(SyntheticConfig):
    """One feature, one real, a straight line between them."""

    n: Annotated[Size, Doc("total number of examples, including those held out")] = 200
    slope: Annotated[float, Doc("slope of the line")] = 2.0
    intercept: Annotated[float, Doc("intercept: y at x = 0")] = 1.0
    noise: Annotated[NotNegative, Doc("standard deviation of y around the line")] = 0.1


def load_line(config: LineConfig) -> Data:
    """Draw x uniformly from [-1, 1]; y = slope x + intercept + noise."""
    return _noisy_polynomial("line", config, (config.intercept, config.slope), config.noise)


@dataclass(frozen=True, kw_only=True)
class PolynomialConfig(SyntheticConfig):
    """One feature, one real, a polynomial between them."""

    n: Annotated[Size, Doc("total number of examples, including those held out")] = 200
    coefficients: Annotated[
        tuple[float, ...], Doc("c0, c1, c2 ... of c0 + c1 x + c2 x^2 ...; four make a cubic")
    ] = (0.0, -1.0, 0.0, 2.0)
    noise: Annotated[NotNegative, Doc("standard deviation of y around the curve")] = 0.1

    def __post_init__(self) -> None:
        """Refuse a polynomial without a single term."""
        super().__post_init__()
        if not self.coefficients:
            raise ConfigError("coefficients must be at least one number, got none")


def load_polynomial(config: PolynomialConfig) -> Data:
    """Draw x uniformly from [-1, 1]; y = sum over k of c_k x^k, plus noise."""
    return _noisy_polynomial("polynomial", config, config.coefficients, config.noise)


def polynomial_values(x: Tensor, coefficients: tuple[float, ...]) -> Tensor:
    """c0 + c1 x + c2 x^2 ..., by Horner's rule."""
    total = torch.zeros_like(x)
    for coefficient in reversed(coefficients):
        total = total * x + coefficient
    return total


def _noisy_polynomial(
    name: str, config: SyntheticConfig, coefficients: tuple[float, ...], noise: float
) -> Data:
    random = stream(config, name)
    x = 2 * torch.rand(config.n, 1, generator=random, dtype=torch.float64) - 1  # (N, 1)
    shake = torch.randn(config.n, 1, generator=random, dtype=torch.float64)
    y = polynomial_values(x, coefficients) + noise * shake
    return as_data(name, config, x, y, kind="real")


@dataclass(frozen=True, kw_only=True)
class TeacherConfig(SyntheticConfig):
    """Gaussian inputs, and what a random network makes of them."""

    n: Annotated[Size, Doc("total number of examples, including those held out")] = 1000
    features: Annotated[Size, Doc("number of input features")] = 10
    hidden: Annotated[tuple[Size, ...], Doc("widths of the teacher's hidden layers")] = (16,)
    outputs: Annotated[Size, Doc("number of real targets or classes")] = 1
    kind: Annotated[
        Literal["real", "class"], Doc("real: the teacher's outputs; class: its argmax")
    ] = "real"
    noise: Annotated[NotNegative, Doc("standard deviation added to each output")] = 0.0

    def __post_init__(self) -> None:
        """Refuse classes of which there is only one."""
        super().__post_init__()
        if self.kind == "class" and self.outputs < 2:
            raise ConfigError(f"outputs must be at least 2 for classes, got {self.outputs}")


def load_teacher(config: TeacherConfig) -> Data:
    """Targets are the teacher's outputs plus noise, or the place of the largest of them."""
    random = stream(config, "teacher")
    widths = (config.features, *config.hidden, config.outputs)
    weights = teacher_weights(widths, random)
    inputs = torch.randn(config.n, config.features, generator=random, dtype=torch.float64)
    outputs = teacher_outputs(inputs, weights)  # (N, K)
    outputs += config.noise * torch.randn(outputs.shape, generator=random, dtype=torch.float64)
    if config.kind == "real":
        return as_data("teacher", config, inputs, outputs, kind="real")
    labels = outputs.argmax(dim=1)
    return as_data("teacher", config, inputs, labels, kind="class", classes=config.outputs)


def teacher_weights(widths: tuple[int, ...], random: torch.Generator) -> list[Tensor]:
    """A matrix (in, out) a layer, with entries N(0, 1 / in): every layer keeps the scale."""
    return [
        torch.randn(fan_in, fan_out, generator=random, dtype=torch.float64) / math.sqrt(fan_in)
        for fan_in, fan_out in pairwise(widths)
    ]


def teacher_outputs(inputs: Tensor, weights: list[Tensor]) -> Tensor:
    """A network without biases and with tanh between its layers: (N, F) -> (N, K).

    It is odd, f(-x) = -f(x), so over Gaussian inputs no output is larger than another on average
    and no class stays empty.
    """
    *hidden, last = weights
    for weight in hidden:
        inputs = (inputs @ weight).tanh()
    return inputs @ last


LINE = Source(
    config=LineConfig,
    load=load_line,
    sentence="a noisy straight line: 1 feature, 1 real target",
    origin="drawn by formula",
    licence=LICENCE,
)
POLYNOMIAL = Source(
    config=PolynomialConfig,
    load=load_polynomial,
    sentence="a noisy polynomial, a cubic by default: 1 feature, 1 real target",
    origin="drawn by formula",
    licence=LICENCE,
)
TEACHER = Source(
    config=TeacherConfig,
    load=load_teacher,
    sentence="Gaussian inputs and the outputs of a random teacher network: real targets or classes",
    origin="Gardner and Derrida, Three unfinished works (1989)",
    licence=LICENCE,
)
