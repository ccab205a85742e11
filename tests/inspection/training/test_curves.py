"""Learning curves: sorted by measure and split, drawn against any axis, however few or many."""

import json
import math
from collections.abc import Sequence
from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from netwright.core.errors import ConfigError, DataError
from netwright.inspection.drawing.curve import Axis
from netwright.inspection.drawing.figure_style import SPLIT_COLOURS
from netwright.inspection.drawing.wording import legend_name
from netwright.inspection.training.curves import AXIS_LABELS, Curves, measure_curves
from netwright.train.watching.history import Row
from tests.repetition import for_each


def row(epoch: int, split: str, name: str, value: float, *, step: int | None = None) -> Row:
    step = 10 * epoch if step is None else step
    return Row(
        step=step, epoch=epoch, samples=32 * step, time=0.5 * epoch, split=split, name=name,
        value=value,
    )  # fmt: skip


def history(epochs: int = 4) -> list[Row]:
    return [
        row(epoch, split, name, value)
        for epoch in range(1, epochs + 1)
        for split, name, value in (
            ("train", "accuracy", 1 - 1 / (epoch + 1)),
            ("train", "loss", 1 / epoch),
            ("val", "accuracy", 0.5),
            ("val", "loss", 0.4 + 1 / epoch),
        )
    ]


def panels(curves: Curves) -> list[Axes]:
    return [axes for axes in curves.plot().axes if axes.get_visible()]


def numbers(values: Any) -> list[float]:
    return [float(value) for value in values]


def lines(axes: Axes) -> dict[str, tuple[list[float], list[float]]]:
    """Label -> x and y of what is in the legend."""
    found = {}
    for line in axes.lines:
        found[str(line.get_label())] = (numbers(line.get_xdata()), numbers(line.get_ydata()))
    return {label: data for label, data in found.items() if not label.startswith("_")}


def figure_of(axes: Axes) -> Figure:
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure


def labels(axes: Axes) -> list[str]:
    """What the one legend of a panel's picture says."""
    (legend,) = figure_of(axes).legends
    return [text.get_text() for text in legend.get_texts()]


def test_every_curve_keeps_all_its_axes() -> None:
    curves = measure_curves(history(2))
    assert [(curve.split, curve.name) for curve in curves.curves] == [
        ("train", "accuracy"),
        ("train", "loss"),
        ("val", "accuracy"),
        ("val", "loss"),
    ]
    loss = curves.curves[1]
    assert (loss.epoch, loss.step, loss.samples) == ((1, 2), (10, 20), (320, 640))
    assert (loss.time, loss.value) == ((0.5, 1.0), (1.0, 0.5))


def test_the_loss_comes_first_then_the_others_as_they_came() -> None:
    curves = measure_curves(history())
    assert curves.measures == ("loss", "accuracy")
    assert [axes.get_title(loc="left") for axes in panels(curves)] == ["loss", "accuracy"]
    own = [row(1, "train", name, 1.0) for name in ("margin", "mistakes")]
    assert measure_curves(own).measures == ("margin", "mistakes")


def test_splits_share_a_panel_in_their_colours() -> None:
    loss, accuracy = panels(measure_curves(history()))
    colours = {line.get_label(): to_hex(line.get_color()) for line in loss.lines}
    assert colours == {
        "train": SPLIT_COLOURS["train"].lower(),
        "val": SPLIT_COLOURS["val"].lower(),
    }
    assert labels(loss) == ["train", "val"]
    assert accuracy.get_legend() is None  # it would say the same


def test_a_split_of_another_panel_is_in_the_legend_too() -> None:
    rows = [row(1, "train", "loss", 1.0), row(1, "holdout", "accuracy", 0.5)]
    assert labels(panels(measure_curves(rows))[0]) == ["train", "holdout"]


def test_the_legend_hides_no_curve() -> None:
    loss, _ = panels(measure_curves(history(2)))
    figure = figure_of(loss)
    figure.draw_without_rendering()
    (legend,) = figure.legends
    assert legend.get_window_extent().y0 >= loss.get_window_extent().y1


def test_a_split_that_begins_with_an_underscore_is_in_the_legend() -> None:
    rows = [row(1, "_old", "loss", 1.0)]
    assert labels(panels(measure_curves(rows))[0]) == [legend_name("_old")]


@for_each(
    ("axis", "positions"),
    [
        ("epoch", [1, 2, 3, 4]),
        ("step", [10, 20, 30, 40]),
        ("samples", [320, 640, 960, 1280]),
        ("time", [0.5, 1.0, 1.5, 2.0]),
    ],
)
def test_curves_are_drawn_along_any_axis(axis: Axis, positions: Sequence[float]) -> None:
    curves = measure_curves(history()).along(axis)
    loss = panels(curves)[0]
    assert lines(loss)["train"] == (list(positions), [1.0, 0.5, 1 / 3, 0.25])
    assert loss.get_xlabel() == AXIS_LABELS[axis]
    assert f"against {AXIS_LABELS[axis]}" in curves.caption


def test_epochs_unless_told_otherwise() -> None:
    assert measure_curves(history()).axis == "epoch"


@pytest.mark.parametrize(("axis", "place"), [("epoch", 3.0), ("step", 30.0), ("time", 1.5)])
def test_the_best_epoch_is_marked_on_every_axis(axis: Axis, place: float) -> None:
    curves = measure_curves(history(), best_epoch=3).along(axis)
    for axes in panels(curves):
        assert lines(axes)["best epoch: 3"][0] == [place, place]
    loss = panels(curves)[0]
    assert labels(loss) == ["train", "val", "best epoch: 3"]
    assert [line.get_label() for line in loss.lines].count("best epoch: 3") == 1
    rings = [line for line in loss.lines if line.get_markerfacecolor() == "none"]
    assert [numbers(ring.get_ydata()) for ring in rings] == [[1 / 3], [0.4 + 1 / 3]]
    assert "The best epoch, 3, is marked" in curves.caption


def test_steps_of_a_learning_rule_lie_within_its_epochs() -> None:
    rows = [row(step // 2, "train", "loss", 1.0, step=step) for step in range(1, 5)]
    (curve,) = measure_curves(rows).curves
    assert curve.epoch == (0.5, 1, 1.5, 2)


def test_a_rule_that_stopped_within_its_first_epoch_is_drawn_against_its_steps() -> None:
    curves = measure_curves([row(0, "train", "loss", 1.0, step=step) for step in (1, 2, 3)])
    assert curves.axis == "step"
    assert "against step." in curves.caption


def test_the_mark_stands_at_the_end_of_an_epoch_of_many_rows() -> None:
    rows = [
        row(epoch, "train", "loss", 1.0, step=epoch * 10 + i) for epoch in (1, 2) for i in (0, 5)
    ]
    (loss,) = panels(measure_curves(rows, best_epoch=1).along("step"))
    assert lines(loss)["best epoch: 1"][0] == [15, 15]


def test_an_epoch_without_a_measurement_is_not_marked() -> None:
    (axes,) = panels(measure_curves([row(1, "train", "loss", 1.0)], best_epoch=0))
    assert list(lines(axes)) == ["train"]


@for_each(
    ("values", "is_log"),
    [
        ((1.0, 0.02), True),
        ((1.0, 0.04), False),  # 1.4 decades
        ((1.0, 0.0), False),
        ((1.0, -0.001), False),
    ],
)
def test_a_loss_of_many_sizes_has_a_logarithmic_axis(
    values: tuple[float, float], is_log: bool
) -> None:
    curves = measure_curves([row(i, "train", "loss", value) for i, value in enumerate(values)])
    (axes,) = panels(curves)
    assert (axes.get_yscale() == "log") == is_log
    assert ("log scale" in axes.get_title(loc="left")) == is_log
    assert ("logarithmic" in curves.caption) == is_log


def test_other_measures_stay_linear() -> None:
    rows = [row(i, "train", "mistakes", value) for i, value in enumerate((1000.0, 1.0))]
    assert panels(measure_curves(rows))[0].get_yscale() == "linear"


def test_one_point_is_a_marker_on_whole_epochs() -> None:
    (axes,) = panels(measure_curves([row(1, "train", "loss", 0.5)], best_epoch=1))
    assert axes.lines[0].get_marker() == "o"
    axes.figure.draw_without_rendering()  # type: ignore[union-attr]
    low, high = axes.get_xlim()
    ticks = [tick for tick in axes.get_xticks() if low <= tick <= high]
    assert ticks == [0, 1, 2]


def test_few_points_have_markers_and_many_have_none() -> None:
    few = panels(measure_curves(history(30)))[0].lines[0]
    many = panels(measure_curves(history(31)))[0].lines[0]
    assert (few.get_marker(), many.get_marker()) == ("o", "None")


def long_history() -> Curves:
    def value(step: int) -> float:
        return 9.0 if step == 5003 else 2 + math.sin(step)

    return measure_curves(
        [row(step // 100, "train", "loss", value(step), step=step) for step in range(10_000)]
    ).along("step")


def test_ten_thousand_rows_are_thinned_but_peaks_and_ends_stay() -> None:
    curves = long_history()
    x, y = lines(panels(curves)[0])["train"]
    assert len(x) <= 1002
    assert (x[0], x[-1]) == (0, 9999)
    assert x == sorted(x)
    assert (x[y.index(9.0)], max(y)) == (5003, 9.0)
    assert min(y) == min(curves.curves[0].value)
    assert len(curves.image("svg")) < 150_000


def test_thinning_leaves_the_numbers_alone() -> None:
    curves = long_history()
    assert len(curves.curves[0].value) == 10_000
    assert len(curves.to_json()["curves"][0]["value"]) == 10_000


def test_the_caption_says_where_curves_began_and_ended() -> None:
    caption = measure_curves(history(), best_epoch=2).caption
    assert caption == (
        "loss: from 1 to 0.25 on train, from 1.4 to 0.65 on val, against epoch. "
        "An epoch is 10 steps, 320 examples. "
        "The best epoch, 2, is marked; its weights were kept. "
        "Where train improves and val gets worse, the model overfits."
    )
    alone = measure_curves([row(1, "val", "loss", 0.5)]).caption
    assert alone == "loss: 0.5 on val, against epoch. An epoch is 10 steps, 320 examples."


@for_each(
    ("train", "val", "told"),
    [
        ((1.0, 0.5), (0.4, 0.3), True),
        ((1.0, 0.3), (0.9, 0.3), False),
        ((1.0, 0.3), (0.1, 0.4), False),
        ((1.0, 0.5), (0.3,), False),  # a rule of its own: both are measured at the end
        ((), (0.4, 0.3), False),
    ],
)
def test_the_caption_tells_why_val_may_end_below_train(
    train: Sequence[float], val: Sequence[float], told: bool
) -> None:
    rows = [
        row(epoch, split, "loss", value)
        for split, values in (("train", train), ("val", val))
        for epoch, value in enumerate(values, start=1)
    ]
    sentence = (
        " Val ends below train, which is not an error: train is a mean over the epoch, taken "
        "while the "
        "weights moved, with dropout and augmentation where there are any; val is measured after "
        "it, without them."
    )
    assert measure_curves(rows).caption.endswith(sentence) is told


def test_only_the_loss_is_compared_at_the_end() -> None:
    rows = [
        row(epoch, split, "r2", value)
        for epoch in (1, 2)
        for split, value in (("train", 0.9), ("val", 0.8))
    ]
    assert "ends below" not in measure_curves(rows).caption


def test_panels_stand_in_two_columns() -> None:
    def size(count: int) -> tuple[float, float]:
        rows = [row(1, "train", f"measure {place}", 1.0) for place in range(count)]
        assert len(panels(measure_curves(rows))) == count
        return measure_curves(rows).size

    assert size(1)[1] == size(2)[1] == size(3)[1] / 2 == size(4)[1] / 2
    assert size(2)[0] == size(3)[0] > size(1)[0]


def test_small_curves_are_the_same_curves() -> None:
    curves = measure_curves(history(), best_epoch=2).along("time")
    small = curves.small()
    assert (small.curves, small.axis, small.best_epoch) == (curves.curves, "time", 2)
    assert small.size[0] < 0.7 * curves.size[0]
    assert "<img" in small._repr_html_()


def test_hostile_and_long_names_stay_short_text() -> None:
    rows = [row(1, "<script>$x$", "a measure with a very long name $", 0.5)]
    (axes,) = panels(measure_curves(rows))
    assert axes.get_title(loc="left") == "a measure with a…"
    assert labels(axes) == ["<script>$x$"]
    assert b"<script>" not in measure_curves(rows).image("svg")


def test_the_same_rows_give_the_same_bytes() -> None:
    assert measure_curves(history()).image("svg") == measure_curves(history()).image("svg")


def test_the_numbers_are_json() -> None:
    shown: dict[str, Any] = json.loads(
        json.dumps(measure_curves(history(), best_epoch=2).to_json())
    )
    assert (shown["best_epoch"], shown["axis"]) == (2, "epoch")
    assert shown["curves"][0]["split"] == "train"


def test_nothing_measured_is_refused() -> None:
    with pytest.raises(
        DataError,
        match=r"^there are no learning curves: the run recorded no "
        r"metrics$",
    ):
        measure_curves([])


def by_step(last: int, *, every: int = 1, epoch_of: int = 10) -> list[Row]:
    """What a run notes every few updates, of which an epoch has ten."""
    return [
        row((step - 1) // epoch_of, "step", name, value, step=step)
        for step in range(every, last + 1, every)
        for name, value in (("loss", 2 / step + 0.1 * (step % 2)), ("lr", 0.1), ("memory", 9.0))
    ]


def test_a_run_of_one_epoch_has_a_curve_by_step_and_a_point_of_validation() -> None:
    rows = [*by_step(10), *history(1)]
    curves = measure_curves(rows, best_epoch=1, best_step=10)
    assert (curves.axis, curves.measures) == ("step", ("loss",))
    (panel,) = panels(curves)
    drawn = lines(panel)
    assert list(drawn) == ["train by step", "smoothed", "val", "best epoch: 1"]
    assert drawn["train by step"][0] == list(range(1, 11))
    assert drawn["val"] == ([10], [1.4])
    assert curves.caption.startswith(
        "loss: from 2.1 to 0.2611 by step, 1 on train, 1.4 on val, against step. "
        "The best epoch, 1, is marked; its weights were kept. Measured once: accuracy: "
    )


def test_a_run_that_is_cut_in_its_first_epoch_speaks_of_steps() -> None:
    cut = [row(0, split, "loss", 0.5, step=7) for split in ("train", "val")]
    curves = measure_curves([*by_step(7), *cut])
    assert (curves.axis, "best" in curves.caption, "epoch" in curves.caption) == (
        "step",
        False,
        False,
    )


def test_what_was_measured_within_an_epoch_has_its_place_there() -> None:
    rows = [*by_step(20, every=5), row(0, "val", "loss", 0.3, step=5), *history(2)]
    curves = measure_curves(rows, best_epoch=0, best_step=5)
    assert curves.axis == "epoch"
    named = {(curve.split, curve.name): curve for curve in curves.curves}
    assert named["step", "loss"].epoch == (0.5, 1, 1.5, 2)
    assert named["val", "loss"].epoch == (0.5, 1, 2)
    assert named["train", "loss"].epoch == (1, 2)
    assert "The best step, 5, is marked" in curves.caption
    assert "best step: 5" in lines(panels(curves)[0])


def test_of_training_the_finer_curve_is_drawn() -> None:
    few = measure_curves([*by_step(40, every=20), *history(4)])
    assert list(lines(panels(few)[0])) == ["train", "val"]
    many = measure_curves([*by_step(40, every=2), *history(4)])
    assert list(lines(panels(many)[0])) == ["train by step", "smoothed", "val"]


def test_rate_speed_and_memory_have_panels_of_their_own() -> None:
    curves = measure_curves([*by_step(10), *history(1)])
    beside = curves.of_training()
    assert beside is not None
    assert beside.measures == ("learning rate", "most memory so far (MiB)")
    assert [axes.get_xlabel() for axes in panels(beside)] == ["step", "step"]
    assert measure_curves(history()).of_training() is None


def test_texts_have_an_axis_of_tokens() -> None:
    rows = [row(epoch, "train", "loss", 1 / epoch) for epoch in (1, 2)]
    curves = measure_curves(rows, tokens_each=2.5)
    assert curves.has_tokens
    (curve,) = curves.along("tokens").curves
    assert curve.along("tokens") == tuple(2.5 * samples for samples in curve.samples)
    assert "against tokens read" in curves.along("tokens").caption
    without = measure_curves(rows)
    assert not without.has_tokens
    with pytest.raises(ConfigError, match="tokens are of runs on texts"):
        without.along("tokens")
