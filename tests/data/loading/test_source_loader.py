"""Batches of a caller's loader behave like those of any loader."""

from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from netwright.core.errors import ConfigError, DataError
from netwright.data.batches.split import SourceSplit
from netwright.data.given.given import Given
from netwright.data.given.loaders import LoaderConfig, from_loader
from netwright.data.loading.source_loader import SourceLoader
from netwright.data.loading.worker_loader import build_loader
from tests.data.batches.loaders import ROWS, Stream, noisy_loader, rows


def split(loader: Any) -> SourceSplit:
    train = from_loader(Given(data=loader), LoaderConfig()).train
    assert isinstance(train, SourceSplit)
    return train


def test_an_epoch_is_entered_anywhere() -> None:
    loader = build_loader(split(noisy_loader()), 4, seed=1)
    assert isinstance(loader, SourceLoader)
    assert (len(loader), loader.rows, loader.batch_size) == (6, ROWS, 4)
    whole = list(loader.epoch(1))
    rest = list(loader.epoch(1, start=4))
    assert [len(batch.targets) for batch in whole] == [4, 4, 4, 4, 4, 2]
    for one, other in zip(whole[4:], rest, strict=True):
        assert torch.equal(one.inputs, other.inputs)
    assert loader.sizes(5) == (2, 2)
    assert whole[1].rows.tolist() == [0, 1, 2, 3]
    assert whole[5].rows.tolist() == [0, 1]


def test_a_pass_to_measure_is_always_the_same_and_ends_with_the_loader() -> None:
    loader = build_loader(split(noisy_loader()), 4, shuffle=False)
    first, second = (torch.cat([batch.inputs for batch in loader.epoch(0)]) for _ in range(2))
    assert torch.equal(first, second)
    assert len(first) == ROWS


def test_weights_have_a_mean_of_one() -> None:
    weights = torch.arange(1.0, ROWS + 1)
    train = split(DataLoader(TensorDataset(*rows(), weights), batch_size=4))
    batches = list(SourceLoader(train).epoch(0))
    total = sum(float(batch.weights.sum()) for batch in batches if batch.weights is not None)
    assert total == pytest.approx(ROWS)


def test_a_class_that_comes_later_is_refused_with_its_batch() -> None:
    inputs, targets = rows()
    train = split(DataLoader(TensorDataset(inputs, targets), batch_size=4))
    targets[9] = 2
    with pytest.raises(
        DataError, match="batch 2 of the loader: label 2 is out of range: there are"
    ):
        list(SourceLoader(train).epoch(0))


def test_a_stream_without_a_length_needs_one() -> None:
    train = split(DataLoader(Stream(), batch_size=8)).changed(batches=None)
    with pytest.raises(ConfigError, match="give max_steps"):
        len(SourceLoader(train))
    loader = SourceLoader(train.changed(batches=5))
    assert [len(batch.targets) for batch in loader.epoch(0)] == [8, 8, 6, 8, 8]
    assert loader.rows == 40


def test_several_processes_are_refused_with_the_way_that_works() -> None:
    with pytest.raises(ConfigError, match="in one process, got 2: give its Dataset"):
        SourceLoader(split(noisy_loader()), world=2)
