"""Threshold curves: by hand, parity with scikit-learn, weights, and classes without a side."""

import numpy as np
import pytest
import torch
from sklearn.metrics import (
    average_precision_score,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)
from torch import Tensor

from netwright.core.errors import DataError
from netwright.inspection.predictions import threshold_curves
from netwright.inspection.predictions.decision_regions import class_colours
from netwright.inspection.predictions.threshold_curves import (
    ThresholdCurve,
    has_both_sides,
    measure_threshold_curves,
)
from netwright.metrics.ranking import average_precision, roc_auc
from tests.inspection.drawn import check_sound, words_on


def of_two(chances: list[float]) -> Tensor:
    one = torch.tensor(chances, dtype=torch.float64)
    return torch.stack((1 - one, one), dim=1)


def only(*given: object) -> ThresholdCurve:
    (curve,) = measure_threshold_curves(*given).curves  # type: ignore[arg-type]
    return curve


def test_four_examples_by_hand() -> None:
    curve = only(torch.tensor([1, 0, 1, 0]), of_two([0.9, 0.6, 0.4, 0.1]), ("no", "yes"))
    assert curve.name == "yes"
    assert curve.false_alarms == (0, 0, 0.5, 0.5, 1)
    assert curve.recall == (0, 0.5, 0.5, 1, 1)
    assert curve.precision == pytest.approx((1, 1, 1 / 2, 2 / 3, 1 / 2))
    assert curve.usual == (0.5, 0.5, 0.5)  # of 0.9 and 0.6 one is right
    assert (curve.area, curve.base_rate) == (0.75, 0.5)
    assert curve.average_precision == pytest.approx(0.5 * 1 + 0.5 * 2 / 3)


def drawn(n: int, classes: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    numbers = torch.Generator().manual_seed(1)
    shares = torch.rand(n, classes, generator=numbers).mul(8).round().add(0.5).double()
    targets = torch.randint(classes, (n,), generator=numbers)
    return targets, shares / shares.sum(1, keepdim=True), torch.rand(n, generator=numbers)


def test_curves_are_those_of_scikit_learn_with_ties_and_weights() -> None:
    targets, shares, weights = drawn(60)
    curve = only(targets, shares, ("a", "b"), weights)
    given = (targets.numpy(), shares[:, 1].numpy())
    alarms, recall, _ = roc_curve(*given, sample_weight=weights.numpy(), drop_intermediate=False)
    np.testing.assert_allclose(curve.false_alarms, alarms, atol=1e-6)
    np.testing.assert_allclose(curve.recall, recall, atol=1e-6)
    precision, _, _ = precision_recall_curve(*given, sample_weight=weights.numpy())
    np.testing.assert_allclose(curve.precision[1:], precision[:-1][::-1], atol=1e-6)
    area = roc_auc_score(*given, sample_weight=weights.numpy())
    assert curve.area == pytest.approx(area, abs=1e-6)
    mean = average_precision_score(*given, sample_weight=weights.numpy())
    assert curve.average_precision == pytest.approx(mean, abs=1e-6)


def test_areas_are_those_of_the_results() -> None:
    targets, shares, _ = drawn(50, 3)
    view = measure_threshold_curves(targets, shares, ("a", "b", "c"))
    assert np.mean([one.area for one in view.curves]) == pytest.approx(roc_auc(shares, targets))
    wanted = average_precision(shares, targets)
    assert np.mean([one.average_precision for one in view.curves]) == pytest.approx(wanted)


def test_classes_that_do_not_count_have_no_curve() -> None:
    targets, shares = torch.tensor([0, 1, 2, 0]), torch.full((4, 4), 0.25)
    weights = torch.tensor([1.0, 1.0, 0.0, 1.0])
    view = measure_threshold_curves(targets, shares, tuple("abcd"), weights)
    assert [one.name for one in view.curves] == ["a", "b"]
    assert view.left_out == 2
    assert "2 classes are not drawn" in view.caption
    alone = torch.tensor([0.0, 1.0, 0.0, 0.0])
    assert not has_both_sides(targets, 4, alone)
    assert has_both_sides(targets, 4)
    with pytest.raises(DataError, match="need a class with examples"):
        measure_threshold_curves(targets, shares, tuple("abcd"), alone)


def test_the_commonest_classes_are_drawn_in_their_own_order() -> None:
    targets = torch.tensor([place for place in range(8) for _ in range(place + 1)])
    view = measure_threshold_curves(targets, torch.full((36, 8), 1 / 8), tuple("abcdefgh"))
    assert [one.name for one in view.curves] == list("cdefgh")


@pytest.mark.parametrize(("classes", "shown"), [(8, [2, 3, 4, 5, 6, 7]), (12, [3, 9]), (2, [1])])
def test_a_curve_has_the_colour_of_its_class(classes: int, shown: list[int]) -> None:
    targets = torch.tensor(shown if classes > 2 else [0, 1])
    shares = torch.full((len(targets), classes), 1 / classes)
    view = measure_threshold_curves(targets, shares, [str(place) for place in range(classes)])
    curves = {str(line.get_label()): line.get_color() for line in view.plot().axes[0].lines}
    for place in shown:
        assert tuple(curves[str(place)]) == tuple(class_colours(classes)[place])


def test_both_curves_begin_where_nothing_is_found() -> None:
    view = measure_threshold_curves(torch.tensor([0, 1]), of_two([0.1, 0.9]), ("no", "yes"))
    for axes in view.plot().axes:
        curve = max(axes.lines, key=lambda line: len(np.asarray(line.get_xdata())))
        assert np.asarray(curve.get_xdata())[0] == 0.0


def test_nothing_is_called_at_the_usual_threshold() -> None:
    view = measure_threshold_curves(torch.tensor([0, 1]), of_two([0.1, 0.3]), ("no", "yes"))
    assert view.curves[0].usual is None
    assert "nothing is called yes" in view.caption


def test_many_points_are_thinned_with_both_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threshold_curves, "MOST_POINTS", 10)
    curve = only(torch.arange(100) % 2, of_two([i / 100 for i in range(100)]), ("a", "b"))
    assert len(curve.recall) == 11
    assert (curve.recall[-1], curve.false_alarms[-1]) == (1, 1)


def test_it_draws_what_it_says() -> None:
    targets, shares, _ = drawn(60, 3)
    view = measure_threshold_curves(targets, shares, ("<b>", "$x$", "c" * 90))
    check_sound(view)
    names = {"ROC curve", "false positive rate", "precision-recall curve", "recall", "precision"}
    assert names <= set(words_on(view))
    assert view.table_rows()[0].keys() == {"class", "ROC-AUC", "average precision", "share"}
    check_sound(measure_threshold_curves(*drawn(30)[:2], ("no", "yes")))
