"""A torch data set as data: rows are held out, targets known at once or looked through."""

from typing import Any

import pytest
import torch
from torch.utils.data import Subset, TensorDataset

from netwright.core.config import parse
from netwright.core.errors import ConfigError, DataError
from netwright.core.trees import tensors_of
from netwright.data.batches.split import SourceSplit
from netwright.data.dataset import Data
from netwright.data.given.datasets import DATASET
from netwright.data.given.given import Given
from netwright.data.loading.stored import StoredSplit
from tests.data.batches.loaders import ROWS, Noisy, Stream, rows
from tests.data.loading.test_dataset_inputs import Listed


def load(source: Any, **settings: Any) -> Data:
    beside = {name: settings.pop(name, None) for name in ("validation", "test")}
    given = Given(data=source, **beside)
    kind = DATASET.settings(source, settings)
    return DATASET.load(given, parse(kind, given.with_sizes(settings), "data"))


class Counted(Noisy):
    """Counts the rows that are read."""

    read = 0

    def __getitem__(self, place: int) -> Any:
        self.read += 1
        return super().__getitem__(place)


def test_rows_stay_where_they_are_and_targets_that_are_held_are_taken() -> None:
    dataset = Counted()
    data = load(dataset)
    assert dataset.read < ROWS
    assert isinstance(data.train, StoredSplit)
    assert [len(split) for _, split in data.splits()] == [16, 2, 4]
    assert data.spec.class_names == ("low", "high")
    assert data.name == "Counted"
    whole = torch.cat([split.targets for _, split in data.splits()]).sort().values
    assert torch.equal(whole, dataset.targets.sort().values)


def test_targets_that_a_transform_changes_are_looked_through() -> None:
    class Turned(Counted):
        def __getitem__(self, place: int) -> Any:
            inputs, target = super().__getitem__(place)
            return inputs, 1 - target

    dataset = Turned()
    data = load(dataset, val_size=0.0, test_size=0.0)
    assert dataset.read > ROWS
    assert torch.equal(data.train.targets, 1 - dataset.targets)


def test_a_part_of_a_data_set_has_its_targets_and_names() -> None:
    whole = Counted()
    data = load(Subset(Subset(whole, range(4, 20)), range(8)), val_size=0.0, test_size=0.0)
    assert torch.equal(data.train.targets, whole.targets[4:12])
    assert data.spec.class_names == ("low", "high")
    assert whole.read < 10


def test_several_inputs_are_read_into_memory() -> None:
    items = [{"a": torch.ones(2) * row, "b": row, "y": row / 2, "w": "text"} for row in range(10)]
    data = load(Listed(items), val_size=0.0, test_size=0.0)
    assert data.spec.inputs == "parts"
    assert data.spec.target == "real"
    assert [tuple(part.shape) for part in tensors_of(data.train.inputs)] == [(10, 2), (10,)]
    weighed = load(Listed([(torch.ones(2), row % 2, 0.5) for row in range(10)]), test_size=0.0)
    assert weighed.train.weights is not None
    assert len(weighed.train.weights) == 9


def test_tensors_of_floats_are_arrays_and_others_parts() -> None:
    inputs, targets = rows()
    data = load(TensorDataset(inputs * 7 + 3, targets), validation=TensorDataset(*rows(5, 1)))
    assert data.name == "arrays"
    assert data.train.inputs.mean().abs() < 1e-6
    assert data.val is not None
    assert len(data.val) == 5
    assert load(TensorDataset(torch.arange(12).reshape(6, 2), torch.arange(6) % 2)).spec.inputs == (
        "parts"
    )
    with pytest.raises(ConfigError, match="validation must be a TensorDataset of two tensors"):
        load(TensorDataset(inputs, targets), validation=Noisy())


def test_a_stream_is_taken_in_batches() -> None:
    data = load(Stream(), validation=Stream())
    assert isinstance(data.train, SourceSplit)
    assert data.train.batch_size == ROWS
    assert isinstance(data.val, SourceSplit)


def test_what_cannot_be_learned_from_is_refused() -> None:
    with pytest.raises(ConfigError, match="test must be a Dataset as the data is, got tuple"):
        load(Noisy(), test=rows())
    with pytest.raises(DataError, match=r"^validation: the data set is empty"):
        load(Noisy(), validation=Subset(Noisy(), []))
    ragged = [(torch.zeros(row + 1).long(), row % 2) for row in range(3)]
    with pytest.raises(DataError, match="inputs of the data set have different shapes: give a"):
        load(Listed(ragged))


def test_settings_of_arrays_count_for_tensors() -> None:
    values = torch.randn(20, 2)
    values[3, 1] = torch.nan
    with_gap = TensorDataset(values, torch.arange(20) % 2)
    filled = load(with_gap, missing="mean").train.inputs
    assert tensors_of(filled)[0].isfinite().all()
    dropped = load(with_gap, missing="drop")
    assert sum(len(split) for _, split in dropped.splits()) == 19
