"""Centre-surround cells and the line filters that they add up to."""

import math

import pytest
import torch
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.layers.convolution.centre_surround import centre_surround, line_filter
from netwright.layers.convolution.convolution import correlate
from tests.repetition import for_each

SIZE = 25
DOWN, RIGHT = torch.meshgrid(
    *[torch.arange(SIZE, dtype=torch.float64) - SIZE // 2] * 2, indexing="ij"
)


def spot(radius: float) -> Tensor:
    return (DOWN.hypot(RIGHT) <= radius).double()


def bar(angle: float) -> Tensor:
    """Three pixels wide, through the middle."""
    return ((RIGHT * math.sin(angle) + DOWN * math.cos(angle)).abs() <= 1).double()


@pytest.mark.covers("center-surround")
@pytest.mark.parametrize(("centre", "surround"), [(1.0, 2.0), (1.5, 3.0), (2.0, 2.5)])
def test_an_even_field_leaves_it_cold_and_a_spot_of_its_size_moves_it_most(
    centre: float, surround: float
) -> None:
    cell = centre_surround(SIZE, centre, surround)
    even = torch.full((SIZE + 4, SIZE + 4), 7.0, dtype=torch.float64)
    assert correlate(even, cell, "valid").abs().max() < 1e-14
    radii = torch.arange(0.5, 10, 0.5)
    responses = torch.tensor([float((cell * spot(float(radius))).sum()) for radius in radii])
    # The Gaussians are equal where the sign turns: a larger spot reaches into the surround.
    widths = centre**2 * surround**2 / (surround**2 - centre**2)
    turn = math.sqrt(4 * widths * math.log(surround / centre))
    assert float(radii[responses.argmax()]) == pytest.approx(turn, abs=1)
    assert responses.max() > 2 * max(responses[0], responses[-1])


@pytest.mark.covers("hubel-wiesel")
@for_each("angle", [0.0, math.pi / 4, math.pi / 2, 2.5])
def test_cells_on_a_line_select_its_orientation(angle: float) -> None:
    def selectivity(cells: Tensor) -> float:
        along, across = ((cells * bar(a)).sum().relu() for a in (angle, angle + math.pi / 2))
        return float((along - across) / (along + across))

    line = line_filter(SIZE, 1.0, 2.0, angle=angle)
    assert selectivity(line) > 0.5
    assert abs(selectivity(centre_surround(SIZE, 1.0, 2.0))) < 0.1
    assert float(line.sum()) == pytest.approx(0, abs=1e-15)
    turns = [angle + step * math.pi / 12 for step in range(12)]
    responses = [float((line * bar(turn)).sum()) for turn in turns]
    assert responses.index(max(responses)) == 0


def test_a_moved_cell_is_the_same_cell_elsewhere() -> None:
    moved = centre_surround(SIZE, 0.5, 1.0, centre=(2.0, -3.0))
    middle = centre_surround(SIZE, 0.5, 1.0)
    torch.testing.assert_close(moved, middle.roll((2, -3), (0, 1)), rtol=0, atol=1e-15)


def test_a_line_of_one_cell_is_that_cell() -> None:
    assert torch.equal(line_filter(9, 1.0, 2.0, angle=1.0, cells=1), centre_surround(9, 1.0, 2.0))


def test_a_surround_within_the_centre_and_a_line_of_nothing_are_refused() -> None:
    sentence = r"^the surround must be wider than the centre, got 1.0 and 2.0$"
    with pytest.raises(ConfigError, match=sentence):
        centre_surround(9, 2.0, 1.0)
    with pytest.raises(ConfigError, match=r"^cells must be positive, got 0$"):
        line_filter(9, 1.0, 2.0, angle=0.0, cells=0)
