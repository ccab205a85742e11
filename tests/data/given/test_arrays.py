"""Inputs and targets with rows beside them."""

import numpy as np
import pytest
import torch

from netwright.core.errors import ConfigError, DataError, ShapeError
from netwright.data.arrays import ArraysConfig
from netwright.data.given.arrays import ARRAYS
from netwright.data.given.given import Given

X = np.arange(24.0).reshape(12, 2)
Y = np.arange(12) % 2
NONE = ArraysConfig(val_size=0.0, test_size=0.0)


def test_given_rows_are_scaled_by_the_rows_that_are_learned_from() -> None:
    given = Given(data=(X, Y), validation=(X[:3] + 100, Y[:3], [1, 0, 2]), test=(X[3:5], Y[3:5]))
    data = ARRAYS.load(given, NONE)
    assert [len(split) for _, split in data.splits()] == [12, 3, 2]
    expected = torch.from_numpy((X[:3] + 100 - X.mean(0)) / X.std(0))
    torch.testing.assert_close(data.split("val").inputs, expected.float())
    weights = data.split("val").weights
    assert weights is not None
    assert weights.tolist() == [1, 0, 2]
    assert data.split("test").weights is None
    assert data.test_is_given
    assert not ARRAYS.load(Given(data=(X, Y), validation=(X, Y)), NONE).test_is_given


def test_refusals_name_the_part() -> None:
    with pytest.raises(ConfigError, match=r"^validation must be \(inputs, targets\[, weights\]\)"):
        ARRAYS.load(Given(data=(X, Y), validation=X), NONE)
    with pytest.raises(DataError, match="test targets have an unknown label '7' in row 1"):
        ARRAYS.load(Given(data=(X, Y), test=(X[:2], [1, 7])), NONE)
    with pytest.raises(ShapeError, match=r"validation weights must have shape \(2\)"):
        ARRAYS.load(Given(data=(X, Y), validation=(X[:2], Y[:2], [1.0])), NONE)
