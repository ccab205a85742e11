"""Curves of numbers: values by hand, that they rise and come back, scikit-learn's scores."""

import json
import math

import numpy as np
import pytest
from sklearn.preprocessing import QuantileTransformer

from netwright.core.errors import DataError
from netwright.data.tables.features.number_curve import (
    MOST_KNOTS,
    LogCurve,
    NumberCurve,
    QuantileCurve,
    read_curve,
)

VALUES = np.random.default_rng(0).lognormal(sigma=2.0, size=2_000)
CURVES: list[NumberCurve] = [LogCurve.fit(VALUES), QuantileCurve.fit(VALUES)]


def test_logarithms_are_of_the_size_against_the_median_size() -> None:
    curve = LogCurve.fit(np.array([0.0, -2.0, 2.0, np.nan, 200.0]))
    assert curve.unit == 2.0
    got = curve.apply(np.array([0.0, 2.0, -2.0, 2 * (math.e - 1), np.nan]))
    np.testing.assert_allclose(got, [0, math.log(2), -math.log(2), 1, math.nan])
    assert LogCurve.fit(np.array([0.0, np.nan])).unit == 1.0
    tiny = LogCurve.fit(1e-300 * VALUES)  # other units, the same numbers
    np.testing.assert_allclose(tiny.apply(1e-300 * VALUES), CURVES[0].apply(VALUES))
    assert np.isinf(tiny.apply(np.array([3e38])))


def test_normal_scores_count_half_of_the_equals() -> None:
    curve = QuantileCurve.fit(np.array([5.0, 7.0, 7.0, np.nan, 9.0]))
    # shares 1/8, 4/8 and 7/8 of the four
    assert curve.knots == (5, 7, 9)
    assert curve.scores == pytest.approx((-1.1503494, 0, 1.1503494))
    got = curve.apply(np.array([0.0, 6.0, 100.0, np.nan]))
    np.testing.assert_allclose(got, [-1.1503494, -0.5751747, 1.1503494, np.nan], rtol=1e-6)
    weighted = QuantileCurve.fit(np.array([5.0, 7.0, 9.0]), np.array([1.0, 2.0, 1.0]))
    assert weighted == curve


def test_normal_scores_are_scikit_learns_between_their_ends() -> None:
    theirs = QuantileTransformer(n_quantiles=2_000, output_distribution="normal")
    wanted = theirs.fit_transform(VALUES[:, None])[:, 0]
    inner = abs(wanted) < 2
    got = QuantileCurve.fit(VALUES).apply(VALUES)
    assert len(QuantileCurve.fit(VALUES).knots) == MOST_KNOTS
    np.testing.assert_allclose(got[inner], wanted[inner], atol=0.03)
    assert abs(got.mean()) < 0.01
    assert abs(got.std() - 1) < 0.02


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.kind)
def test_a_curve_rises_comes_back_and_is_kept_as_json(curve: NumberCurve) -> None:
    ordered = np.sort(VALUES)
    assert (np.diff(curve.apply(ordered)) >= 0).all()
    some = ordered[::100]
    back = [curve.undo(value) for value in curve.apply(some).tolist()]
    np.testing.assert_allclose(back, some, rtol=1e-9)
    assert read_curve(json.loads(json.dumps(curve.to_json()))) == curve


def test_what_no_training_gives_is_refused() -> None:
    with pytest.raises(DataError, match=r"^a curve must be one of log, quantile, got 'sine'$"):
        read_curve({"kind": "sine"})
    with pytest.raises(DataError, match=r"unit of a logarithm must be above 0, got 0"):
        LogCurve(0.0)
    for knots, scores in (((1.0, 1.0), (0.0, 1.0)), ((1.0,), ()), ((), ())):
        with pytest.raises(DataError, match=r"must rise$"):
            QuantileCurve(knots, scores)
