"""Standardising: by hand, in any order of rows, and at the edges of floats."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netwright.data.tables.scaling import Scaling


def test_by_hand() -> None:
    # 1, 2, 6: mean 3, variance (4 + 1 + 9) / 3, median 2; the missing one counts for nothing.
    values = np.array([6.0, np.nan, 1.0, 2.0])
    scaling = Scaling.fit(values)
    assert scaling.mean == pytest.approx(3.0)
    assert scaling.std == pytest.approx((14 / 3) ** 0.5)
    assert scaling.median == 2.0
    expected = (np.array([6.0, 2.0, 1.0, 2.0]) - 3) / (14 / 3) ** 0.5
    np.testing.assert_allclose(scaling.apply(values), expected, rtol=1e-6)


@given(st.integers(0, 2**20), st.integers(2, 12), st.integers(2, 5))
@settings(max_examples=60, deadline=None)
def test_a_weight_is_so_many_rows(seed: int, rows: int, different: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, different, size=rows).astype(np.float64)
    values[rng.random(rows) < 0.2] = np.nan
    values[0] = 2.5
    weights = rng.integers(1, 4, size=rows)
    weighted, repeated = (
        Scaling.fit(values, weights.astype(float)),
        Scaling.fit(values.repeat(weights)),
    )
    assert weighted.mean == pytest.approx(repeated.mean, rel=1e-12)
    assert weighted.std == pytest.approx(repeated.std, rel=1e-12)
    assert weighted.median == repeated.median


def test_training_values_come_out_with_mean_0_and_spread_1() -> None:
    values = np.random.default_rng(0).normal(1e6, 3.0, size=500)
    z = Scaling.fit(values).apply(values).astype(np.float64)
    assert abs(z.mean()) < 1e-6
    assert z.std() == pytest.approx(1.0, abs=1e-6)


def test_order_of_rows_changes_no_bit() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=1001) * 10.0 ** rng.integers(-8, 8, size=1001)
    assert Scaling.fit(values) == Scaling.fit(rng.permutation(values))


def test_constant_has_no_spread() -> None:
    # 0.1 * 3 rounds, so that a mean by summing would leave a spread of 1e-17.
    assert Scaling.fit(np.array([0.1, 0.1, 0.1, np.nan])) == Scaling(0.1, 0.0, 0.1)


@pytest.mark.parametrize("size", [1e-300, 1e-30, 3e38])
def test_tiny_and_huge_values_keep_their_spread(size: float) -> None:
    z = Scaling.fit(np.array([-size, size])).apply(np.array([-size, size, np.nan]))
    np.testing.assert_allclose(z, [-1, 1, 0], atol=1e-6)


def test_new_values_far_out_stay_finite() -> None:
    z = Scaling.fit(np.array([0.0, 1e-300])).apply(np.array([3e38, -3e38]))
    assert np.isfinite(z).all()
    assert z[0] > 0 > z[1]


def test_undo_is_the_inverse_of_apply() -> None:
    values = np.array([3.0, -1.0, 10.0])
    scaling = Scaling.fit(values)
    assert [scaling.undo(z) for z in scaling.apply(values).tolist()] == pytest.approx(values)


def test_what_lies_half_a_range_outside_is_far() -> None:
    scaling = Scaling.fit(np.array([0.0, 2.0, np.nan, 10.0]))
    values = np.array([-5.0, -5.1, 15.0, 15.1, 3.0, np.nan])
    assert scaling.far_outside(values).tolist() == [False, True, False, True, False, False]
    older = Scaling(scaling.mean, scaling.std, scaling.median)
    assert older == scaling  # it fits the same data
    assert not older.far_outside(values).any()
    assert not Scaling(0.0, 1.0, 0.0, low=0.0).far_outside(values).any()  # half a range is none


def test_one_absurd_value_does_not_move_the_robust_scaling() -> None:
    """Of 1 to 9 the quartiles are 3 and 7, the median is 5."""
    values = np.array([3.0, 1.0, np.nan, 2.0, 9.0, 5.0, 4.0, 6.0, 8.0, 7.0])
    scaling = Scaling.fit_robust(values)
    assert (scaling.mean, scaling.median) == (5.0, 5.0)
    assert scaling.std == pytest.approx(4 / 1.3489795)
    absurd = np.where(values == 9.0, 1e9, values)
    assert Scaling.fit_robust(absurd) == scaling
    assert Scaling.fit(absurd).std > 1e8


def test_normal_values_have_spread_1_either_way() -> None:
    values = np.random.default_rng(0).normal(3.0, 2.0, 20_000)
    usual, robust = Scaling.fit(values), Scaling.fit_robust(values)
    assert robust.std == pytest.approx(usual.std, rel=0.02)
    assert robust.mean == pytest.approx(usual.mean, abs=0.05)


def test_robust_weights_are_rows_too() -> None:
    values, weights = np.array([1.0, 5.0, 2.0, 40.0]), np.array([1.0, 3.0, 2.0, 1.0])
    assert Scaling.fit_robust(values, weights) == Scaling.fit_robust(values.repeat([1, 3, 2, 1]))


def test_a_column_that_is_mostly_one_value_is_scaled_as_usual() -> None:
    values = np.array([0.0] * 9 + [5.0])
    assert Scaling.fit_robust(values) == Scaling.fit(values)
    assert Scaling.fit_robust(np.zeros(3)).std == 0.0
