"""Convolution as one matrix product: every window becomes a column (im2col).

The layer of neural networks is a cross-correlation that is summed over the input's channels, with
a kernel for each pair of an output and an input channel. Groups of channels that do not see each
other, and kernels of 1 x 1, which mix channels place by place, are cases of it. With a dilation d
the values of a kernel lie d places apart, so that k of them span d (k - 1) + 1 places.

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

PerAxis = int | tuple[int, ...]  # one number for all dimensions, or one each


def per_axis(name: str, value: PerAxis, dims: int) -> tuple[int, ...]:
    """One number for each of so many dimensions."""
    numbers = (value,) * dims if isinstance(value, int) else tuple(value)
    if len(numbers) != dims:
        raise ShapeError(f"{name} must be one number or {dims}, one a dimension, got {value}")
    return numbers


def output_size(
    size: int, kernel: int, padding_total: int = 0, stride: int = 1, dilation: int = 1
) -> int:
    """floor((n - d (k - 1) - 1 + p + s) / s), with the padding p of both sides together."""
    check_positive("kernel", kernel)
    check_not_negative("padding_total", padding_total)
    check_positive("stride", stride)
    check_positive("dilation", dilation)
    span = dilation * (kernel - 1) + 1
    if span > size + padding_total:
        spread = "" if dilation == 1 else f", {span} places with dilation {dilation},"
        raise ShapeError(
            f"a kernel of {kernel}{spread} must fit into the padded size, "
            f"got {size} + {padding_total}"
        )
    return (size - span + padding_total + stride) // stride


def windows(
    x: Tensor, kernel_size: tuple[int, ...], stride: PerAxis = 1, dilation: PerAxis = 1
) -> Tensor:
    """All windows of x (B, C, n ...): (B, C, windows along each dimension ..., k ...)."""
    strides = per_axis("stride", stride, len(kernel_size))
    dilations = per_axis("dilation", dilation, len(kernel_size))
    for dim, (k, s, d) in enumerate(zip(kernel_size, strides, dilations, strict=True), start=2):
        x = x.unfold(dim, d * (k - 1) + 1, s)[..., ::d]
    return x


def conv_layer(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    stride: PerAxis = 1,
    padding: PerAxis = 0,
    dilation: PerAxis = 1,
    groups: int = 1,
) -> Tensor:
    """y_o = b_o + sum_c W_oc x_c, each product a valid cross-correlation.

    Args:
        x: (B, C, n) or (B, C, n, n).
        weight: (O, C / g, k) or (O, C / g, k, k).
        bias: (O,), or None.
        stride: places from one window to the next.
        padding: zeros at each end.
        dilation: places from one value of a kernel to the next.
        groups: g; the channels of a group see one another only.
    """
    size = layer_output_size(
        x, weight, stride=stride, padding=padding, dilation=dilation, groups=groups
    )
    kernel_size = tuple(weight.shape[2:])
    seen = windows(padded(x, padding), kernel_size, stride, dilation)
    columns = seen.reshape(len(x), groups, weight.shape[1], prod(size), prod(kernel_size))
    columns = columns.transpose(3, 4).flatten(2, 3)  # (B, g, C / g * k ..., places)
    kernels = weight.reshape(groups, len(weight) // groups, -1)  # (g, O / g, C / g * k ...)
    out = torch.matmul(kernels, columns).reshape(len(x), len(weight), *size)
    if bias is None:
        return out
    check_shape("bias", bias, len(weight))
    return out + bias.view(-1, *[1] * len(size))


def padded(x: Tensor, padding: PerAxis) -> Tensor:
    """So many zeros at each end of the dimensions n ... of x (B, C, n ...)."""
    widths = per_axis("padding", padding, x.ndim - 2)
    return F.pad(x, [width for width in reversed(widths) for _ in range(2)])


def layer_output_size(
    x: Tensor,
    weight: Tensor,
    *,
    stride: PerAxis,
    padding: PerAxis,
    dilation: PerAxis,
    groups: int,
) -> list[int]:
    """The places along each dimension; what does not fit together is refused."""
    check_positive("groups", groups)
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
    dims = x.ndim - 2
    paddings = per_axis("padding", padding, dims)
    for width in paddings:
        check_not_negative("padding", width)
    each = (per_axis("stride", stride, dims), per_axis("dilation", dilation, dims))
    sizes = zip(x.shape[2:], weight.shape[2:], paddings, *each, strict=True)
    return [output_size(n, k, 2 * p, s, d) for n, k, p, s, d in sizes]


def correlate_by_unfolding(signal: Tensor, kernel: Tensor, frame: Frame) -> Tensor:
    """The cross-correlation of one channel: a layer on the signal and what surrounds it."""
    framed = frame.around(signal, kernel.shape)
    return conv_layer(framed[None, None], kernel[None, None])[0, 0]
