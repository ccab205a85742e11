"""How images lie in memory: channel after channel, or the channels of a pixel side by side.

Tensor cores read the channels of a pixel together, so in half precision on CUDA convolutions of
the second kind need no reordering. Values are the same either way, up to the order of sums.
"""

import torch
from torch import Tensor, nn

from netwright.train.precision import Precision


def lay_out(
    model: nn.Module, channels_last: bool | None, precision: Precision, device: torch.device
) -> None:
    """Lay the kernels of a model out in place; its images follow them through the layers.

    Args:
        model: whose kernels (out, in, rows, columns).
        channels_last: as asked for; None decides by the two below.
        precision: of the matrix work.
        device: where it is done.
    """
    if is_channels_last(channels_last, precision, device):
        model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]


def is_channels_last(
    channels_last: bool | None, precision: Precision, device: torch.device
) -> bool:
    """As asked for, or where it is quicker."""
    if channels_last is not None:
        return channels_last
    return device.type == "cuda" and precision != "fp32"


def laid_out_like(weight: Tensor, values: Tensor) -> Tensor:
    """The values where the weight lies, in its order in memory: fused kernels read them together.

    Values of another shape (a count of steps) are given back as they are.
    """
    if values.shape != weight.shape or values.stride() == weight.stride():
        return values
    return torch.empty_like(weight, dtype=values.dtype).copy_(values)
