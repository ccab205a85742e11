"""Max pooling that keeps a byte a window: see `pool_kernels.py`; elsewhere torch's.

Shapes: images (B, C, I, J), outputs (B, C, O, P).
"""

from typing import Any

import torch
from torch import Tensor, nn

from netwright.layers.convolution.fused_norm import suits_kernels

MOST_PLACES = 255  # of a window, told apart by a byte


def pooled(pool: nn.Module, x: Tensor) -> Tensor:
    """pool(x), (B, C, O, P); the same bits either way."""
    out: Tensor
    if not has_fused_pooling(pool, x):
        out = pool(x)
        return out
    window: Any = (pool.kernel_size, pool.stride, pool.padding)
    if torch.compiler.is_compiling():
        from netwright.layers.convolution import library_operations  # noqa: PLC0415 - slow to load

        out, _ = library_operations.max_pool(x, *window)
        return out
    from netwright.layers.convolution import pool_operation  # noqa: PLC0415 - needs Triton

    return pool_operation.pool_now(x, *window)


def has_fused_pooling(pool: Any, x: Tensor) -> bool:
    """Whether there is a kernel for these windows: square ones, of whole rows and columns."""
    return (
        type(pool) is nn.MaxPool2d
        and pool.training
        and not (pool.ceil_mode or pool.return_indices)
        and pool.dilation == 1
        and all(isinstance(part, int) for part in (pool.kernel_size, pool.stride, pool.padding))
        and suits_kernels(pool, x)
        and _is_within(x, pool.kernel_size, pool.padding)
    )


def _is_within(x: Tensor, size: Any, padding: Any) -> bool:
    """Whether a window fits into images, and a byte tells its pixels apart."""
    return bool(size**2 <= MOST_PLACES and min(x.shape[2:]) + 2 * padding >= size)
