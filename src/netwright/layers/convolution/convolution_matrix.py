"""A convolution as a matrix: one kernel along all diagonals.

Zeros around the signal give a Toeplitz matrix, a circle gives a circulant one; in two dimensions
the blocks lie the same way, for images that are read row by row. Of the n * (n + m - 1) entries of
a full convolution only m are free.

Shapes: n length of the signal, m of the kernel; in two dimensions the numbers of all values.
"""

from collections.abc import Sequence
from math import prod

import torch
from torch import Tensor

from netwright.layers.convolution.convolution_boundary import (
    Frame,
    convolution_frame,
    correlation_frame,
)


def convolution_matrix(
    kernel: Tensor, signal_shape: Sequence[int], boundary: str = "full"
) -> Tensor:
    """H with H f = f * kernel; the first column is the kernel, where the boundary shows it all."""
    frame = convolution_frame(signal_shape, kernel.shape, boundary)
    return framed_matrix(kernel.flip(tuple(range(kernel.ndim))), signal_shape, frame)


def correlation_matrix(
    kernel: Tensor, signal_shape: Sequence[int], boundary: str = "full"
) -> Tensor:
    """H with H f = the cross-correlation of f with the kernel; its rows are shifted kernels."""
    frame = correlation_frame(signal_shape, kernel.shape, boundary)
    return framed_matrix(kernel, signal_shape, frame)


def framed_matrix(kernel: Tensor, signal_shape: Sequence[int], frame: Frame) -> Tensor:
    """H[k, t] = w[t - k + before], with the kernel w on a circle of one period."""
    matrix = frame.extended(kernel)
    for dim, length in enumerate(signal_shape):
        out = torch.arange(frame.size[dim], device=kernel.device)[:, None]
        place = torch.arange(length, device=kernel.device)
        offset = (place - out + frame.before[dim]) % frame.period[dim]
        # A dimension of the kernel gives way to two: where the output is, where the signal is.
        matrix = matrix[(slice(None),) * (2 * dim) + (offset,)]
    rows_first = [*range(0, matrix.ndim, 2), *range(1, matrix.ndim, 2)]
    return matrix.permute(rows_first).reshape(prod(frame.size), prod(signal_shape))


def correlate_by_matrix(signal: Tensor, kernel: Tensor, frame: Frame) -> Tensor:
    """The cross-correlation as one product with a matrix."""
    matrix = framed_matrix(kernel, signal.shape, frame)
    return (matrix @ signal.flatten()).reshape(frame.size)
