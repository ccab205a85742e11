"""Targets far from all others, by hand."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from netwright.data.arrays import ArraysConfig, from_arrays
from netwright.data.checkup.loaded_data import look_at_data
from netwright.data.checkup.origin import Origin
from netwright.data.checkup.target_outliers import (
    LEAST_ROWS,
    TARGET_OUTLIERS,
    farthest_rows,
    find_target_outliers,
)
from netwright.data.dataset import Data, Split
from netwright.data.loading.stored import sample_stored
from tests.repetition import for_each

ROWS = 400


def split_of(targets: Tensor, weights: Tensor | None = None) -> Split:
    return Split(inputs=torch.zeros(len(targets), 1), targets=targets, weights=weights)


def data_of(targets: NDArray[np.float64]) -> Data:
    config = ArraysConfig(val_size=0.0, test_size=0.0)
    return from_arrays(inputs_of(targets), targets, config=config)


def inputs_of(targets: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.arange(len(targets), dtype=np.float64)[:, None]


def test_the_share_by_hand() -> None:
    # Mean 1: 49 squares of 1 and one of 49^2; one row in fifty is looked at.
    targets = torch.zeros(50, 1)
    targets[7] = 50.0
    share, target, rows = farthest_rows(split_of(targets))
    assert share == pytest.approx(49**2 / (49**2 + 49))
    assert (target, rows) == (0, [7])


def test_the_worst_of_several_targets_is_told_and_a_constant_one_is_none() -> None:
    targets = torch.zeros(100, 3)
    targets[:, 1] = torch.arange(100.0)
    targets[3, 2] = -50.0
    assert farthest_rows(split_of(targets))[1:] == (2, [3])
    assert farthest_rows(split_of(targets[:, :1])).share == 0.0


def test_a_row_of_weight_zero_is_not_there() -> None:
    targets = torch.arange(100.0)[:, None]
    targets[7] = 1e6
    weights = torch.ones(100)
    weights[7] = 0.0
    assert farthest_rows(split_of(targets)).rows == [7]
    assert 7 not in farthest_rows(split_of(targets, weights)).rows


def test_outliers_are_named_with_their_rows() -> None:
    targets = np.sin(np.arange(ROWS))
    targets[[11, 300]] = 1e5, -1e5
    source = (inputs_of(targets), targets)
    found = find_target_outliers(data_of(targets), Origin(source=source))
    assert found is not None
    assert found.sentence.startswith(
        "2 of 400 (0.5%) rows of train account for 100.0% of the squared"
    )
    assert "(row 11, 300)" in found.sentence
    assert "deviation of 'y': 1e+05, -1e+05, where the median is" in found.sentence
    assert (found.illness, found.see) == (TARGET_OUTLIERS.illness, "squared-loss-outliers")
    assert found.fix == (
        "Fix these targets or drop the rows; if they are correct, predict the logarithm of the "
        "target"
    )


@for_each("draw", ["normal", "lognormal", "exponential", "uniform"])
def test_targets_as_they_are_found_in_the_world_are_silent(draw: str) -> None:
    targets = getattr(np.random.default_rng(0), draw)(size=ROWS)
    assert find_target_outliers(data_of(targets), Origin()) is None


def test_few_rows_are_not_judged() -> None:
    targets = np.zeros(LEAST_ROWS - 1)
    targets[3] = 1e5
    assert find_target_outliers(data_of(targets), Origin()) is None
    assert find_target_outliers(data_of(np.append(targets, 0.0)), Origin()) is not None


def test_of_stored_rows_all_targets_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    targets = np.sin(np.arange(ROWS))
    targets[[11, 300]] = 1e5, -1e5
    np.save(tmp_path / "x.npy", inputs_of(targets))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    data = from_arrays(mapped, targets, config=ArraysConfig(val_size=0.0, test_size=0.0))
    few = partial(sample_stored, most=2)
    monkeypatch.setattr("netwright.data.checkup.loaded_data.sample_stored", few)
    illnesses = {finding.illness for finding in look_at_data(data, Origin()).findings}
    assert "target-outliers" in illnesses
