"""A convolution layer worked by hand: its gradients are convolutions too.

With delta = dR/dy, whose values stand `stride` places apart with zeros between them,

    dR/dW = the padded input, cross-correlated with delta,      at every `dilation`-th place
    dR/dx = delta, fully convolved with the kernels,             dilated as they are
    dR/db = the sum of delta.

The second is also called a transposed convolution: <conv(x), delta> = <x, conv^T(delta)>.

Shapes: B batch, C channels in, O channels out, g groups, n places in, k values of a kernel along
a dimension, one dimension or two.
Source: Dumoulin and Visin, "A guide to convolution arithmetic for deep learning" (2016), chapter 4.
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.core.checks import check_shape
from netwright.layers.convolution.unfolded_convolution import (
    PerAxis,
    conv_layer,
    layer_output_size,
    padded,
    per_axis,
)


class ConvKept(NamedTuple):
    """What the backward pass needs: the input, the kernels and how the layer was set."""

    x: Tensor
    weight: Tensor
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int


@dataclass(frozen=True, kw_only=True)
class ConvGradients:
    """The gradients by what went into the layer, each of the shape of its tensor."""

    x: Tensor
    weight: Tensor
    bias: Tensor


def conv_forward(
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    *,
    stride: PerAxis = 1,
    padding: PerAxis = 0,
    dilation: PerAxis = 1,
    groups: int = 1,
) -> tuple[Tensor, ConvKept]:
    """y_o = b_o + sum_c W_oc x_c, each product a valid cross-correlation.

    Args:
        x: (B, C, n) or (B, C, n, n).
        weight: (O, C / g, k) or (O, C / g, k, k).
        bias: (O,).
        stride: places from one window to the next.
        padding: zeros at each end.
        dilation: places from one value of a kernel to the next.
        groups: g; the channels of a group see one another only.
    """
    y = conv_layer(
        x, weight, bias, stride=stride, padding=padding, dilation=dilation, groups=groups
    )
    dims = x.ndim - 2
    return y, ConvKept(
        x,
        weight,
        stride=per_axis("stride", stride, dims),
        padding=per_axis("padding", padding, dims),
        dilation=per_axis("dilation", dilation, dims),
        groups=groups,
    )


def conv_backward(kept: ConvKept, delta: Tensor) -> ConvGradients:
    """The gradients from delta = dR/dy, of the shape of the layer's output."""
    x, weight, groups = kept.x, kept.weight, kept.groups
    sizes = partial(
        layer_output_size, x, weight, padding=kept.padding, dilation=kept.dilation, groups=groups
    )
    check_shape("delta", delta, len(x), len(weight), *sizes(stride=kept.stride))
    spread = x.new_zeros(len(x), len(weight), *sizes(stride=1))
    spread[(slice(None), slice(None), *(slice(None, None, s) for s in kept.stride))] = delta
    return ConvGradients(
        x=_input_gradient(spread, kept),
        weight=_weight_gradient(padded(x, kept.padding), spread, kept.dilation, groups),
        bias=delta.transpose(0, 1).flatten(1).sum(dim=1),
    )


def _weight_gradient(
    inputs: Tensor, spread: Tensor, dilation: tuple[int, ...], groups: int
) -> Tensor:
    """Each pair of channels is correlated; the sum over the batch takes the place of channels."""
    parts = [
        conv_layer(x.transpose(0, 1), deltas.transpose(0, 1), stride=dilation)
        for x, deltas in zip(inputs.chunk(groups, 1), spread.chunk(groups, 1), strict=True)
    ]
    return torch.cat(parts, dim=1).transpose(0, 1)  # of parts (C / g, O / g, k ...)


def _input_gradient(spread: Tensor, kept: ConvKept) -> Tensor:
    """A layer from O to C channels with flipped kernels; the gradient of the padding is cut off."""
    weight, groups = kept.weight, kept.groups
    grouped = weight.reshape(groups, len(weight) // groups, *weight.shape[1:])
    back = grouped.transpose(1, 2).flatten(0, 1)  # (C, O / g, k ...)
    each = zip(weight.shape[2:], kept.dilation, kept.padding, strict=True)
    margins = [d * (k - 1) - p for k, d, p in reversed(list(each)) for _ in range(2)]
    flipped = back.flip(tuple(range(2, back.ndim)))
    return conv_layer(F.pad(spread, margins), flipped, dilation=kept.dilation, groups=groups)
