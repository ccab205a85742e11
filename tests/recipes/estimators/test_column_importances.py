"""How much the loss rises when a column is shuffled: by hand, on which rows, and what has none."""

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sklearn.feature_selection import SelectFromModel

from netwright.core.errors import ConfigError
from netwright.recipes.estimators.scikit_learn import NetClassifier, NetRegressor

Rows = tuple[NDArray[np.float64], NDArray[np.float64]]


@pytest.fixture(scope="module")
def reals() -> Rows:
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(90, 4)) * [1, 10, 0.1, 3] + [0, 50, 2, -1]
    return inputs, inputs @ [1.0, 0.2, -5.0, 0.5] + rng.normal(size=90)


def weights_of(estimator: Any) -> torch.Tensor:
    return torch.cat([weight.flatten() for weight in estimator.model_.state_dict().values()])


def small(**settings: Any) -> Any:
    return NetClassifier(**{"hidden": (4,), "epochs": 2, "random_state": 0, **settings})


def test_rows_that_hardly_count_hardly_count_in_importances() -> None:
    draw = np.random.default_rng(0)
    inputs = draw.normal(size=(200, 2))
    y = np.where(np.arange(200) < 100, inputs[:, 0], 9 * inputs[:, 1])
    weights = np.where(np.arange(200) < 100, 1.0, 1e-9)
    estimator = NetRegressor("least-squares", importances=True)
    first, second = estimator.fit(inputs, y, sample_weight=weights).feature_importances_
    assert first > 1.0
    assert second < 1e-3


def test_importances_are_those_of_least_squares_and_select_columns(reals: Rows) -> None:
    inputs, _ = reals
    y = 3 * inputs[:, 2] * 10 + inputs[:, 0]  # columns 1 and 3 say nothing
    estimator = NetRegressor("least-squares", importances=True).fit(inputs, y)
    # Shuffled, a column of slope b and variance s^2 costs 2 b^2 s^2 in the mean, here over var(y).
    wanted = 2 * np.array([1.0, 0, 30, 0]) ** 2 * inputs.var(axis=0) / y.var()
    assert estimator.feature_importances_ == pytest.approx(wanted, rel=0.25, abs=1e-4)
    chosen = SelectFromModel(estimator, prefit=True, threshold=1e-3).get_support()
    assert chosen.tolist() == [True, False, True, False]
    assert not hasattr(
        estimator.set_params(importances=False).fit(inputs, y), "feature_importances_"
    )


def test_importances_are_measured_on_held_out_rows(reals: Rows) -> None:
    how: Any = {"hidden": (4,), "epochs": 2, "random_state": 0, "device": "cpu"}
    ours = NetRegressor(importances=True, val_size=0.5, **how).fit(*reals)
    bits = [weights_of(ours), weights_of(NetRegressor(val_size=0.5, **how).fit(*reals))]
    assert torch.equal(*bits)  # to look changes nothing
    held_out = ours.feature_importances_
    ours.set_params(val_size=0.0).fit(*reals)
    assert held_out.shape == (4,)
    assert not np.array_equal(held_out, ours.feature_importances_)


def test_importances_are_of_columns_with_a_class_or_a_real() -> None:
    inputs, labels = np.eye(12), np.eye(12, 2, dtype=int)
    with pytest.raises(ConfigError, match=r"importances are for .* got features with labels"):
        small(importances=True).fit(inputs, labels)
    with pytest.raises(ConfigError, match=r"importances are for .* got image with class"):
        small(importances=True).fit(np.zeros((12, 1, 4, 4)), np.arange(12) % 2)
