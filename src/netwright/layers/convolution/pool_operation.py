"""Max pooling as autograd knows it; `pool_kernels.py` computes it.

Shapes: images (B, C, I, J), windows of k x k every s pixels, outputs (B, C, O, P).
"""

from typing import Any

import torch
from torch import Tensor

from netwright.core.kernel_start import Kernel, tiles, width
from netwright.layers.convolution import pool_kernels

WIDEST = 128  # channels of a tile
NUMBERS = 4096  # of a tile


class Pooled(torch.autograd.Function):
    """Of x, size, stride, padding."""

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> Tensor:
        """See `forward_pass`."""
        output = forward_pass(*inputs)
        keep(ctx, inputs, output)
        return output[0]

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> tuple[Any, ...]:
        """See `backward_pass`."""
        return gradients(ctx, dy, _differentiable if torch.is_grad_enabled() else backward_pass)


def pool_now(x: Tensor, size: int, stride: int, padding: int) -> Tensor:
    """The output of `forward_pass`, which autograd knows the way back from."""
    y: Tensor = Pooled.apply(x, size, stride, padding)  # type: ignore[no-untyped-call]
    return y


def forward_pass(x: Tensor, size: int, stride: int, padding: int) -> tuple[Tensor, Tensor]:
    """The largest pixel of each window, and its place in it as a byte."""
    y, chosen = rooms(x, size, stride, padding)
    _start(
        pool_kernels.largest,
        y,
        (x, y, chosen),
        (*x.shape[2:], *y.shape[2:]),
        {"size": size, "stride": stride, "padding": padding},
    )
    return y, chosen


def backward_pass(
    dy: Tensor, chosen: Tensor, tall: int, wide: int, size: int, stride: int, padding: int
) -> Tensor:
    """The gradient of images of this size."""
    dy = dy.contiguous(memory_format=torch.channels_last)
    dx = images_like(dy, tall, wide)
    window = {"size": size, "stride": stride, "padding": padding}
    _start(
        pool_kernels.bring_back,
        dx,
        (dy, chosen, dx),
        (tall, wide, *dy.shape[2:]),
        {**window, "reach": tiles(size, stride)},
    )
    return dx


def _differentiable(
    dy: Tensor, chosen: Tensor, tall: int, wide: int, size: int, stride: int, padding: int
) -> Tensor:
    """The same by torch's operations, which can be differentiated once more."""
    rows, columns = (torch.arange(side, device=dy.device) * stride for side in dy.shape[2:])
    place = chosen.long()
    row, column = rows[:, None] - padding + place // size, columns - padding + place % size
    flat = torch.zeros(*dy.shape[:2], tall * wide, dtype=dy.dtype, device=dy.device)
    flat = flat.scatter_add(2, (row * wide + column).flatten(2), dy.flatten(2))
    return flat.view(*dy.shape[:2], tall, wide)


def _start(
    kernel: Kernel,
    over: Tensor,
    tensors: tuple[Tensor, ...],
    sides: tuple[int, ...],
    constants: dict[str, int],
) -> None:
    """Run a kernel over all pixels of a tensor."""
    channels = over.shape[1]
    count, wide = over.numel() // channels, width(channels, WIDEST)
    tall = NUMBERS // wide
    kernel.start(
        (over.device, over.dtype, count, channels, *sides, *constants.values()),
        (tiles(count, tall), tiles(channels, wide)),
        tensors,
        (count, channels, *sides),
        {**constants, "row_block": tall, "column_block": wide},
    )


def keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    """What the way back needs."""
    x, *ctx.window = inputs
    ctx.sides = x.shape[2:]
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(output[1])


def gradients(ctx: Any, dy: Tensor, slopes: Any) -> tuple[Any, ...]:
    """Of the images."""
    return slopes(dy, *ctx.saved_tensors, *ctx.sides, *ctx.window), None, None, None


def rooms(x: Tensor, size: int, stride: int, padding: int) -> tuple[Tensor, Tensor]:
    """For the largest pixels and their places."""
    tall, wide = ((side + 2 * padding - size) // stride + 1 for side in x.shape[2:])
    y = images_like(x, tall, wide)
    return y, torch.empty_like(y, dtype=torch.uint8)


def images_like(like: Tensor, tall: int, wide: int) -> Tensor:
    """Room for images of another size, with their channels together."""
    shape = (*like.shape[:2], tall, wide)
    return torch.empty(
        shape, dtype=like.dtype, device=like.device, memory_format=torch.channels_last
    )
