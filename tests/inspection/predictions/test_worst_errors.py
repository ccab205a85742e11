"""The worst errors: chosen and told by hand, a panel an output."""

import numpy as np
import pytest
import torch

from netwright.core.errors import ConfigError, DataError, ShapeError
from netwright.inspection.predictions.worst_errors import RowError, measure_worst_errors
from tests.inspection.drawn import HOSTILE, check_sound, words_on

TARGETS = torch.tensor([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])
PREDICTIONS = torch.tensor([[1.5, 6.0], [0.0, 5.0], [4.0, 1.0]])


def test_the_largest_error_of_either_sign_comes_first() -> None:
    first, second = measure_worst_errors(TARGETS, PREDICTIONS, ("price", "size")).outputs
    assert first.rows == (
        RowError(row=1, true=2.0, predicted=0.0),
        RowError(row=2, true=3.0, predicted=4.0),
        RowError(row=0, true=1.0, predicted=1.5),
    )
    assert [one.row for one in second.rows] == [2, 0, 1]
    assert [one.error for one in first.rows] == [-2.0, 1.0, 0.5]
    assert (first.mae, second.mae) == pytest.approx((3.5 / 3, 5 / 3))


def test_no_more_than_asked_for() -> None:
    view = measure_worst_errors(TARGETS, PREDICTIONS, ("a", "b"), count=2)
    assert [one.row for one in view.outputs[0].rows] == [1, 2]


def test_rows_of_a_sample_are_those_of_the_split() -> None:
    rows = torch.tensor([0, 50, 99])
    view = measure_worst_errors(TARGETS, PREDICTIONS, ("price", "size"), rows=rows)
    assert [one.row for one in view.outputs[0].rows] == [50, 99, 0]
    assert view.outputs[0].rows[0].error == -2.0
    assert view.caption.startswith('Missed most in a sample of the split: "price" in row 50 by 2 ')


def test_caption_sets_the_worst_beside_the_mean_and_says_what_a_row_is() -> None:
    view = measure_worst_errors(TARGETS, PREDICTIONS, ("price", "size"))
    assert view.caption == (
        'Missed most: "price" in row 1 by 2 (on average by 1.167); '
        '"size" in row 2 by 4 (on average by 1.667). '
        "Each line goes from the true value to the predicted one. "
        "Rows are counted from 0 within the split."
    )


def test_table_rows_hold_what_a_page_shows() -> None:
    rows = measure_worst_errors(TARGETS, PREDICTIONS, ("price", "size")).table_rows()
    assert len(rows) == 6
    assert rows[0] == {
        "output": "price", "row": "1", "true": "2", "predicted": "0", "error": "-2"
    }  # fmt: skip
    assert rows[1]["error"] == "+1"


def test_lines_go_from_the_true_value_to_the_predicted_one_the_worst_on_top() -> None:
    view = measure_worst_errors(TARGETS[:, :1], PREDICTIONS[:, :1], ("price",))
    axes = view.plot().axes[0]
    _, true, predicted = axes.collections
    assert np.array(true.get_offsets()).tolist() == [[2.0, 0.0], [3.0, 1.0], [1.0, 2.0]]
    assert np.array(predicted.get_offsets()).tolist() == [[0.0, 0.0], [4.0, 1.0], [1.5, 2.0]]
    bottom, top = axes.get_ylim()
    assert bottom > top
    assert {"row 1 (-2)", "row 2 (+1)", "true", "predicted", "price"} <= set(words_on(view))


def test_the_first_outputs_are_shown_and_the_rest_is_told() -> None:
    values = torch.randn(9, 6, generator=torch.Generator().manual_seed(0))
    view = measure_worst_errors(values, 0 * values, tuple("abcdef"))
    assert [output.name for output in view.outputs] == ["a", "b", "c", "d"]
    assert view.caption.endswith("The first 4 of 6 outputs are shown.")
    assert "shown" not in measure_worst_errors(TARGETS, PREDICTIONS, "ab").caption


def test_hostile_names_and_exact_predictions_give_a_sound_figure() -> None:
    check_sound(measure_worst_errors(TARGETS, TARGETS, HOSTILE[:2]))
    check_sound(measure_worst_errors(TARGETS[:1] * 1e6, TARGETS[:1], HOSTILE[2:4]))


def test_refusals() -> None:
    with pytest.raises(ConfigError, match=r"^count must be positive, got 0$"):
        measure_worst_errors(TARGETS, PREDICTIONS, "ab", count=0)
    with pytest.raises(DataError, match=r"^target_names must hold 2 names, got 1$"):
        measure_worst_errors(TARGETS, PREDICTIONS, "a")
    with pytest.raises(ShapeError, match=r"^targets must have shape \(N, K\), got \(3,\)$"):
        measure_worst_errors(TARGETS[:, 0], PREDICTIONS[:, 0], "a")
    with pytest.raises(DataError, match=r"^predicted must be finite, got inf at \[0, 0\]"):
        measure_worst_errors(TARGETS, PREDICTIONS + torch.inf, "ab")
