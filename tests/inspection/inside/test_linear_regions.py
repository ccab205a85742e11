"""Regions on a plane: as many as lines make, and those of the XOR network by hand."""

import numpy as np
import pytest
import torch
from torch import nn

from netwright.inspection.inside.linear_regions import (
    MOST_SEEN,
    LinearRegions,
    measure_linear_regions,
    most_seen,
)
from netwright.theory.approximation.linear_regions import most_regions
from tests.inspection.drawn import words_on
from tests.inspection.untouched import untouched
from tests.repetition import for_each

SQUARE = torch.tensor([[-1.0, -1], [-1, 1], [1, -1], [1, 1]])
NAMES = ("left", "right")


def lines(count: int) -> nn.Sequential:
    """Tangents of a small circle: every two of them meet within the square."""
    angles = torch.arange(count) * (torch.pi / count) + 0.3
    units = nn.Linear(2, count)
    with torch.no_grad():
        units.weight.copy_(torch.stack((angles.cos(), angles.sin()), dim=1))
        units.bias.copy_(0.1 * torch.cos(2.1 * torch.arange(count)))
    return nn.Sequential(units, nn.ReLU(), nn.Linear(count, 2))


def shown(model: nn.Module, cells: int = 200, zoom: float = 1.0) -> LinearRegions:
    with untouched(model):
        return measure_linear_regions(
            model,
            SQUARE,
            cells=cells,
            zoom=zoom,
            feature_names=NAMES,
            targets=torch.tensor([0, 1, 1, 0]),
            class_names=("same", "other"),
        )


@for_each("count", [1, 2, 3, 4, 5])
def test_lines_make_as_many_regions_as_they_can(count: int) -> None:
    view = shown(lines(count))
    assert view.num_regions == most_regions(count, 2)  # 1 + n + n (n - 1) / 2
    assert view.num_units == count
    assert len(np.unique(view.regions)) == view.num_regions


def test_a_unit_of_the_first_feature_parts_left_from_right() -> None:
    unit = nn.Linear(2, 1)
    with torch.no_grad():
        unit.weight.copy_(torch.tensor([[1.0, 0.0]]))
        unit.bias.fill_(0.5)  # on from x = -0.5: the last 7 of 10 cells
    view = shown(nn.Sequential(unit, nn.ReLU(), nn.Linear(1, 2)), cells=10)
    assert view.regions == ((0, 0, 0, 1, 1, 1, 1, 1, 1, 1),) * 10


def test_the_xor_network_has_three_stripes() -> None:
    """Units relu(x - y - 1/2) and relu(y - x - 1/2): either, or none, is on."""
    units, head = nn.Linear(2, 2), nn.Linear(2, 2)
    with torch.no_grad():
        units.weight.copy_(torch.tensor([[1.0, -1], [-1, 1]]))
        units.bias.fill_(-0.5)
        head.weight.copy_(torch.tensor([[-1.0, -1], [1, 1]]))
        head.bias.copy_(torch.tensor([0.5, -0.5]))
    view = shown(nn.Sequential(units, nn.ReLU(), head), cells=60)
    assert view.num_regions == 3
    regions, classes = np.array(view.regions), np.array(view.classes)
    low, high = view.frame.x_range
    middles = low + (high - low) * (np.arange(60) + 0.5) / 60
    difference = middles[None, :] - middles[:, None]  # x - y of each cell, row by row from below
    stripes = np.where(difference > 0.5, 2, np.where(difference < -0.5, 0, 1))
    for stripe in range(3):
        assert len(np.unique(regions[stripes == stripe])) == 1
    assert (classes == (np.abs(difference) > 1)).all()


def test_a_closer_window_is_within_the_wider_one() -> None:
    wide, close = shown(lines(3), 20), shown(lines(3), 20, zoom=4.0)
    assert np.ptp(wide.frame.x_range) == pytest.approx(4 * np.ptp(close.frame.x_range))
    assert "4 times closer" in close.caption
    assert "closer" not in wide.caption


def test_a_closer_window_is_about_a_border_and_tells_of_what_is_in_it() -> None:
    unit, head = nn.Linear(2, 1), nn.Linear(1, 2)
    with torch.no_grad():
        unit.weight.copy_(torch.tensor([[1.0, 1.0]]))
        unit.bias.fill_(-1.0)
        head.weight.copy_(torch.tensor([[0.0], [1.0]]))
        head.bias.copy_(torch.tensor([0.1, 0.0]))  # from x + y = 1.1 on it is the second
    corner = nn.Sequential(unit, nn.ReLU(), head)
    close = shown(corner, 30, zoom=64.0)
    assert {index for row in close.classes for index in row} == {0, 1}
    assert (close.points, close.point_classes) == ((), ())
    assert "Thick lines" in close.caption
    assert "Dots" not in close.caption
    assert {"same", "other"}.isdisjoint(words_on(close))  # no legend of dots that are not there
    wide = shown(corner, 30)
    assert "Dots are examples. " in wide.caption
    assert {"same", "other"} <= set(words_on(wide))


def test_without_classes_a_closer_window_is_about_an_example() -> None:
    view = measure_linear_regions(lines(3), SQUARE, cells=9, zoom=16.0, feature_names=NAMES)
    assert len(view.points) == 1
    assert "Thick lines" not in view.caption


def test_inputs_on_a_line_have_a_window_as_high_as_it_is_wide() -> None:
    line = torch.tensor([[-1.0, 0, 0], [1, 0, 0]])
    model = nn.Sequential(nn.Linear(3, 2), nn.ReLU())
    frame = measure_linear_regions(model, line, cells=3).frame
    assert np.ptp(frame.y_range) == pytest.approx(np.ptp(frame.x_range))


def test_features_are_shown_in_their_own_units() -> None:
    units = (torch.tensor([10.0, 20.0]), torch.tensor([2.0, 3.0]))
    view = measure_linear_regions(lines(1), SQUARE, cells=5, feature_names=NAMES, decode=units)
    assert (view.frame.x_name, view.frame.y_name) == NAMES
    assert sum(view.frame.x_range) / 2 == pytest.approx(10)
    assert view.points[0] == (8, 17)
    assert view.classes == ()  # no classes were told of


def test_finer_cells_show_more_regions_until_these_are_specks() -> None:
    assert most_seen(100) == 400
    assert most_seen(180) < most_seen(420) == most_seen(1000) == MOST_SEEN


@pytest.mark.slow
def test_more_features_are_cut_by_a_slice_and_pictures_are_drawn() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(2, 3)
    )
    view = measure_linear_regions(
        model,
        torch.randn(12, 1, 4, 4),
        cells=12,
        targets=torch.arange(12) % 3,
        class_names=("a", "b", "c"),
    )
    assert view.frame.is_slice
    assert view.num_units == 2 * 4 + 2
    assert view.is_crowded
    assert "increase zoom" in view.caption
    assert view.image("png").startswith(b"\x89PNG")
    assert shown(lines(3)).image("png").startswith(b"\x89PNG")
