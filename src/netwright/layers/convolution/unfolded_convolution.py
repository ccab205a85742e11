"""Convolution as one matrix product: every window becomes a column (im2col).

The layer of neural networks is a cross-correlation that is summed over the input's channels, with
a kernel for each pair of an output and an input channel. Groups of channels that do not see each
other, and kernels of 1 x 1, which mix channels place by place, are cases of it.

Shapes: B batch, C channels in, O channels out, g groups, n places in, k values of a kernel along
a dimension, one dimension or two.
Source: Chellapilla, Puri and Simard, "High Performance Convolutional Neural Networks for Document
Processing" (2006).
"""

from math import prod

import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.core.checks import check_not_negative, check_positive, check_shape
from netwright.core.errors import ShapeError
from netwright.layers.convolution.convolution_boundary import Frame


def output_size(size: int, kernel: int, padding_total: int = 0, stride: int = 1) -> int:
    """floor((n - k + p + s) / s), with the padding p of both sides together."""
    check_positive("kernel", kernel)
    check_not_negative("padding_total", padding_total)
    check_positive("stride", stride)
    if kernel > size + padding_total:
        raise ShapeError(
            f"a kernel of {kernel} must fit into the padded size, got {size} + {padding_total}"
        )
    return (size - kernel + padding_total + stride) // stride


def windows(x: Tensor, kernel_size: tuple[int, ...], stride: int = 1) -> Tensor:
    """All windows of x (B, C, n ...): (B, C, windows along each dimension ..., k ...)."""
    for dim, kernel in enumerate(kernel_size, start=2):
        x = x.unfold(dim, kernel, stride)
    return x


def conv_layer(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    stride: int = 1,
    padding: int = 0,
    groups: int = 1,
) -> Tensor:
    """y_o = b_o + sum_c W_oc x_c, each product a valid cross-correlation.

    Args:
        x: (B, C, n) or (B, C, n, n).
        weight: (O, C / g, k) or (O, C / g, k, k).
        bias: (O,), or None.
        stride: places from one window to the next.
        padding: zeros at each end.
        groups: g; the channels of a group see one another only.
    """
    size = layer_output_size(x, weight, stride=stride, padding=padding, groups=groups)
    kernel_size = tuple(weight.shape[2:])
    seen = windows(F.pad(x, [padding, padding] * len(size)), kernel_size, stride)
    columns = seen.reshape(len(x), groups, weight.shape[1], prod(size), prod(kernel_size))
    columns = columns.transpose(3, 4).flatten(2, 3)  # (B, g, C / g * k ..., places)
    kernels = weight.reshape(groups, len(weight) // groups, -1)  # (g, O / g, C / g * k ...)
    out = torch.matmul(kernels, columns).reshape(len(x), len(weight), *size)
    if bias is None:
        return out
    check_shape("bias", bias, len(weight))
    return out + bias.view(-1, *[1] * len(size))


def layer_output_size(
    x: Tensor, weight: Tensor, *, stride: int, padding: int, groups: int
) -> list[int]:
    """The places along each dimension; what does not fit together is refused."""
    check_positive("groups", groups)
    check_not_negative("padding", padding)
    if x.ndim != weight.ndim or x.ndim not in (3, 4):
        raise ShapeError(
            "x and weight must be (B, C, n) and (O, C, k), or (B, C, n, n) and (O, C, k, k), "
            f"got shapes {tuple(x.shape)} and {tuple(weight.shape)}"
        )
    if x.shape[1] != weight.shape[1] * groups:
        raise ShapeError(
            f"kernels of {weight.shape[1]} channels in {groups} groups need "
            f"{weight.shape[1] * groups} input channels, got {x.shape[1]}"
        )
    if len(weight) % groups:
        raise ShapeError(f"output channels must divide into {groups} groups, got {len(weight)}")
    sizes = zip(x.shape[2:], weight.shape[2:], strict=True)
    return [output_size(n, k, 2 * padding, stride) for n, k in sizes]


def correlate_by_unfolding(signal: Tensor, kernel: Tensor, frame: Frame) -> Tensor:
    """The cross-correlation of one channel: a layer on the signal and what surrounds it."""
    framed = frame.around(signal, kernel.shape)
    return conv_layer(framed[None, None], kernel[None, None])[0, 0]
