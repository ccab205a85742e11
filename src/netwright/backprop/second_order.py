r"""Second derivatives by torch: Jacobians, Hessians, and what they say of a step and a place.

    J_ij = df_i / dx_j,  (M, N) for f: R^N -> R^M      often misprinted as (N, M)
    H_ij = d^2 f / dx_i dx_j                           symmetric

    f(x - eta g) = f - eta g.g + eta^2 / 2 g.Hg + ...    least for eta = g.g / g.Hg where g.Hg > 0

The eigenvalues of H are the curvatures: at a critical point their signs decide what it is. Of a
large model only products H v are taken, and Lanczos finds the ends of the spectrum from those.

Shapes: N numbers in one vector, the place of a function or all weights of a model; M outputs.
Source: Pearlmutter, "Fast Exact Multiplication by the Hessian" (1994); Lanczos (1950); Ghorbani,
Krishnan and Xiao, "An Investigation into Neural Net Optimization via Hessian Eigenvalue Density"
(2019).
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from netwright.core.checks import check_positive
from netwright.core.errors import ConfigError
from netwright.core.seeding import generator
from netwright.optimizers.curvature import (
    flatten,
    gradient_of,
    hessian_of,
    pull_back,
    takes_directions_at_once,
    unflatten,
)

Function = Callable[[Tensor], Tensor]
Kind = Literal["minimum", "maximum", "saddle", "undecided"]
FLAT = 1e-9  # a slope or a curvature below it counts as none


def jacobian(function: Function, x: Tensor) -> Tensor:
    """J (M, N) of f: R^N -> R^M: a row an output, a column an input."""
    rows: Tensor = torch.func.jacrev(function)(x)
    return rows


def hessian(function: Function, x: Tensor) -> Tensor:
    """H (N, N) of f: R^N -> R.

    By autograd twice: `torch.func.hessian` refuses a layer with a backward pass of its own that
    brings no rules for batches and for forward mode.
    """
    place, gradient = _gradient(function, x)
    return hessian_of(gradient, [place])


def hessian_product(function: Function, x: Tensor) -> tuple[Tensor, Function]:
    """The gradient (N,), and v -> H v: each product is one more pass back, without the matrix."""
    place, gradient = _gradient(function, x)
    return gradient.detach(), lambda v: pull_back([gradient], [place], [v])[0]  # H is symmetric


def _gradient(function: Function, x: Tensor) -> tuple[Tensor, Tensor]:
    """A place that can be differentiated by, and the gradient there with its graph."""
    place = x.detach().requires_grad_()
    with torch.enable_grad():
        return place, gradient_of(function(place), [place], create_graph=True)


def loss_of_weights(
    model: nn.Module, inputs: Tensor, loss: Callable[[Any], Tensor]
) -> tuple[Function, Tensor]:
    """The loss of a model as a function of all that it learns, in one vector, and where it is now.

    Args:
        model: in the mode in which it is to be run; it is not changed.
        inputs: of a batch.
        loss: what the model gives -> a number.
    """
    learned = {name: part for name, part in model.named_parameters() if part.requires_grad}
    if not learned:
        kind = type(model).__name__
        raise ConfigError(f"a loss is differentiated by a model's parameters, {kind} has none")
    values = list(learned.values())

    def function(vector: Tensor) -> Tensor:
        given = dict(zip(learned, unflatten(vector, values), strict=True))
        # Batch norm in training writes into its buffers: it gets copies.
        buffers = {name: part.clone() for name, part in model.named_buffers()}
        return loss(torch.func.functional_call(model, buffers | given, (inputs,)))

    return function, flatten(values).detach()


@contextmanager
def twice_differentiable() -> Iterator[None]:
    """Within it attention and recurrent layers run by operations that have second derivatives.

    The fused kernels of torch have a first one only.
    """
    backends: tuple[Any, ...] = (torch.backends.mkldnn, torch.backends.cudnn)
    were = [backend.enabled for backend in backends]
    try:
        for backend in backends:
            backend.enabled = False
        with sdpa_kernel(SDPBackend.MATH):
            yield
    finally:
        for backend, was in zip(backends, were, strict=True):
            backend.enabled = was


@dataclass(frozen=True, kw_only=True)
class GradientStep:
    """What the first two derivatives foretell of a step x - eta g.

    Args:
        loss: f at x.
        slope: g.g, the square of the gradient's length.
        curvature: g.Hg.
    """

    loss: float
    slope: float
    curvature: float

    def predicted(self, lr: float) -> float:
        """The loss after the step; exact where f is quadratic."""
        return self.loss - lr * self.slope + lr**2 / 2 * self.curvature

    @property
    def best_lr(self) -> float:
        """The eta that goes down furthest; infinite where the way down does not curve up."""
        return self.slope / self.curvature if self.curvature > 0 else math.inf


@dataclass(frozen=True)
class CriticalPoint:
    """What a place without slope is, and its index: how many directions curve down."""

    kind: Kind
    index: int


def classify(curvatures: Tensor, slope: float, *, flat: float = FLAT) -> CriticalPoint:
    """Tell minima, maxima and saddles by the signs of all curvatures (N,).

    A curvature of 0 decides nothing, unless others have both signs.

    Args:
        curvatures: the eigenvalues of the Hessian.
        slope: the length of the gradient; a place that has one is refused.
        flat: a slope or a curvature up to it counts as none.
    """
    if not len(curvatures):
        raise ConfigError(
            "a critical point needs at least one curvature to be classified, got none"
        )
    if not slope <= flat:  # written this way round so that NaN is refused too
        raise ConfigError(f"a critical point has gradient 0, got a norm of {slope:.3g}")
    up, down = int((curvatures > flat).sum()), int((curvatures < -flat).sum())
    if up and down:
        return CriticalPoint("saddle", down)
    if up + down < len(curvatures):
        return CriticalPoint("undecided", down)
    return CriticalPoint("minimum" if up else "maximum", down)


def critical_point(function: Function, x: Tensor, *, flat: float = FLAT) -> CriticalPoint:
    """What a place (N,) is; refused where the function has a slope of more than `flat` there."""
    place, gradient = _gradient(function, x)
    curvatures = torch.linalg.eigvalsh(hessian_of(gradient, [place]))
    return classify(curvatures, float(gradient.detach().norm()), flat=flat)


class Spectrum(NamedTuple):
    """Eigenvalues from low to high (K,), and the share of all directions each stands for (K,)."""

    values: Tensor
    shares: Tensor


def is_built_at_once(function: Function, x: Tensor) -> bool:
    """Whether the rows of the Hessian are had together; else each is a pass back of its own."""
    place, gradient = _gradient(function, x)
    return takes_directions_at_once(gradient, [place])


def whole_spectrum(function: Function, x: Tensor) -> Spectrum:
    """All N eigenvalues of the Hessian."""
    values = torch.linalg.eigvalsh(hessian(function, x).double().cpu())
    return Spectrum(values, torch.full_like(values, 1 / len(values)))


def lanczos(product: Function, start: Tensor, steps: int) -> Spectrum:
    """Eigenvalues of a symmetric matrix from so many products with vectors: first of all its ends.

    The matrix is written in the basis of v, Hv, H^2 v ... in which it is tridiagonal. Each value
    lies between the true ends: below any number lie at least as many true eigenvalues as values,
    and above it too. The shares are those of a random start.

    Args:
        product: v -> H v, (N,) -> (N,).
        start: v, any vector (N,) that is not 0.
        steps: the most products that are taken.
    """
    check_positive("steps", steps)
    if not start.any():
        raise ConfigError("start must be a non-zero vector, got only zeros")
    basis = [start / start.norm()]
    diagonal, beside = [], []
    for _ in range(min(steps, len(start))):
        new = product(basis[-1])
        diagonal.append(float(new @ basis[-1]))
        for _ in range(2):  # once leaves rounding errors, which grow into copies of the ends
            for old in basis:
                new = new - (new @ old) * old
        length = float(new.norm())
        beside.append(length)
        if length <= torch.finfo(start.dtype).eps * max(map(abs, diagonal)):
            break  # the vectors span all that the matrix makes of the start
        basis.append(new / length)
    side = torch.tensor(beside[:-1], dtype=torch.float64)
    matrix = torch.diag(torch.tensor(diagonal, dtype=torch.float64))
    matrix += torch.diag(side, 1) + torch.diag(side, -1)
    values, vectors = torch.linalg.eigh(matrix)
    return Spectrum(values, vectors[0] ** 2)


def random_start(like: Tensor) -> Tensor:
    """The same direction (N,) every time, drawn at random."""
    drawn = torch.randn(like.shape, generator=generator(0, "lanczos"))
    return drawn.to(like)
