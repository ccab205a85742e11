"""Scores by seed: the gaps are those of the paired t interval; lines join the same seeds only."""

import json
import re

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from netwright.core.errors import DataError
from netwright.inspection.training.paired_scores import PairedScores, measure_paired_scores
from netwright.metrics.paired import paired_gap

LOGISTIC = [0.92, 0.91, 0.93, 0.92]
MLP = [0.97, 0.98, 0.96, 0.98]


def two() -> PairedScores:
    return measure_paired_scores(
        {"logistic": LOGISTIC, "mlp": MLP}, metric="accuracy", better="higher"
    )


def panels(view: PairedScores) -> tuple[Axes, Axes]:
    left, right = view.plot().axes
    return left, right


def across(line: Line2D) -> list[float]:
    return [float(value) for value in np.asarray(line.get_xdata())]


def test_gaps_are_to_the_first_and_hold_together() -> None:
    scores = {"a": LOGISTIC, "b": MLP, "c": [0.9, 0.95, 0.91, 0.92]}
    view = measure_paired_scores(scores, metric="accuracy", better="higher")
    assert view.labels == ("a", "b", "c")
    assert view.scores == tuple(tuple(row) for row in scores.values())
    assert view.gaps == (
        paired_gap(LOGISTIC, MLP, comparisons=2),
        paired_gap(LOGISTIC, scores["c"], comparisons=2),
    )


def test_one_line_a_seed_joins_the_scores_of_the_entries() -> None:
    left, _ = panels(two())
    lines = [line for line in left.lines if line.get_linestyle() == "-"]
    joined = [tuple(across(line)) for line in lines]
    assert joined == list(zip(LOGISTIC, MLP, strict=True))


def test_entries_with_seeds_of_their_own_are_not_joined() -> None:
    view = measure_paired_scores(
        {"mlp": MLP, "mlp (again)": LOGISTIC},
        metric="accuracy",
        better="higher",
        own_seeds=["mlp (again)"],
    )
    assert view.shares_seeds == (True, False)
    left, _ = panels(view)
    lines = [line for line in left.lines if line.get_linestyle() == "-"]
    assert all(np.isnan(across(line)[1]) for line in lines)
    points = [line for line in left.lines if line.get_linestyle() == "None"]
    assert [across(line) for line in points] == [MLP, LOGISTIC]
    assert "Points without lines have seeds of their own." in view.caption
    assert "seeds of their own" not in two().caption


def test_the_interval_is_drawn_around_the_mean_gap() -> None:
    view = two()
    _, right = panels(view)
    (interval,) = right.collections
    (segment,) = interval.get_segments()  # type: ignore[attr-defined]
    assert tuple(segment[:, 0]) == view.gaps[0].interval
    assert [across(line) for line in right.lines if line.get_marker() == "D"] == [
        [view.gaps[0].mean]
    ]


def test_a_gap_without_an_interval_has_none_drawn() -> None:
    view = measure_paired_scores({"a": [1.0, 1.0], "b": [2.0, 2.0]}, metric="rmse", better="lower")
    _, right = panels(view)
    assert not right.collections
    assert view.caption.startswith('"b" minus "a": 1 rmse. ')
    assert right.get_xlabel() == "difference in rmse (left of 0 is better)"


def test_the_caption_gives_the_gap_and_the_axes_say_what_is_better() -> None:
    view = two()
    assert re.match(
        r'"mlp" minus "logistic": 0\.0525 \[0\.0\d+, 0\.0\d+\] accuracy\. ', view.caption
    )
    left, right = panels(view)
    assert left.get_xlabel() == "accuracy (higher is better)"
    assert right.get_xlabel() == "difference in accuracy (right of 0 is better)"
    assert right.get_title(loc="left") == "gap to logistic"


def test_the_first_entry_stands_on_top_and_long_labels_lose_their_middle() -> None:
    long = "mlp:hidden=256,128:dropout=0.35:activation=relu (again)"
    view = measure_paired_scores(
        {"<script>$x$\n</script>": MLP, long: LOGISTIC}, metric="accuracy", better="higher"
    )
    left, _ = panels(view)
    assert [label.get_text() for label in left.get_yticklabels()] == [
        "<script>$x$ </script>",
        "mlp:hidden=256,…n=relu (again)",
    ]
    assert left.get_ylim() == (1.5, -0.5)
    assert b"<script>" not in view.image("svg")


def test_many_seeds_and_entries_stay_a_small_file() -> None:
    rng = np.random.default_rng(0)
    many = {f"entry {place}": list(rng.normal(size=1000)) for place in range(6)}
    view = measure_paired_scores(many, metric="rmse", better="lower")
    assert len(view.image("svg")) < 300_000
    assert view.caption.endswith(" Of the 1,000 seeds 100 are drawn.")
    assert "are drawn" not in two().caption
    assert view.size[1] > two().size[1]


def test_the_view_is_plain_numbers() -> None:
    told = json.loads(json.dumps(two().to_json()))
    assert told["scores"] == [LOGISTIC, MLP]
    assert told["gaps"][0]["mean"] == two().gaps[0].mean


def test_one_entry_is_refused() -> None:
    with pytest.raises(DataError, match=r"^scores of at least two entries are needed, got 1$"):
        measure_paired_scores({"mlp": MLP}, metric="accuracy", better="higher")
