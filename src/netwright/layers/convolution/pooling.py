"""Pooling by distance: a mean in which the pixels near the middle of a window count more.

The other kinds are torch's own: `nn.MaxPool2d` and `nn.AvgPool2d` (with a stride below the window
they overlap), `nn.LPPool2d(2, k)` for the L2 norm of a window, `nn.AdaptiveMaxPool2d(2)` for one
value a quadrant of an image of any size, `nn.AdaptiveMaxPool2d(1)` for one value a channel.

Shapes: B batch, C channels, I x J image, P x Q places, k x k window.
"""

from collections.abc import Callable
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from netwright.core.checks import check_positive, check_shape
from netwright.layers.attention.gaussian_window import gaussian_window
from netwright.layers.convolution.unfolded_convolution import output_size


class GaussianPool2d(nn.Module):
    """A weighted mean of each window, the weights a Gaussian around its middle.

    Args:
        kernel_size: k.
        width: the standard deviation of the Gaussian, in pixels.
        stride: places from one window to the next; k where None.
    """

    window: Tensor

    def __init__(self, kernel_size: int, width: float, stride: int | None = None) -> None:
        super().__init__()
        self.kernel_size, self.width = kernel_size, width
        self.stride = kernel_size if stride is None else stride
        check_positive("stride", self.stride)
        window = gaussian_window(kernel_size, width)
        # A table, not a weight: it follows .to(device) and stays out of checkpoints.
        self.register_buffer("window", window.to(torch.get_default_dtype()), persistent=False)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Move to a device or type, where the window is as exact as the type allows."""
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self.window.copy_(gaussian_window(self.kernel_size, self.width))
        return self

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, I, J) -> (B, C, P, Q)."""
        check_shape("x", x, "B", "C", "I", "J")
        for size in x.shape[2:]:
            output_size(size, self.kernel_size)  # refuses an image smaller than the window
        channels = x.shape[1]
        each = self.window.expand(channels, 1, -1, -1)
        return F.conv2d(x, each, stride=self.stride, groups=channels)

    def extra_repr(self) -> str:
        """The settings, as torch prints its own layers."""
        return f"kernel_size={self.kernel_size}, width={self.width}, stride={self.stride}"
