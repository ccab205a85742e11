"""A convolution layer worked by hand: its gradients are convolutions too.

With delta = dR/dy, whose values stand `stride` places apart with zeros between them,

    dR/dW = the padded input, cross-correlated with delta,
    dR/dx = delta, fully convolved with the kernels,
    dR/db = the sum of delta.

The second is also called a transposed convolution: <conv(x), delta> = <x, conv^T(delta)>.

Shapes: B batch, C channels in, O channels out, g groups, n places in, k values of a kernel along
a dimension, one dimension or two.
Source: Dumoulin and Visin, "A guide to convolution arithmetic for deep learning" (2016), chapter 4.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.core.checks import check_shape
from netwright.layers.convolution.unfolded_convolution import conv_layer, layer_output_size


class ConvKept(NamedTuple):
    """What the backward pass needs: the input, the kernels and how the layer was set."""

    x: Tensor
    weight: Tensor
    stride: int
    padding: int
    groups: int


@dataclass(frozen=True, kw_only=True)
class ConvGradients:
    """The gradients by what went into the layer, each of the shape of its tensor."""

    x: Tensor
    weight: Tensor
    bias: Tensor


def conv_forward(
    x: Tensor, weight: Tensor, bias: Tensor, *, stride: int = 1, padding: int = 0, groups: int = 1
) -> tuple[Tensor, ConvKept]:
    """y_o = b_o + sum_c W_oc x_c, each product a valid cross-correlation.

    Args:
        x: (B, C, n) or (B, C, n, n).
        weight: (O, C / g, k) or (O, C / g, k, k).
        bias: (O,).
        stride: places from one window to the next.
        padding: zeros at each end.
        groups: g; the channels of a group see one another only.
    """
    y = conv_layer(x, weight, bias, stride=stride, padding=padding, groups=groups)
    return y, ConvKept(x, weight, stride, padding, groups)


def conv_backward(kept: ConvKept, delta: Tensor) -> ConvGradients:
    """The gradients from delta = dR/dy, of the shape of the layer's output."""
    x, weight, stride, padding, groups = kept
    size = layer_output_size(x, weight, stride=stride, padding=padding, groups=groups)
    check_shape("delta", delta, len(x), len(weight), *size)
    dense = layer_output_size(x, weight, stride=1, padding=padding, groups=groups)
    spread = x.new_zeros(len(x), len(weight), *dense)
    spread[(slice(None), slice(None), *[slice(None, None, stride)] * len(size))] = delta
    return ConvGradients(
        x=_input_gradient(spread, weight, padding, groups),
        weight=_weight_gradient(F.pad(x, [padding, padding] * len(size)), spread, groups),
        bias=delta.transpose(0, 1).flatten(1).sum(dim=1),
    )


def _weight_gradient(padded: Tensor, spread: Tensor, groups: int) -> Tensor:
    """Each pair of channels is correlated; the sum over the batch takes the place of channels."""
    parts = [
        conv_layer(inputs.transpose(0, 1), deltas.transpose(0, 1))  # (C / g, O / g, k ...)
        for inputs, deltas in zip(padded.chunk(groups, 1), spread.chunk(groups, 1), strict=True)
    ]
    return torch.cat(parts, dim=1).transpose(0, 1)


def _input_gradient(spread: Tensor, weight: Tensor, padding: int, groups: int) -> Tensor:
    """A layer from O to C channels with flipped kernels; the gradient of the padding is cut off."""
    grouped = weight.reshape(groups, len(weight) // groups, *weight.shape[1:])
    back = grouped.transpose(1, 2).flatten(0, 1)  # (C, O / g, k ...)
    margins = [k - 1 - padding for k in reversed(weight.shape[2:]) for _ in range(2)]
    return conv_layer(F.pad(spread, margins), back.flip(tuple(range(2, back.ndim))), groups=groups)
