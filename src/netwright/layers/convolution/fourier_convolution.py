"""Convolution by the Fourier transform: sums of shifted copies become products of frequencies.

On a circle the transform of a convolution is the product of the transforms, and that of a
cross-correlation has the kernel's conjugate. It takes O(n log n) operations for any kernel.

Shapes: n length of the signal, m of the kernel, a number for each of one or two dimensions.
Source: Cooley and Tukey, "An Algorithm for the Machine Calculation of Complex Fourier Series"
(1965).
"""

import torch
from torch import Tensor

from netwright.layers.convolution.convolution_boundary import Frame


def correlate_by_fourier(signal: Tensor, kernel: Tensor, frame: Frame) -> Tensor:
    """The inverse transform of F(x) conj(F(w)), turned to where the first window lies."""
    spectrum = torch.fft.rfftn(signal, frame.period) * torch.fft.rfftn(kernel, frame.period).conj()
    lags: Tensor = torch.fft.irfftn(spectrum, frame.period)
    placed = lags.roll(frame.before, tuple(range(signal.ndim)))
    return placed[tuple(slice(size) for size in frame.size)]
