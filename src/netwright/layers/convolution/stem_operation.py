"""A convolution of few channels as autograd knows it; see `stem_kernels.py`.

Shapes: images (B, C, I, J), weight (O, C, k, k), outputs (B, O, P, Q).
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn.grad import conv2d_weight

from netwright.core.kernel_start import Kernel, tiles, width
from netwright.layers.convolution import stem_kernels

ROWS = 128  # outputs of a tile
WIDEST = 128  # channels of a tile
PARTS = 528  # programs that add up at the same time: four on each of 132 processors


class Convolved(torch.autograd.Function):
    """Of x, weight, stride, padding; x has no gradient."""

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> Tensor:
        """See `forward_pass`."""
        keep(ctx, inputs, None)
        return forward_pass(*inputs)

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> tuple[Any, ...]:
        """See `backward_pass`."""
        return gradients(ctx, dy, _differentiable if torch.is_grad_enabled() else backward_pass)


def convolve_now(x: Tensor, weight: Tensor, stride: int, padding: int) -> Tensor:
    """The output of `forward_pass`, which autograd knows the way back to the weights from."""
    y: Tensor = Convolved.apply(x, weight, stride, padding)  # type: ignore[no-untyped-call]
    return y


def forward_pass(x: Tensor, weight: Tensor, stride: int, padding: int) -> Tensor:
    """The outputs; images and weights have one format."""
    y, size = room(x, weight, stride, padding), weight.shape[-1]
    flat = weight.contiguous(memory_format=torch.channels_last)
    blocks = tiles(y.numel() // len(weight), ROWS)
    _start(stem_kernels.convolve, blocks, (x, flat, y), x, y, (size, stride, padding))
    return y


def backward_pass(
    dy: Tensor, x: Tensor, outputs: int, size: int, stride: int, padding: int
) -> Tensor:
    """The gradient of so many weights of k x k, which is added up in float32."""
    dy, channels = dy.contiguous(memory_format=torch.channels_last), x.shape[1]
    parts = min(PARTS, tiles(dy.numel() // outputs, ROWS))
    sums = dy.new_empty(parts, outputs, _taps(channels, size), dtype=torch.float32)
    _start(stem_kernels.add_up_weights, parts, (dy, x, sums), x, dy, (size, stride, padding))
    slopes = sums.sum(dim=0)[:, : channels * size**2].view(outputs, size, size, channels)
    return slopes.permute(0, 3, 1, 2).to(dy.dtype)


def _differentiable(
    dy: Tensor, x: Tensor, outputs: int, size: int, stride: int, padding: int
) -> Tensor:
    """The same by torch's operation, which can be differentiated once more."""
    shape = (outputs, x.shape[1], size, size)
    slopes: Tensor = conv2d_weight(x, shape, dy, stride, padding)  # type: ignore[no-untyped-call]
    return slopes


def room(x: Tensor, weight: Tensor, stride: int, padding: int) -> Tensor:
    """For the outputs."""
    tall, wide = ((side + 2 * padding - len(weight[0, 0])) // stride + 1 for side in x.shape[2:])
    return torch.empty(
        (len(x), len(weight), tall, wide),
        dtype=x.dtype,
        device=x.device,
        memory_format=torch.channels_last,
    )


def _taps(channels: int, size: int) -> int:
    """Numbers under a window, filled up to what a matrix product takes."""
    return max(16, width(channels * size**2, most=1024))


def _start(
    kernel: Kernel,
    blocks: int,
    tensors: tuple[Tensor, ...],
    x: Tensor,
    y: Tensor,
    window: tuple[int, int, int],
) -> None:
    """Run a kernel over outputs y of images x."""
    (size, stride, padding), channels, outputs = window, x.shape[1], y.shape[1]
    wide = max(16, width(outputs, WIDEST))
    numbers = (y.numel() // outputs, outputs, *x.shape[2:], *y.shape[2:])
    kernel.start(
        (x.device, x.dtype, y.dtype, channels, *numbers, *window),
        (blocks, tiles(outputs, wide)),
        tensors,
        numbers,
        {
            "channels": channels,
            "size": size,
            "stride": stride,
            "padding": padding,
            "taps": _taps(channels, size),
            "row_block": ROWS,
            "column_block": wide,
        },
    )


def keep(ctx: Any, inputs: tuple[Any, ...], output: object) -> None:
    """What the way back needs."""
    x, weight, *pace = inputs
    ctx.window = (len(weight), weight.shape[-1], *pace)
    ctx.save_for_backward(x)


def gradients(ctx: Any, dy: Tensor, slopes: Any) -> tuple[Any, ...]:
    """Of the weight alone."""
    (x,) = ctx.saved_tensors
    return None, slopes(dy, x, *ctx.window), None, None
