"""Hard thresholds: the Heaviside step and the sign, with the value at zero said aloud.

Their slope is 0 wherever they have one: no gradient passes through them.

Source: McCulloch and Pitts (1943) and Rosenblatt (1958), whose units differ at zero.
"""

import torch
from torch import Tensor


def heaviside(z: Tensor, at_zero: float = 0.0) -> Tensor:
    """1 above zero, 0 below it.

    Args:
        z: of any shape.
        at_zero: 0 for a perceptron of outputs 0 and 1; 1 for a McCulloch-Pitts neuron, which fires
            when it reaches its threshold.
    """
    return torch.heaviside(z.detach(), z.new_tensor(at_zero))


def sign(z: Tensor, at_zero: float = 0.0) -> Tensor:
    """+1 above zero, -1 below it.

    Args:
        z: of any shape.
        at_zero: 0 for a perceptron, whose point on the plane is never right; 1 for a Hopfield unit,
            which always takes a side.
    """
    return 2 * heaviside(z, (at_zero + 1) / 2) - 1
