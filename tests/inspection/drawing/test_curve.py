"""One curve: by epoch a line with points, by step a faint line and a calm one over it."""

from typing import Any

from matplotlib.figure import Figure

from netwright.inspection.drawing.curve import MOST_MARKERS, MOST_POINTS, Curve, draw_curve
from netwright.inspection.drawing.figure_style import SPLIT_COLOURS


def curve(split: str, count: int) -> Curve:
    steps = tuple(range(1, count + 1))
    return Curve(
        split=split,
        name="loss",
        epoch=tuple(step / count for step in steps),
        step=steps,
        samples=steps,
        time=tuple(map(float, steps)),
        value=tuple(1 / step + 0.5 * (step % 2) for step in steps),
    )


def heights(line: Any) -> list[float]:
    return [float(value) for value in line.get_ydata()]


def test_a_split_is_one_line_whose_few_points_are_marked() -> None:
    axes = Figure().subplots()
    assert draw_curve(axes, curve("val", MOST_MARKERS), "epoch") == SPLIT_COLOURS["val"]
    draw_curve(axes, curve("val", MOST_MARKERS + 1), "epoch")
    assert [line.get_marker() for line in axes.lines] == ["o", "None"]


def test_what_is_noted_by_step_is_faint_and_its_means_are_not() -> None:
    axes = Figure().subplots()
    assert draw_curve(axes, curve("step", 200), "step") == SPLIT_COLOURS["train"]
    raw, calm = axes.lines
    assert (raw.get_alpha(), calm.get_alpha()) == (0.3, None)
    assert max(heights(calm)[20:]) < 0.4 < max(heights(raw)[20:])


def test_a_long_curve_is_drawn_by_its_extremes() -> None:
    axes = Figure().subplots()
    draw_curve(axes, curve("train", 10 * MOST_POINTS), "step")
    drawn = heights(axes.lines[0])
    assert len(drawn) <= MOST_POINTS + 2
    assert max(drawn) == 1.5
