r"""Activations worked by hand: the value a = phi(z), and the slope phi'(z) for the way back.

    forward:   a = phi(z)
    backward:  dR/dz = dR/da * phi'(z),   number by number

Often the slope is had from the value: sigma' = a (1 - a), tanh' = 1 - a^2. At a corner (z = 0 of a
ReLU) there is no slope; the one from the flatter side is taken, as torch does. Softplus is exact
everywhere; torch's is z itself beyond z = 20, up to e^-20 = 2e-9 less.

Shapes: any; z, a, delta and the gradient have the same.
Source: Rumelhart, Hinton and Williams, "Learning Representations by Back-propagating Errors"
(1986); Goodfellow, Bengio and Courville, "Deep Learning" (2016), section 6.3.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from netwright.core.checks import check_shape, nearest
from netwright.core.errors import UnknownNameError
from netwright.layers.threshold import heaviside


@dataclass(frozen=True, kw_only=True)
class WorkedActivation:
    """An activation and its derivative.

    Args:
        value: phi(z).
        slope: phi'(z), from z and a = phi(z).
    """

    value: Callable[[Tensor], Tensor]
    slope: Callable[[Tensor, Tensor], Tensor]


class ActivationKept(NamedTuple):
    """What the backward pass needs: the activation, what went in and what came out."""

    activation: WorkedActivation
    z: Tensor
    a: Tensor


def normal_share(z: Tensor) -> Tensor:
    """Phi(z), the chance that a standard normal number lies below z."""
    return (1 + torch.erf(z / math.sqrt(2))) / 2


def normal_density(z: Tensor) -> Tensor:
    """Phi'(z), the density of the standard normal."""
    return torch.exp(-z.square() / 2) / math.sqrt(2 * math.pi)


LEAK = 0.01  # the slope of the leaky ReLU below zero

WORKED = {
    "identity": WorkedActivation(value=lambda z: z, slope=lambda z, a: torch.ones_like(z)),
    "sigmoid": WorkedActivation(value=torch.sigmoid, slope=lambda z, a: a * (1 - a)),
    "tanh": WorkedActivation(value=torch.tanh, slope=lambda z, a: 1 - a.square()),
    "relu": WorkedActivation(value=lambda z: z.clamp(min=0), slope=lambda z, a: heaviside(z)),
    "leaky-relu": WorkedActivation(
        value=lambda z: torch.where(z > 0, z, LEAK * z),
        slope=lambda z, a: LEAK + (1 - LEAK) * heaviside(z),
    ),
    "elu": WorkedActivation(
        value=lambda z: torch.where(z > 0, z, torch.expm1(z)),
        slope=lambda z, a: torch.where(z > 0, 1.0, a + 1),
    ),
    "gelu": WorkedActivation(
        value=lambda z: z * normal_share(z),
        slope=lambda z, a: normal_share(z) + z * normal_density(z),
    ),
    "silu": WorkedActivation(
        value=lambda z: z * torch.sigmoid(z),
        slope=lambda z, a: a + torch.sigmoid(z) * (1 - a),
    ),
    "softplus": WorkedActivation(
        value=lambda z: torch.logaddexp(z, torch.zeros_like(z)),
        slope=lambda z, a: torch.sigmoid(z),
    ),
    "hard-tanh": WorkedActivation(
        value=lambda z: z.clamp(-1, 1), slope=lambda z, a: heaviside(1 - z.abs())
    ),
    "step": WorkedActivation(value=heaviside, slope=lambda z, a: torch.zeros_like(z)),
}


def activation_forward(name: str, z: Tensor) -> tuple[Tensor, ActivationKept]:
    """The value a = phi(z), and what its backward pass needs."""
    if name not in WORKED:
        raise UnknownNameError(f"unknown activation {name!r}{nearest(name, WORKED)}")
    activation = WORKED[name]
    a = activation.value(z)
    return a, ActivationKept(activation, z, a)


def activation_backward(kept: ActivationKept, delta: Tensor) -> Tensor:
    """dR/dz from delta = dR/da: delta * phi'(z)."""
    check_shape("delta", delta, *kept.z.shape)
    return delta * kept.activation.slope(kept.z, kept.a)
