"""Surfaces: functions of two variables on which optimizers show their characters.

Shapes: (..., 2) a place or many, (...) a height each.
Source: Rosenbrock, "An Automatic Method for Finding the Greatest or Least Value of a Function"
(1960); Beale, "On an Iterative Method for Finding a Local Minimum of a Function of More than One
Variable" (1958).
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from netwright.core.catalog import Catalog

Place = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Surface:
    """A function of two variables whose least value is 0, and how to look at it.

    Args:
        sentence: what it is, and what is hard about it.
        formula: its value, as text.
        value: places (..., 2) -> heights (...).
        gradient: places (..., 2) -> gradients (..., 2).
        minima: where it is 0, all of them.
        start: a good place to start from.
        x_range: the part of the first axis to look at.
        y_range: the part of the second one.
    """

    sentence: str
    formula: str
    value: Callable[[Tensor], Tensor]
    gradient: Callable[[Tensor], Tensor]
    minima: tuple[Place, ...]
    start: Place
    x_range: Place
    y_range: Place


def rosenbrock(place: Tensor) -> Tensor:
    """The height of the banana valley."""
    x, y = place.unbind(-1)
    return (1 - x).square() + 100 * (y - x.square()).square()


def rosenbrock_gradient(place: Tensor) -> Tensor:
    """Its slope."""
    x, y = place.unbind(-1)
    above = y - x.square()  # above the floor of the valley
    return torch.stack((2 * (x - 1) - 400 * x * above, 200 * above), dim=-1)


def saddle(place: Tensor) -> Tensor:
    """The height of two bowls with a saddle between them."""
    x, y = place.unbind(-1)
    return x.square() / 2 + (y.square() - 1).square() / 4


def saddle_gradient(place: Tensor) -> Tensor:
    """Its slope."""
    x, y = place.unbind(-1)
    return torch.stack((x, y * (y.square() - 1)), dim=-1)


def ravine(place: Tensor) -> Tensor:
    """The height of a bowl that is a hundred times as curved along y as along x."""
    x, y = place.unbind(-1)
    return (x.square() + 100 * y.square()) / 2


def ravine_gradient(place: Tensor) -> Tensor:
    """Its slope."""
    x, y = place.unbind(-1)
    return torch.stack((x, 100 * y), dim=-1)


_BEALE = ((1, 1.5), (2, 2.25), (3, 2.625))


def beale(place: Tensor) -> Tensor:
    """The height of Beale's plain with steep walls."""
    x, y = place.unbind(-1)
    return torch.stack([(c - x + x * y**k).square() for k, c in _BEALE]).sum(0)


def beale_gradient(place: Tensor) -> Tensor:
    """Its slope."""
    x, y = place.unbind(-1)
    slope_x, slope_y = torch.zeros_like(x), torch.zeros_like(y)
    for k, c in _BEALE:
        twice = 2 * (c - x + x * y**k)
        slope_x, slope_y = slope_x + twice * (y**k - 1), slope_y + twice * k * x * y ** (k - 1)
    return torch.stack((slope_x, slope_y), dim=-1)


ROSENBROCK = Surface(
    sentence="A curved valley with a nearly flat floor: easy to enter, slow to follow.",
    formula="(1 - x)² + 100 (y - x²)²",
    value=rosenbrock,
    gradient=rosenbrock_gradient,
    minima=((1.0, 1.0),),
    start=(-1.2, 1.0),
    x_range=(-2.0, 2.0),
    y_range=(-1.0, 2.5),
)
SADDLE = Surface(
    sentence="Two bowls and a saddle between them: the way down starts with almost no slope.",
    formula="x² / 2 + (y² - 1)² / 4",
    value=saddle,
    gradient=saddle_gradient,
    minima=((0.0, 1.0), (0.0, -1.0)),
    start=(-1.5, 0.001),
    x_range=(-1.8, 1.2),
    y_range=(-1.5, 1.5),
)
RAVINE = Surface(
    sentence="A bowl a hundred times as curved across as along: steps that suit one are wrong "
    "for the other.",
    formula="(x² + 100 y²) / 2",
    value=ravine,
    gradient=ravine_gradient,
    minima=((0.0, 0.0),),
    start=(-2.0, 0.3),
    x_range=(-2.3, 0.7),
    y_range=(-0.5, 0.5),
)
BEALE = Surface(
    sentence="A flat plain between steep walls: gradients of very different size on one way.",
    formula="(1.5 - x + xy)² + (2.25 - x + xy²)² + (2.625 - x + xy³)²",
    value=beale,
    gradient=beale_gradient,
    minima=((3.0, 0.5),),
    start=(1.0, 1.5),
    x_range=(-0.5, 4.5),
    y_range=(-1.5, 2.0),
)

SURFACES: Catalog[Surface] = Catalog(
    "surface",
    {
        name: f"netwright.theory.optimizers.surfaces:{name.upper()}"
        for name in ("rosenbrock", "saddle", "ravine", "beale")
    },
)
