"""Descent paths: heights on the grid, ends of paths, and the picture."""

import pytest
import torch
from torch import Tensor

from netwright.inspection.training.descent_paths import CELLS, DescentPaths, measure_descent_paths
from tests.inspection.drawn import check_sound, words_on


def bowl(place: Tensor) -> Tensor:
    return place.square().sum(-1)


def view(**paths: list[list[float]]) -> DescentPaths:
    return measure_descent_paths(
        "bowl",
        "x² + y²",
        bowl,
        {name: torch.tensor(places) for name, places in paths.items()},
        minima=[(0.0, 0.0)],
        x_range=(-2.0, 2.0),
        y_range=(-1.0, 3.0),
    )


def test_heights_lie_row_by_row_from_below() -> None:
    heights = view(a=[[1.0, 1.0]]).heights
    assert (len(heights), len(heights[0])) == (CELLS, CELLS)
    assert heights[0][0] == pytest.approx(4 + 1)
    assert heights[-1][0] == pytest.approx(4 + 9)


def test_a_path_ends_at_its_height_and_the_lowest_is_named() -> None:
    shown = view(slow=[[2.0, 1.0], [1.0, 1.0]], quick=[[2.0, 1.0], [0.5, 0.0]])
    assert [descent.value for descent in shown.descents] == [2.0, 0.25]
    assert shown.caption.endswith("After 1 steps quick is lowest, at 0.25.")
    assert "quick: 0.25" in words_on(shown)
    check_sound(shown)


def test_a_path_that_runs_away_is_drawn_as_long_as_it_is_finite() -> None:
    shown = view(wild=[[1.0, 1.0], [5.0, 5.0], [float("inf"), 0.0]])
    assert (len(shown.descents[0].places), shown.descents[0].value) == (2, None)
    assert shown.caption.endswith("All of them diverged.")
    assert "wild: diverged" in words_on(shown)
    check_sound(shown)


def test_a_path_that_ends_above_its_start_ran_away() -> None:
    shown = view(wild=[[1.0, 1.0], [5.0, 5.0]], level=[[1.0, 1.0], [-1.0, 1.0]])
    assert [descent.value for descent in shown.descents] == [None, 2.0]
    assert len(shown.descents[0].places) == 2


def test_the_picture_is_clipped_to_the_part_that_is_shown() -> None:
    (axes,) = view(far=[[1.0, 1.0], [50.0, -50.0]]).plot().axes
    assert (axes.get_xlim(), axes.get_ylim()) == ((-2.0, 2.0), (-1.0, 3.0))
