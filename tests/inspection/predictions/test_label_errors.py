"""Errors by label: the four kinds of answer by hand and as scikit-learn counts them."""

import pytest
import torch
from sklearn.metrics import multilabel_confusion_matrix

from netwright.core.errors import DataError
from netwright.inspection.predictions.label_errors import (
    MOST_LABELS,
    LabelCounts,
    measure_label_errors,
)
from tests.inspection.drawn import HOSTILE, check_sound, words_on

TARGETS = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
PROBABILITIES = torch.tensor([[0.9, 0.6], [0.5, 0.1], [0.7, 0.8], [0.2, 0.3]])


def test_four_kinds_by_hand() -> None:
    view = measure_label_errors(TARGETS, PROBABILITIES, ("rain", "snow"))
    assert view.labels == (
        LabelCounts(name="rain", found=1, missed=1, false_alarms=1, rightly_denied=1),
        LabelCounts(name="snow", found=1, missed=0, false_alarms=1, rightly_denied=2),
    )
    assert view.caption.startswith('Wrong most often: "rain", 2 of 4 (50.0 %).')


def test_a_weight_is_how_often_an_example_counts() -> None:
    weights = torch.tensor([3.0, 0.0, 1.0, 1.0])
    view = measure_label_errors(TARGETS, PROBABILITIES, ("rain", "snow"), weights)
    rows = torch.tensor([0, 0, 0, 2, 3])
    again = measure_label_errors(TARGETS[rows], PROBABILITIES[rows], ("rain", "snow"))
    for one, other in zip(view.labels, again.labels, strict=True):
        assert vars(one) == pytest.approx(vars(other))


def test_counts_are_those_of_scikit_learn() -> None:
    generator = torch.Generator().manual_seed(0)
    targets = (torch.rand(90, 4, generator=generator) < 0.3).float()
    probabilities = torch.rand(90, 4, generator=generator)
    view = measure_label_errors(targets, probabilities, tuple("abcd"))
    wanted = multilabel_confusion_matrix(targets.numpy(), (probabilities > 0.5).numpy())
    for label, ((denied, alarms), (missed, found)) in zip(view.labels, wanted, strict=True):
        measured = (label.rightly_denied, label.false_alarms, label.missed, label.found)
        assert measured == pytest.approx((denied, alarms, missed, found))


def test_bars_of_a_label_start_where_the_one_before_ends() -> None:
    axes = measure_label_errors(TARGETS, PROBABILITIES, ("rain", "snow")).plot().axes[0]
    ends = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in axes.patches]  # type: ignore[attr-defined]
    assert ends == [(0, 1), (0, 0), (1, 2), (0, 1), (2, 3), (1, 2)]


def test_of_very_many_labels_those_with_the_most_errors_are_shown_in_order() -> None:
    count = MOST_LABELS + 2
    targets = torch.ones(4, count)
    probabilities = torch.zeros(4, count)
    probabilities[:, 0] = probabilities[:, 5] = 1.0  # never wrong
    probabilities[:3, 1] = 1.0  # wrong once, yet the first that is shown
    view = measure_label_errors(targets, probabilities, ["same name"] * count)
    assert words_on(view).count("same name") == MOST_LABELS
    assert view.caption.endswith("The 2 labels with the fewest errors are left out.")
    widths = [bar.get_width() for bar in view.plot().axes[0].patches]  # type: ignore[attr-defined]
    assert widths[:MOST_LABELS] == [1.0] + [4.0] * (MOST_LABELS - 1)


def test_hostile_names_give_a_sound_figure() -> None:
    targets = torch.ones(3, 5)
    check_sound(measure_label_errors(targets, targets * 0.0, HOSTILE))
    check_sound(measure_label_errors(targets * 0.0, targets * 0.0, HOSTILE))


def test_refusals() -> None:
    with pytest.raises(DataError, match=r"^label_names must hold 2 names, got 1$"):
        measure_label_errors(TARGETS, PROBABILITIES, ("rain",))
    with pytest.raises(DataError, match=r"^targets must be 0 or 1, got 2.0$"):
        measure_label_errors(2 * TARGETS, PROBABILITIES, ("rain", "snow"))
