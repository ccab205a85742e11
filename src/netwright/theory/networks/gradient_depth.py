r"""Gradients on their way back through a network, layer by layer: measured, and in the mean field.

With weights of mean 0 and variance s^2 the n inputs of a unit add up to nearly a normal number, so
that the pre-activations of layer l are z_l ~ N(0, v_l), and a gradient d_l with respect to them is

    |d_l| / |d_{l+1}| = s sqrt(n E[phi'(z_l)^2]),    v_1 = n s^2,    v_{l+1} = n s^2 E[phi(z_l)^2].

It is exact for infinitely many units, and wrong by the order of 1/n.

Shapes: B inputs, n units of every layer, L hidden layers, S networks.
Source: Schoenholz et al., "Deep Information Propagation" (2017).
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from netwright.core.seeding import derive_seed, generator, seeded
from netwright.data.spec import DataSpec
from netwright.layers.activations import build_activation
from netwright.models.mlp import MLP, MLPConfig
from netwright.theory.verdict import Interval, estimate_ratio

INPUTS = 16
NODES = 100  # of the quadrature


def build_deep_net(width: int, depth: int, *, activation: str, initializer: str, seed: int) -> MLP:
    """An MLP of one output and as many inputs as a layer has units, in float64."""
    config = MLPConfig(
        hidden=(width,) * depth, activation=activation, initializer=initializer, dropout=0.0
    )
    spec = DataSpec(inputs="features", input_shape=(width,), target="real", num_outputs=1)
    with seeded(derive_seed(seed, "net")):
        return MLP.build(config, spec).double()


def gradient_norms(net: MLP, seed: int, *, centred: bool = False) -> Tensor:
    """The lengths of the gradients of the output by the pre-activations of each layer, (L).

    Args:
        net: the network.
        seed: of its standard normal inputs.
        centred: whether the inputs of each example have their mean taken off.
    """
    width = net.spec.num_features
    x = torch.randn(INPUTS, width, generator=generator(seed, "inputs"), dtype=torch.float64)
    if centred:
        x = x - x.mean(1, keepdim=True)
    before: list[Tensor] = []
    for layer in net.hidden:
        affine, activation = layer.children()
        before.append(affine(x))
        x = activation(before[-1])
    slopes = torch.autograd.grad(net.head(x).sum(), before)
    return torch.stack([slope.norm() for slope in slopes])


def relative_norms(
    width: int,
    depth: int,
    *,
    activation: str,
    initializer: str,
    seeds: Sequence[int],
    centred: bool = False,
) -> Tensor:
    """|d_l| / |d_L| of several networks, (S, L)."""
    norms = torch.stack(
        [
            gradient_norms(
                build_deep_net(
                    width, depth, activation=activation, initializer=initializer, seed=seed
                ),
                seed,
                centred=centred,
            )
            for seed in seeds
        ]
    )
    return norms / norms[:, -1:]


def mean_field_norms(width: int, depth: int, activation: str, std: float) -> Tensor:
    """|d_l| / |d_L| as the mean field has it, for weights of mean 0, (L)."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    places = torch.from_numpy(nodes)
    shares = torch.from_numpy(weights / weights.sum())
    phi, gain = build_activation(activation), width * std**2
    variance, factors = gain, []
    for _ in range(depth - 1):
        z = (math.sqrt(variance) * places).requires_grad_()
        value = phi(z)
        (slope,) = torch.autograd.grad(value.sum(), z)
        factors.append(gain * float(shares @ slope.square()))
        variance = gain * float(shares @ value.detach().square())
    squares = torch.tensor([*factors, 1.0], dtype=torch.float64)
    return squares.flip(0).cumprod(0).flip(0).sqrt()


def factor_per_layer(norms: Tensor) -> Tensor:
    """What a layer leaves of a gradient, the geometric mean over the layers: (..., L) -> (...)."""
    return norms[..., 0].pow(1 / (norms.shape[-1] - 1))


def geometric_mean(values: Tensor) -> tuple[float, Interval]:
    """The geometric mean of S numbers, with the interval of the true one."""
    found = estimate_ratio(values.tolist())
    return found.mean, found.interval
