"""A locally connected layer: a convolution whose kernel is another one at every place.

It suits images in which things have their place, as in centred faces. Without sharing there are k
weights for each of n places, k n instead of k, and a shifted image gives another answer.

Shapes: B batch, C channels in, O channels out, I x J image, P x Q places, h x w kernel.
Source: LeCun, "Generalization and Network Design Strategies" (1989), section 5.2.
"""

import math

import torch
from torch import Tensor, nn

from netwright.core.checks import check_positive, check_shape
from netwright.layers.convolution.unfolded_convolution import output_size, windows


class LocallyConnected2d(nn.Module):
    """y_opq = b_opq + sum_chw W_ocpqhw x_c(p s + h)(q s + w).

    Args:
        in_channels: C.
        out_channels: O.
        image_size: (I, J), the one size of image that it takes.
        kernel_size: (h, w), or one number for both.
        stride: s, places from one window to the next.
        bias: whether there is one, a value for each channel and place.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        image_size: tuple[int, int],
        kernel_size: int | tuple[int, int],
        *,
        stride: int = 1,
        bias: bool = True,
    ) -> None:
        super().__init__()
        check_positive("in_channels", in_channels)
        check_positive("out_channels", out_channels)
        kernel = (kernel_size, kernel_size) if isinstance(kernel_size, int) else kernel_size
        sizes = zip(image_size, kernel, strict=True)
        places = [output_size(size, length, stride=stride) for size, length in sizes]
        self.in_channels, self.image_size = in_channels, image_size
        self.kernel_size, self.stride = kernel, stride
        self.weight = nn.Parameter(torch.empty(out_channels, in_channels, *places, *kernel))
        self.bias = nn.Parameter(torch.empty(out_channels, *places)) if bias else None
        bound = 1 / math.sqrt(in_channels * math.prod(kernel))  # torch's, for its own layers
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -bound, bound)

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, I, J) -> (B, O, P, Q)."""
        check_shape("x", x, "B", self.in_channels, *self.image_size)
        seen = windows(x, self.kernel_size, self.stride)  # (B, C, P, Q, h, w)
        out = torch.einsum("bcpqhw,ocpqhw->bopq", seen, self.weight)
        return out if self.bias is None else out + self.bias

    def extra_repr(self) -> str:
        """The settings, as torch prints its own layers."""
        return (
            f"{self.in_channels}, {len(self.weight)}, image_size={self.image_size}, "
            f"kernel_size={self.kernel_size}, stride={self.stride}, bias={self.bias is not None}"
        )
