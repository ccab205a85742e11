"""A window of weights that fall with the distance from a point, as a Gaussian does; their sum is 1.

Shapes: k x k window.
"""

import torch
from torch import Tensor

from netwright.core.checks import check_positive


def gaussian_window(size: int, width: float, centre: tuple[float, float] = (0.0, 0.0)) -> Tensor:
    """exp(-d^2 / (2 width^2)), divided by its sum; d counts pixels from the centre.

    Args:
        size: k.
        width: the standard deviation, in pixels.
        centre: (down, right) from the middle of the window.
    """
    check_positive("size", size)
    check_positive("width", width)
    places = torch.arange(size, dtype=torch.float64) - (size - 1) / 2
    # A product of two softmaxes: the largest weight stays 1 before the division, however narrow.
    down, right = (torch.softmax(-((places - c) ** 2) / (2 * width**2), dim=0) for c in centre)
    return torch.outer(down, right)
