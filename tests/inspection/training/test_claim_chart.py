"""The chart of a claim: what is drawn, in which style, and what has no place on its axes."""

import math

import numpy as np
import pytest
from matplotlib.colors import to_hex

from netwright.inspection.drawing.figure_style import INK, colour_of
from netwright.inspection.training.claim_chart import ClaimChart, Series, line, measured, predicted


def chart(*series: Series, **settings: object) -> ClaimChart:
    return ClaimChart(
        x_label="steps",
        y_label="loss",
        series=series,
        explanation="It falls.",
        **settings,  # type: ignore[arg-type]
    )


def test_predictions_are_dashed_in_ink_and_measurements_are_dots() -> None:
    view = chart(predicted("bound", [1, 2], [3, 4]), measured("seen", [1, 2], [3, 5]))
    (axes,) = view.plot().axes
    bound, seen = axes.lines
    assert (bound.get_linestyle(), to_hex(bound.get_color())) == ("--", INK)
    assert (seen.get_linestyle(), seen.get_marker()) == ("None", "o")
    assert np.asarray(seen.get_ydata()).tolist() == [3, 5]
    assert axes.get_legend_handles_labels()[1] == ["bound", "seen"]
    assert (axes.get_xlabel(), axes.get_ylabel(), view.caption) == ("steps", "loss", "It falls.")


def test_predictions_lie_above_the_dots_that_would_hide_them() -> None:
    view = chart(predicted("bound", [1, 2], [3, 4]), measured("seen", [1, 2], [3, 4]))
    bound, seen = view.plot().axes[0].lines
    assert bound.get_zorder() > seen.get_zorder()


def test_of_several_predictions_each_has_the_colour_of_its_measurement() -> None:
    view = chart(
        predicted("a", [1, 2], [1, 2]),
        predicted("b", [1, 2], [2, 3]),
        measured("a seen", [1], [1]),
        measured("b seen", [1], [2]),
    )
    colours = [to_hex(drawn.get_color()).upper() for drawn in view.plot().axes[0].lines]
    assert colours == [colour_of(0), colour_of(1), colour_of(0), colour_of(1)]


def test_one_predicted_number_is_a_line_across() -> None:
    (axes,) = chart(predicted("limit", [0], [10.0]), line("seen", [0, 1], [1, 2])).plot().axes
    assert np.asarray(axes.lines[0].get_ydata()).tolist() == [10.0, 10.0]


@pytest.mark.parametrize("log", ["", "y", "xy"])
def test_what_has_no_place_on_the_axes_is_left_out(log: str) -> None:
    view = chart(line("seen", [0, 1, 2, 3], [1, math.inf, -1, 2]), log=log)
    x, y = view.plot().axes[0].lines[0].get_data()
    kept = {"": ([0, 2, 3], [1, -1, 2]), "y": ([0, 3], [1, 2]), "xy": ([3], [2])}
    assert (np.asarray(x).tolist(), np.asarray(y).tolist()) == kept[log]


def test_names_stand_where_there_are_no_numbers() -> None:
    view = chart(
        predicted("wanted", [0, 1], [1, 2]),
        measured("seen", [0, 1], [1, 2], [(0.5, 1.5), (1.5, 2.5)]),
        categories=("plain", "with momentum"),
    )
    figure = view.plot()
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.get_xticklabels()] == ["plain", "with momentum"]
    # Below the axes, with a short line for the prediction: nothing there looks like data.
    assert axes.get_legend() is None
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["wanted", "seen"]
    assert to_hex(legend.get_lines()[0].get_color()) == INK


def test_error_bars_reach_from_low_to_high() -> None:
    view = chart(measured("seen", [1.0], [2.0], [(1.5, 4.0)]))
    (segment,) = view.plot().axes[0].collections[0].get_segments()  # type: ignore[attr-defined]
    assert segment[:, 1].tolist() == [1.5, 4.0]
