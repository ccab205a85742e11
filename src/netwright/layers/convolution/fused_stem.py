"""The first convolution of a network, of few channels: see `stem_kernels.py`; elsewhere torch's.

Shapes: images (B, C, I, J), outputs (B, O, P, Q).
"""

from functools import cache, partial
from typing import Any

import torch
from torch import Tensor, nn

from netwright.core.kernel_start import can_run
from netwright.layers.convolution.fused_norm import DEVICES, MOST, suits_kernels
from netwright.layers.graph_constant import graph_constant

MOST_TAPS = 256  # numbers under a window
SAFE_TAPS = 64  # whose tiles fit into the memory of any processor


def convolved(layer: nn.Module, x: Tensor) -> Tensor:
    """layer(x), (B, O, P, Q)."""
    rounded = x.to(_format(x))
    out: Tensor
    if not has_fused_stem(layer, rounded):
        out = layer(x)
        return out
    convolution: Any = layer
    given = (rounded, convolution.weight.to(rounded.dtype), *_pace(convolution))
    if torch.compiler.is_compiling():
        from netwright.layers.convolution import library_operations  # noqa: PLC0415 - slow to load

        out = library_operations.convolve_stem(*given)
        return out
    from netwright.layers.convolution import stem_operation  # noqa: PLC0415 - needs Triton

    return stem_operation.convolve_now(*given)


def has_fused_stem(layer: Any, x: Tensor) -> bool:
    """Whether there is a kernel for this convolution of these images, which learn nothing."""
    return (
        type(layer) is nn.Conv2d
        and layer.training
        and layer.in_channels * layer.kernel_size[0] ** 2 <= MOST_TAPS
        and layer.bias is None
        and layer.groups == 1
        and layer.dilation == (1, 1)
        and layer.padding_mode == "zeros"
        and not isinstance(layer.padding, str)
        and all(two[0] == two[1] for two in (layer.kernel_size, layer.stride, layer.padding))
        and not x.requires_grad
        and suits_kernels(layer, x)
        and 0 < _count_outputs(layer, x) < MOST
        and _has_room(x.device, x.dtype, tuple(layer.weight.shape), *_pace(layer))
    )


def _format(x: Tensor) -> torch.dtype:
    """Of the numbers that a convolution of these images multiplies."""
    kind = x.device.type
    is_rounded = kind in DEVICES and torch.is_autocast_enabled(kind)
    return torch.get_autocast_dtype(kind) if is_rounded else x.dtype


def _pace(layer: Any) -> tuple[int, int]:
    return layer.stride[0], layer.padding[0]


def _count_outputs(layer: Any, x: Tensor) -> int:
    (stride, padding), size = _pace(layer), layer.kernel_size[0]
    tall, wide = ((side + 2 * padding - size) // stride + 1 for side in x.shape[2:])
    outputs: int = layer.out_channels * max(0, tall) * max(0, wide)
    return len(x) * outputs


@graph_constant
def _has_room(
    device: torch.device, dtype: torch.dtype, shape: tuple[int, ...], stride: int, padding: int
) -> bool:
    """Whether tiles of so many numbers fit into the memory of a processor: it is tried once."""
    is_safe = shape[1] * shape[2] ** 2 <= SAFE_TAPS
    return is_safe or _runs(device, dtype, shape, stride, padding)


@cache
def _runs(
    device: torch.device, dtype: torch.dtype, shape: tuple[int, ...], stride: int, padding: int
) -> bool:
    return can_run(partial(_try, device, dtype, shape, stride, padding), device)


def _try(
    device: torch.device, dtype: torch.dtype, shape: tuple[int, ...], stride: int, padding: int
) -> None:
    """Convolve an image, both ways."""
    from netwright.layers.convolution.stem_operation import (  # noqa: PLC0415 - see above
        backward_pass,
        forward_pass,
    )

    weight = torch.zeros(shape, device=device, dtype=dtype)
    image = weight[:1].contiguous(memory_format=torch.channels_last)
    y = forward_pass(image, weight, stride, padding)
    backward_pass(y, image, len(weight), shape[-1], stride, padding)
