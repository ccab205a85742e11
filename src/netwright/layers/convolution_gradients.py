"""Gradients of a convolution layer, worked by hand: they are convolutions too.

With G the gradient of the loss by the output, whose values stand `stride` places apart with zeros
between them,

    dL/dW = the padded input, cross-correlated with G,
    dL/dx = G, fully convolved with the kernels,
    dL/db = the sum of G.

The second is also called a transposed convolution: <conv(x), G> = <x, conv^T(G)>.

Shapes: B batch, C channels in, O channels out, g groups, n places in, k values of a kernel along
a dimension, one dimension or two.
Source: Dumoulin and Visin, "A guide to convolution arithmetic for deep learning" (2016), chapter 4.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.core.checks import check_shape
from netwright.layers.unfolded_convolution import conv_layer, layer_output_size


@dataclass(frozen=True, kw_only=True)
class ConvGradients:
    """The gradients of the loss by what went into the layer, each of the shape of its tensor."""

    x: Tensor
    weight: Tensor
    bias: Tensor


def conv_gradients(
    x: Tensor,
    weight: Tensor,
    output_gradient: Tensor,
    *,
    stride: int = 1,
    padding: int = 0,
    groups: int = 1,
) -> ConvGradients:
    """Backward of `conv_layer(x, weight, bias, ...)`.

    Args:
        x: (B, C, n) or (B, C, n, n).
        weight: (O, C / g, k) or (O, C / g, k, k).
        output_gradient: G, of the shape of the layer's output.
        stride: as in the layer.
        padding: as in the layer.
        groups: as in the layer.
    """
    size = layer_output_size(x, weight, stride=stride, padding=padding, groups=groups)
    check_shape("output_gradient", output_gradient, len(x), len(weight), *size)
    dense = layer_output_size(x, weight, stride=1, padding=padding, groups=groups)
    spread = x.new_zeros(len(x), len(weight), *dense)
    spread[(slice(None), slice(None), *[slice(None, None, stride)] * len(size))] = output_gradient
    return ConvGradients(
        x=_input_gradient(spread, weight, padding, groups),
        weight=_weight_gradient(F.pad(x, [padding, padding] * len(size)), spread, groups),
        bias=output_gradient.transpose(0, 1).flatten(1).sum(dim=1),
    )


def _weight_gradient(padded: Tensor, spread: Tensor, groups: int) -> Tensor:
    """Each pair of channels is correlated; the sum over the batch takes the place of channels."""
    parts = [
        conv_layer(inputs.transpose(0, 1), gradients.transpose(0, 1))  # (C / g, O / g, k ...)
        for inputs, gradients in zip(padded.chunk(groups, 1), spread.chunk(groups, 1), strict=True)
    ]
    return torch.cat(parts, dim=1).transpose(0, 1)


def _input_gradient(spread: Tensor, weight: Tensor, padding: int, groups: int) -> Tensor:
    """A layer from O to C channels with flipped kernels; the gradient of the padding is cut off."""
    grouped = weight.reshape(groups, len(weight) // groups, *weight.shape[1:])
    back = grouped.transpose(1, 2).flatten(0, 1)  # (C, O / g, k ...)
    margins = [k - 1 - padding for k in reversed(weight.shape[2:]) for _ in range(2)]
    return conv_layer(F.pad(spread, margins), back.flip(tuple(range(2, back.ndim))), groups=groups)
