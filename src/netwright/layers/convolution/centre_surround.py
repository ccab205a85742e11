"""Centre-surround cells: excited by the middle of their field and inhibited by what is around it.

A narrow Gaussian minus a wide one responds to a spot and not to an even field. Several such cells
along a line add up to a filter for lines of one orientation, as the simple cells of the visual
cortex do.

Shapes: k x k filter.
Source: Hubel and Wiesel, "Receptive fields of single neurones in the cat's striate cortex" (1959);
Rodieck, "Quantitative analysis of cat retinal ganglion cell response to visual stimuli" (1965).
"""

import math

import torch
from torch import Tensor

from netwright.core.checks import check_positive
from netwright.core.errors import ConfigError
from netwright.layers.attention.gaussian_window import gaussian_window


def centre_surround(
    size: int,
    centre_width: float,
    surround_width: float,
    centre: tuple[float, float] = (0.0, 0.0),
) -> Tensor:
    """A difference of Gaussians, whose values sum to 0.

    Args:
        size: k.
        centre_width: the standard deviation of the excited middle, in pixels.
        surround_width: that of the inhibited surround, larger.
        centre: (down, right) from the middle of the filter.
    """
    if not surround_width > centre_width:
        raise ConfigError(
            f"the surround must be wider than the centre, got {surround_width} and {centre_width}"
        )
    excited = gaussian_window(size, centre_width, centre)
    return excited - gaussian_window(size, surround_width, centre)


def line_filter(
    size: int, centre_width: float, surround_width: float, *, angle: float, cells: int = 5
) -> Tensor:
    """The mean of centre-surround cells that stand one surround apart on a line.

    Args:
        size: k.
        centre_width: as of a single cell.
        surround_width: as of a single cell.
        angle: of the line, in radians; 0 lies flat, pi / 2 stands upright.
        cells: how many stand on the line.
    """
    check_positive("cells", cells)
    steps = [(cell - (cells - 1) / 2) * surround_width for cell in range(cells)]
    places = [(-step * math.sin(angle), step * math.cos(angle)) for step in steps]  # rows go down
    line = [centre_surround(size, centre_width, surround_width, place) for place in places]
    return torch.stack(line).mean(dim=0)
