r"""A dense network of any depth, forward and backward, by hand.

    forward,  l = 1..L:   z_l = W_l x_{l-1} + b_l,    x_l = phi_l(z_l)
    start:                p_L = dR/dx_L
    backward, l = L..1:   delta_l = p_l * phi_l'(z_l)
                          dR/dW_l = delta_l x_{l-1}^T,    dR/db_l = delta_l
                          p_{l-1} = W_l^T delta_l

The co-states p_l = dR/dx_l are the Lagrange multipliers of the constraints x_l = phi_l(W_l x_{l-1}
+ b_l). The forward pass stores L + 1 activations x_0 .. x_L, the backward pass takes L products
with the transposed Jacobian of a layer. The recursion is often printed without its last line; then
p stays what it was at the output, and only W_L and b_L get their gradients.

Shapes: B batch, n_l units of layer l; x_l, z_l, p_l and delta_l are (B, n_l).
Source: Rumelhart, Hinton and Williams (1986), with deltas; LeCun, "A Theoretical Framework for
Back-Propagation" (1988), with co-states.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor

from netwright.backprop.activation_slopes import (
    ActivationKept,
    activation_backward,
    activation_forward,
)
from netwright.backprop.dense import DenseGradients, DenseKept, dense_backward, dense_forward
from netwright.core.errors import ConfigError


class Layer(NamedTuple):
    """W_l (n_l, n_{l-1}), b_l (n_l,) and the name of phi_l."""

    weight: Tensor
    bias: Tensor
    activation: str


class LayerKept(NamedTuple):
    """What the backward pass needs of a layer: x_{l-1} and W_l, then z_l and x_l."""

    dense: DenseKept
    activation: ActivationKept


@dataclass(frozen=True)
class NetworkKept:
    """What the backward pass needs, from the first layer to the last."""

    layers: tuple[LayerKept, ...]

    @property
    def activations(self) -> tuple[Tensor, ...]:
        """x_0 .. x_L."""
        return self.layers[0].dense.x, *(layer.activation.a for layer in self.layers)


@dataclass(frozen=True, kw_only=True)
class NetworkGradients:
    """What the backward pass gives.

    Args:
        layers: dR/dW_l and dR/db_l, from the first layer to the last, beside p_{l-1} as their `x`.
        co_states: p_0 .. p_L.
    """

    layers: tuple[DenseGradients, ...]
    co_states: tuple[Tensor, ...]


def network_forward(x: Tensor, layers: Sequence[Layer]) -> tuple[Tensor, NetworkKept]:
    """x_L (B, n_L) from x = x_0 (B, n_0)."""
    if not layers:
        raise ConfigError("a network must have a layer, got none")
    kept = []
    for layer in layers:
        z, dense = dense_forward(x, layer.weight, layer.bias)
        x, activation = activation_forward(layer.activation, z)
        kept.append(LayerKept(dense, activation))
    return x, NetworkKept(tuple(kept))


def network_backward(kept: NetworkKept, co_state: Tensor) -> NetworkGradients:
    """All gradients from p_L = dR/dx_L, (B, n_L)."""
    gradients: list[DenseGradients] = []
    co_states = [co_state]
    for layer in reversed(kept.layers):
        delta = activation_backward(layer.activation, co_states[-1])
        gradients.append(dense_backward(layer.dense, delta))
        co_states.append(gradients[-1].x)  # the line that is often left out
    return NetworkGradients(layers=tuple(reversed(gradients)), co_states=tuple(reversed(co_states)))
