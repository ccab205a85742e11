"""A look at a network on a grid: which region each cell is in, and that it is affine there.

Within a region the answer in the middle between two cells is the mean of theirs, but for rounding.
It is measured at cells that are 2, 4, 8, ... apart: there is more of a bend from afar.

Shapes: G cells along each side of a window on a plane, C outputs.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from netwright.core.errors import DataError
from netwright.core.outputs import logits_of
from netwright.inspection.inside.activation_patterns import activation_patterns
from netwright.inspection.predictions.plane import Plane

MOST_CHECKED = 16  # outputs that are asked whether they are affine
BENT, ROUNDING = 1e-3, 1e-5  # shares of the outputs' spread, and of their size: more is a bend
BATCH = 512


@dataclass(frozen=True, kw_only=True)
class RegionGrid:
    """What a network does on a grid over a window.

    Args:
        low: the lower left corner, (2,).
        high: the upper right one, (2,).
        regions: the number of the region of each cell, (G, G), row by row from below.
        num_regions: how many there are.
        num_units: of the network.
        outputs: of each cell, (G, G, C).
    """

    low: Tensor
    high: Tensor
    regions: Tensor
    num_regions: int
    num_units: int
    outputs: Tensor

    @property
    def classes(self) -> Tensor:
        """The likeliest class of each cell, (G, G)."""
        return self.outputs.argmax(dim=-1)

    def border(self) -> Tensor:
        """The places (P, 2) of cells whose neighbour on the left or below has another class."""
        classes = self.classes
        is_border = torch.zeros_like(classes, dtype=torch.bool)
        is_border[:, 1:] |= classes[:, 1:] != classes[:, :-1]
        is_border[1:] |= classes[1:] != classes[:-1]
        return _places(self.low, self.high, len(classes))[is_border.flatten()]


def measure_region_grid(
    model: nn.Module, plane: Plane, inputs: Tensor, low: Tensor, high: Tensor, cells: int
) -> RegionGrid:
    """Ask at every cell of a window; a network that bends within a region is refused."""
    patterns, outputs, units = _ask(model, plane.lift(_places(low, high, cells)), inputs)
    numbers = {pattern: place for place, pattern in enumerate(dict.fromkeys(patterns))}
    look = RegionGrid(
        low=low,
        high=high,
        regions=torch.tensor([numbers[pattern] for pattern in patterns]).view(cells, cells),
        num_regions=len(numbers),
        num_units=units,
        outputs=outputs.flatten(1).cpu().view(cells, cells, -1),
    )
    if _bends(look):
        raise DataError(
            "linear regions need a piecewise-linear network of ReLU units, this one is not"
        )
    return look


def _places(low: Tensor, high: Tensor, cells: int) -> Tensor:
    """The middles (G * G, 2) of the cells of a window, row by row from below."""
    middles = (torch.arange(cells, dtype=torch.float64)[:, None] + 0.5) / cells
    across, up = (low + (high - low) * middles).unbind(1)
    return torch.cartesian_prod(up, across).flip(1)


def _ask(model: nn.Module, flat: Tensor, like: Tensor) -> tuple[list[bytes], Tensor, int]:
    """Of each place (M, F) its pattern and outputs (M, C), and how many units there are."""
    parts = torch.split(flat.view(-1, *like.shape[1:]).to(like), BATCH)
    # Convolutions on a GPU round to ten bits otherwise, which looks like a bend.
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        found = [activation_patterns(model, part) for part in parts]
    digests = [digest for one in found for digest in one.digests]
    return digests, torch.cat([logits_of(one.output) for one in found]), found[0].num_units


def _bends(look: RegionGrid) -> bool:
    """Whether some answer between two cells of a region is not the mean of theirs."""
    outputs = look.outputs[..., :MOST_CHECKED].double()
    most = BENT * (outputs.amax() - outputs.amin()) + ROUNDING * outputs.abs().amax()
    strides = [2**power for power in range(10) if 2 ** (power + 1) < len(look.regions)]
    along = ((look.regions, outputs), (look.regions.T, outputs.transpose(0, 1)))
    return any(
        bool((_bend(values, stride) > most)[_is_one_region(regions, stride)].any())
        for regions, values in along
        for stride in strides
    )


def _bend(values: Tensor, stride: int) -> Tensor:
    """How far cells (G, G, C) in a row are from the mean of two that are `stride` away."""
    first, middle, last = _triples(values, stride)
    return (middle - (first + last) / 2).abs()


def _is_one_region(regions: Tensor, stride: int) -> Tensor:
    first, middle, last = _triples(regions, stride)
    return (first == middle) & (middle == last)


def _triples(grid: Tensor, stride: int) -> tuple[Tensor, Tensor, Tensor]:
    """Cells in a row, those `stride` further and those twice as far."""
    return grid[:, : -2 * stride], grid[:, stride:-stride], grid[:, 2 * stride :]
