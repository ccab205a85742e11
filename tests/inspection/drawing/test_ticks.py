"""Names along an axis never touch: flat where they fit, turned or thinned where they do not."""

from itertools import pairwise

import pytest
from matplotlib.axes import Axes

from netwright.inspection.drawing.figure_style import new_figure, styled
from netwright.inspection.drawing.ticks import (
    few_ticks,
    name_ticks,
    names_room,
    percent_ticks,
    whole_ticks,
)
from tests.repetition import slow_but


def axes_of(length: float) -> Axes:
    """Axes of this many inches across and down."""
    figure = new_figure(length, length)
    figure.set_layout_engine("none")
    return figure.add_axes((0.0, 0.0, 1.0, 1.0))


@pytest.mark.parametrize("which", ["x", "y"])
@pytest.mark.parametrize("letters", slow_but([1, 5, 60], [1, 4, 5, 12, 60]))
@pytest.mark.parametrize("count", slow_but([2, 10, 100], [1, 2, 10, 40, 100]))
def test_names_do_not_touch(which: str, letters: int, count: int) -> None:
    with styled():
        axes = axes_of(4.0)
        axes.set(xlim=(-0.5, count - 0.5), ylim=(-0.5, count - 0.5))
        name_ticks(axes, "x" if which == "x" else "y", ["n" * letters] * count, 4.0)
        figure = axes.figure
        figure.draw_without_rendering()  # type: ignore[union-attr]
        labels = axes.get_xticklabels() if which == "x" else axes.get_yticklabels()
        boxes = [label.get_window_extent() for label in labels]
    if which == "x" and labels[0].get_rotation() == 45:
        # Slanted boxes overlap where the words do not: compare the distance across the words.
        gaps = [(b.x1 - a.x1) * 0.5**0.5 for a, b in pairwise(boxes)]
        assert all(gap > labels[0].get_fontsize() for gap in gaps)
    else:
        assert not any(a.overlaps(b) for a, b in pairwise(boxes))


def test_few_short_names_stay_flat_and_whole() -> None:
    with styled():
        axes = axes_of(4.0)
        name_ticks(axes, "x", ["setosa", "versicolor", "virginica"], 4.0)
    labels = axes.get_xticklabels()
    assert [label.get_text() for label in labels] == ["setosa", "versicolor", "virginica"]
    assert [label.get_rotation() for label in labels] == [0.0] * 3


def test_names_stand_at_their_own_places_after_thinning() -> None:
    with styled():
        axes = axes_of(4.0)
        name_ticks(axes, "y", [str(place) for place in range(100)], 4.0)
    places = axes.get_yticks().tolist()
    assert [label.get_text() for label in axes.get_yticklabels()] == [f"{p:.0f}" for p in places]
    assert places[:2] == [0, 5]


@pytest.mark.parametrize(("count", "slant"), [(10, 45.0), (20, 90.0)])
def test_long_names_are_turned_the_more_the_nearer_they_are(count: int, slant: float) -> None:
    with styled():
        axes = axes_of(4.0)
        name_ticks(axes, "x", ["class number"] * count, 4.0)
    assert {label.get_rotation() for label in axes.get_xticklabels()} == {slant}


def test_short_names_are_thinned_and_never_turned() -> None:
    with styled():
        axes = axes_of(4.0)
        name_ticks(axes, "x", [str(place) for place in range(100)], 4.0)
    labels = axes.get_xticklabels()
    assert {label.get_rotation() for label in labels} == {0.0}
    assert [label.get_text() for label in labels[:2]] == ["0", "7"]


def test_room_is_that_of_the_longest_name_as_it_is_shown() -> None:
    assert names_room(["a", "abc"]) == 3 * names_room(["a"])
    assert names_room(["x" * 500]) == names_room(["x" * 18])


def test_shares_are_written_in_percent() -> None:
    with styled():
        axes = axes_of(3.0)
        axes.set_ylim(0, 0.5)
        percent_ticks(axes)
        axes.figure.draw_without_rendering()  # type: ignore[union-attr]
    assert "10 %" in [label.get_text() for label in axes.get_yticklabels()]


def test_counts_have_no_ticks_between() -> None:
    with styled():
        axes = axes_of(3.0)
        axes.set_ylim(0, 2)
        whole_ticks(axes)
    assert axes.get_yticks().tolist() == [0, 1, 2]


def test_numbers_of_many_digits_have_room_between_them() -> None:
    with styled():
        axes = axes_of(3.0)
        axes.set_xlim(0, 0.2)
        few_ticks(axes)
        axes.figure.draw_without_rendering()  # type: ignore[union-attr]
        ends = [label.get_window_extent() for label in axes.get_xticklabels()]
    assert len(ends) >= 3
    assert all(one.x1 + one.height / 2 < other.x0 for one, other in pairwise(ends))
