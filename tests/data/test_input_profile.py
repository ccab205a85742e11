"""The profile of inputs: the same however they are cut into stretches, and as NumPy computes it."""

import hashlib
import re

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import StandardScaler
from torch import Tensor

from netwright.core.errors import DataError
from netwright.data.input_profile import (
    measure_features,
    measure_largest,
    stretches,
    training_weights,
)
from tests.repetition import for_each


def features(rows: int = 1000) -> Tensor:
    """Four columns: plain, far from zero, constant, tiny."""
    random = np.random.default_rng(0)
    columns = random.normal(size=(rows, 4)) * (1, 1e3, 0, 1e-6) + (0, 1.7e9, 0.1, 0)
    return torch.from_numpy(columns)


@for_each("size", [1, 7, 250, 999, 1000])
def test_cutting_into_stretches_changes_nothing_but_rounding(size: int) -> None:
    values = features()
    profile = measure_features(torch.split(values, size))
    reference = StandardScaler().fit(values.numpy())
    np.testing.assert_allclose(profile.mean, reference.mean_, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(profile.scale, reference.scale_, rtol=1e-6)
    assert profile.constant.tolist() == [False, False, True, False]
    assert (float(profile.mean[2]), float(profile.scale[2])) == (0.1, 1.0)
    assert torch.equal(profile.low, values.amin(0)) and torch.equal(profile.high, values.amax(0))


@given(st.integers(0, 2**20), st.integers(1, 20))
@settings(max_examples=40, deadline=None)
def test_a_weight_is_so_many_rows(seed: int, size: int) -> None:
    numbers = torch.Generator().manual_seed(seed)
    values = 10 * torch.randn(20, 3, generator=numbers, dtype=torch.float64) + 5
    weights = torch.randint(0, 4, (20,), generator=numbers)
    weights[3] = 2
    values[:, 2] = torch.where(weights > 0, 4.0, 9.0)  # constant, but for rows that are not there
    weighted = measure_features(torch.split(values, size), weights.float())
    repeated = measure_features([values.repeat_interleave(weights, dim=0)])
    torch.testing.assert_close(weighted.mean, repeated.mean, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(weighted.scale, repeated.scale, rtol=1e-12, atol=1e-12)
    assert weighted.constant.tolist() == repeated.constant.tolist()
    assert torch.equal(weighted.high, repeated.high)  # no 9


def test_weights_come_in_the_order_of_the_rows_and_once_a_step() -> None:
    weights = torch.tensor([1.0, 2.0, 3.0, 4.0])
    found = training_weights(weights, torch.tensor([3, 0]), 2)
    assert found is not None
    assert found.tolist() == [1, 1, 4, 4]
    with_a_zero = training_weights(torch.tensor([1.0, 0.0]), torch.tensor([0, 1]))
    assert with_a_zero is not None
    assert with_a_zero.tolist() == [1, 0]  # a row that is not there
    for refused in (None, -weights, torch.zeros(4)):
        assert training_weights(refused, torch.tensor([0])) is None


def test_one_stretch_gives_the_same_bits_as_all_rows_at_once() -> None:
    values = features()
    profile = measure_features([values])
    moved = ~profile.constant
    assert torch.equal(profile.mean[moved], values.mean(dim=0)[moved])
    assert torch.equal(profile.scale[moved], values.std(dim=0, correction=0)[moved])


def test_numbers_near_the_end_of_the_range_do_not_overflow() -> None:
    values = torch.full((2, 1), 1e200, dtype=torch.float64)
    assert measure_features([values]).mean.tolist() == [1e200]
    with pytest.raises(DataError, match=r"^the mean of the training inputs must be finite, got"):
        measure_features([torch.tensor([[1.7e308], [1.7e308]], dtype=torch.float64)])


@pytest.mark.parametrize("in_memory", [False, True])
def test_stretches_give_the_wanted_rows_in_order(
    in_memory: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netwright.data.input_profile.STRETCH", 6)
    array = np.arange(20.0).reshape(10, 2)
    values = torch.from_numpy(array) if in_memory else array
    rows = torch.tensor([8, 0, 2, 9])
    parts = list(stretches("inputs", values, rows))
    assert [part[:, 0].tolist() for part in parts] == [[0, 4], [16], [18]]
    assert [len(part) for part in stretches("inputs", values)] == [3, 3, 3, 1]


@pytest.mark.parametrize("dtype", ["<f4", ">f8", "<f2", "|u1", "|b1"])
@pytest.mark.parametrize("layout", ["rows", "columns", "every other"])
def test_all_bytes_are_shown_in_the_order_of_the_rows(
    dtype: str, layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netwright.data.input_profile.STRETCH", 12)
    array = np.arange(80).reshape(20, 1, 2, 2).astype(dtype)
    if layout == "columns":
        array = np.asfortranarray(array)
    elif layout == "every other":
        array = array[::2, :, :, 1:]
    digest = hashlib.sha256()
    for _ in stretches("inputs", array, torch.tensor([3]), watch=digest.update):
        pass  # only one row is given, all of them are shown
    assert digest.hexdigest() == hashlib.sha256(array.tobytes()).hexdigest()


def test_every_row_is_checked_also_those_that_are_not_wanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("netwright.data.input_profile.STRETCH", 6)
    array = np.zeros((10, 2))
    array[7, 1] = np.inf
    sentence = "inputs[6:9] must be finite, got inf at [1, 1] (1 in all)"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        list(stretches("inputs", array, torch.tensor([0])))


def test_the_largest_number_and_the_largest_magnitude() -> None:
    parts = [torch.tensor([[[1.0, -9.0]]]), torch.tensor([[[3.0, 2.0]]])]
    assert measure_largest(parts) == (3.0, 9.0)


def test_tensors_are_taken_in_any_precision() -> None:
    values = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.bfloat16)
    (part,) = stretches("inputs", values)
    assert part.dtype == torch.bfloat16
    assert torch.equal(part, values)
