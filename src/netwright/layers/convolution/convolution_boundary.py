"""What a convolution sees beyond the ends of its signal: zeros, the other end, or nothing.

All boundaries are one sum with different numbers. With `before` values in front of the signal,

    out[k] = sum_i w[i] x[k + i - before],   k = 0 .. n + before + after - m,

where x repeats with a period P: the length n on a circle, and with zeros a circle of n + m - 1
places, so long that its two ends never meet in one window.

Shapes: n length of the signal, m of the kernel, a number for each of one or two dimensions.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.core.checks import nearest
from netwright.core.errors import ShapeError, UnknownNameError

# Values in front of the signal and behind it, for a kernel of m values.
BOUNDARIES: dict[str, Callable[[int], tuple[int, int]]] = {
    "full": lambda m: (m - 1, m - 1),
    "valid": lambda _: (0, 0),
    "same": lambda m: (m // 2, (m - 1) // 2),
    "circular": lambda m: (0, m - 1),
}


@dataclass(frozen=True, kw_only=True)
class Frame:
    """Where the windows of a cross-correlation lie, dimension by dimension.

    Args:
        before: values in front of the signal.
        size: of the output, n + before + after - m + 1.
        period: after how many places the signal, with zeros behind it, repeats.
    """

    before: tuple[int, ...]
    size: tuple[int, ...]
    period: tuple[int, ...]

    def extended(self, values: Tensor) -> Tensor:
        """A signal or a kernel with the zeros behind it that fill one period."""
        return zeros_behind(values, self.period)

    def around(self, signal: Tensor, kernel_shape: Sequence[int]) -> Tensor:
        """The signal and what surrounds it: all that the windows see."""
        framed = self.extended(signal)
        for dim, size in enumerate(self.size):
            places = torch.arange(size + kernel_shape[dim] - 1, device=signal.device)
            framed = framed.index_select(dim, (places - self.before[dim]) % self.period[dim])
        return framed


def zeros_behind(values: Tensor, shape: Sequence[int]) -> Tensor:
    """The values at the start of a larger array of zeros."""
    lacking = [wanted - size for wanted, size in zip(shape, values.shape, strict=True)]
    return F.pad(values, [width for lack in reversed(lacking) for width in (0, lack)])


def correlation_frame(
    signal_shape: Sequence[int], kernel_shape: Sequence[int], boundary: str
) -> Frame:
    """The frame of a cross-correlation: on a circle the first window starts at the first value."""
    _check_fit(signal_shape, kernel_shape, boundary)
    margins = [BOUNDARIES[boundary](m) for m in kernel_shape]
    sizes = list(zip(signal_shape, kernel_shape, strict=True))
    return Frame(
        before=tuple(before for before, _ in margins),
        size=tuple(n - m + 1 + sum(ends) for (n, m), ends in zip(sizes, margins, strict=True)),
        period=tuple(n if boundary == "circular" else n + m - 1 for n, m in sizes),
    )


def convolution_frame(
    signal_shape: Sequence[int], kernel_shape: Sequence[int], boundary: str
) -> Frame:
    """The frame of a convolution, which is the cross-correlation with the flipped kernel.

    On a circle its first window ends at the first value: out[0] has w[0] x[0].
    """
    frame = correlation_frame(signal_shape, kernel_shape, boundary)
    if boundary != "circular":
        return frame
    return Frame(before=tuple(m - 1 for m in kernel_shape), size=frame.size, period=frame.period)


def _check_fit(signal_shape: Sequence[int], kernel_shape: Sequence[int], boundary: str) -> None:
    """Refuse unknown boundaries, unequal dimensions, and kernels that are too large."""
    if boundary not in BOUNDARIES:
        hint = nearest(boundary, BOUNDARIES) or f"; there are {', '.join(BOUNDARIES)}"
        raise UnknownNameError(f"unknown boundary {boundary!r}{hint}")
    shapes = f"got shapes {tuple(signal_shape)} and {tuple(kernel_shape)}"
    if len(signal_shape) != len(kernel_shape) or len(signal_shape) not in (1, 2):
        raise ShapeError(f"signal and kernel must both have one dimension or both two, {shapes}")
    if not all((*signal_shape, *kernel_shape)):
        raise ShapeError(f"signal and kernel must not be empty, {shapes}")
    is_larger = any(m > n for n, m in zip(signal_shape, kernel_shape, strict=True))
    if boundary in ("valid", "circular") and is_larger:
        raise ShapeError(f"a {boundary} kernel must not be larger than its signal, {shapes}")
