"""A look at regions: borders are where they are, and a network that bends within one is refused."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from netwright.core.errors import DataError
from netwright.inspection.inside.region_grid import RegionGrid, measure_region_grid
from netwright.inspection.predictions.plane import plane_through
from tests.repetition import for_each

SQUARE = torch.tensor([[-1.0, -1], [-1, 1], [1, -1], [1, 1]])
SENTENCE = "^linear regions need a piecewise-linear network of ReLU units, this one is not$"


class Bending(nn.Module):
    """A function between two layers, and ReLU units after it."""

    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.last, self.function = nn.Linear(2, 8), nn.Linear(8, 2), function

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.last(torch.relu(self.function(self.first(x))))
        return out


def look(model: nn.Module, cells: int = 60) -> RegionGrid:
    plane = plane_through(SQUARE.double())
    low, high = SQUARE.double().amin(dim=0), SQUARE.double().amax(dim=0)
    return measure_region_grid(model, plane, SQUARE, low, high, cells)


BENT: dict[str, Callable[[Tensor], Tensor]] = {
    "square": lambda h: h * h,
    "mish": functional.mish,
    "hardswish": functional.hardswish,
    "sine": torch.sin,
    "share": lambda h: h / (1 + h.abs()),
    "unseen pieces": lambda h: h.clamp(min=0.2),
}


@for_each("bent", list(BENT))
@for_each("cells", [20, 100])
def test_a_network_that_bends_within_a_region_is_refused(bent: str, cells: int) -> None:
    with pytest.raises(DataError, match=SENTENCE):
        look(Bending(BENT[bent]), cells)


STRAIGHT: dict[str, Callable[[Tensor], Tensor]] = {
    "nothing": lambda h: h,
    "leaky": functional.leaky_relu,
    "relu6": functional.relu6,
    "large": lambda h: 1e4 * h,
    "far": lambda h: h + 1e3,
}


@for_each("straight", list(STRAIGHT))
@for_each("cells", [2, 20, 100])
def test_a_network_of_pieces_is_none_of_these(straight: str, cells: int) -> None:
    assert look(Bending(STRAIGHT[straight]), cells).num_units >= 8


def test_borders_are_where_the_likeliest_class_changes() -> None:
    units = nn.Linear(2, 2)
    with torch.no_grad():
        units.weight.copy_(torch.tensor([[1.0, 0], [-1, 0]]))
        units.bias.copy_(torch.tensor([-0.4, 0.4]))
    # relu(x - 0.4) is above relu(0.4 - x) from 0.4 on
    border = look(nn.Sequential(units, nn.ReLU()), cells=10).border()
    assert border.shape == (10, 2)
    assert border[:, 0].tolist() == pytest.approx([0.5] * 10)  # the first cell beyond
