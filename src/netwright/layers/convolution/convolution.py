"""Convolution and cross-correlation: weighted sums of shifted copies of a signal.

    convolution         (w * x)[k] = sum_i w[i] x[k - i]
    cross-correlation   (w . x)[k] = sum_i w[i] x[k + i]

The second is what neural networks call a convolution. It is the first with a flipped kernel, and
unlike the first it does not commute.

Shapes: n length of the signal, m of the kernel, a number for each of one or two dimensions. The
output has n + m - 1 values ("full"), n - m + 1 ("valid"), or n ("same" and "circular").
"""

from collections.abc import Callable
from itertools import product

import torch
from torch import Tensor

from netwright.core.checks import nearest
from netwright.core.errors import DataError, UnknownNameError
from netwright.layers.convolution.convolution_boundary import (
    Frame,
    convolution_frame,
    correlation_frame,
)
from netwright.layers.convolution.convolution_matrix import correlate_by_matrix
from netwright.layers.convolution.fourier_convolution import correlate_by_fourier
from netwright.layers.convolution.unfolded_convolution import correlate_by_unfolding


def correlate_directly(signal: Tensor, kernel: Tensor, frame: Frame) -> Tensor:
    """The definition: out[k] = sum_i w[i] x[k + i], one value of the kernel at a time."""
    framed = frame.around(signal, kernel.shape)
    out = signal.new_zeros(frame.size)
    for offset in product(*(range(m) for m in kernel.shape)):
        shifted = tuple(slice(i, i + size) for i, size in zip(offset, frame.size, strict=True))
        out = out + kernel[offset] * framed[shifted]
    return out


# Each computes the cross-correlation in a frame; all agree up to rounding.
WAYS: dict[str, Callable[[Tensor, Tensor, Frame], Tensor]] = {
    "direct": correlate_directly,
    "matrix": correlate_by_matrix,
    "fft": correlate_by_fourier,
    "unfolded": correlate_by_unfolding,
}


def correlate(
    signal: Tensor, kernel: Tensor, boundary: str = "full", *, by: str = "direct"
) -> Tensor:
    """sum_i w[i] x[k + i]: how much each window of the signal is like the kernel.

    "same" counts from k - floor(m / 2), as scipy does (numpy only where the kernel is not longer
    than the signal), "full" from k - m + 1, the others from k.

    Args:
        signal: x, one dimension or two.
        kernel: w, of as many dimensions.
        boundary: "full", "valid", "same" (all with zeros outside) or "circular".
        by: "direct", "matrix", "fft" or "unfolded": how it is computed.
    """
    _check_call(signal, kernel, by)
    return WAYS[by](signal, kernel, correlation_frame(signal.shape, kernel.shape, boundary))


def convolve(
    signal: Tensor, kernel: Tensor, boundary: str = "full", *, by: str = "direct"
) -> Tensor:
    """sum_i w[i] x[k - i]: each value of the signal spread out as a copy of the kernel.

    "valid" and "same" are the middle of "full", as scipy cuts it (for kernels longer than the
    signal numpy cuts "same" otherwise); "circular" starts where "full" does.

    Args:
        signal: x, one dimension or two.
        kernel: w, of as many dimensions.
        boundary: "full", "valid", "same" (all with zeros outside) or "circular".
        by: "direct", "matrix", "fft" or "unfolded": how it is computed.
    """
    _check_call(signal, kernel, by)
    flipped = kernel.flip(tuple(range(kernel.ndim)))
    return WAYS[by](signal, flipped, convolution_frame(signal.shape, kernel.shape, boundary))


def _check_call(signal: Tensor, kernel: Tensor, by: str) -> None:
    """Refuse unknown ways, and what is not numbers that can be multiplied as they are."""
    if by not in WAYS:
        hint = nearest(by, WAYS) or f"; there are {', '.join(WAYS)}"
        raise UnknownNameError(f"unknown way {by!r}{hint}")
    if not isinstance(signal, Tensor) or not isinstance(kernel, Tensor):
        kinds = f"{type(signal).__name__} and {type(kernel).__name__}"
        raise DataError(f"signal and kernel must be tensors, got {kinds}")
    if signal.dtype != kernel.dtype or not signal.is_floating_point():
        raise DataError(
            "signal and kernel must be floating-point numbers of one type, "
            f"got {signal.dtype} and {kernel.dtype}"
        )
    if by == "fft" and signal.dtype not in {torch.float32, torch.float64}:
        raise DataError(f"fft needs numbers of float32 or float64, got {signal.dtype}")
