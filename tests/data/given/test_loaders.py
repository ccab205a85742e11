"""A DataLoader as data: its kinds, classes and names come from its first batches."""

from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from netwright.core.errors import ConfigError, DataError
from netwright.data.array_encoder import ArrayEncoder
from netwright.data.batches import sample
from netwright.data.batches.split import SourceSplit
from netwright.data.dataset import Data
from netwright.data.given.given import Given
from netwright.data.given.loaders import LoaderConfig, from_loader, labelled_batches
from netwright.data.tree_encoder import TreeEncoder
from tests.data.batches.loaders import ROWS, noisy_loader, rows
from tests.repetition import for_each


def tensors(*parts: torch.Tensor, **settings: Any) -> DataLoader[Any]:
    return DataLoader(TensorDataset(*parts), **{"batch_size": 4, **settings})


def load(loader: Any, validation: Any = None, test: Any = None, **settings: Any) -> Data:
    given = Given(data=loader, validation=validation, test=test)
    return from_loader(given, LoaderConfig(**settings))


def test_classes_have_the_names_of_the_data_set() -> None:
    data = load(noisy_loader())
    assert data.spec.class_names == ("low", "high")
    assert data.spec.input_shape == (3,)
    assert data.val is None
    assert isinstance(data.train, SourceSplit)
    assert data.train.batches == 6
    assert data.notes == ("the targets are whole numbers: treated as 2 classes",)


@for_each(
    ("inputs", "kind"),
    [
        (torch.zeros(8, 3), "features"),
        (torch.zeros(8, 5, 3), "series"),
        (torch.zeros(8, 3, 4, 4), "image"),
        (torch.zeros(8, 3).long(), "parts"),
        (torch.zeros(8), "parts"),
    ],
)
def test_one_float_tensor_is_told_by_its_dimensions(inputs: torch.Tensor, kind: str) -> None:
    spec = load(tensors(inputs, torch.arange(8) % 3)).spec
    assert spec.inputs == kind
    assert spec.class_names == ("0", "1", "2")
    assert spec.class_type == "int"


def test_floats_are_reals_and_may_be_said_to_be_labels() -> None:
    columns = (torch.arange(16.0).reshape(8, 2) > 7).float()
    assert load(tensors(torch.zeros(8, 3), columns)).spec.target == "real"
    spec = load(tensors(torch.zeros(8, 3), columns), kind="labels").spec
    assert spec.class_names == ("y0", "y1")
    one = load(tensors(torch.zeros(8, 3), torch.arange(8.0)))
    assert one.spec.num_outputs == 1
    assert one.train.targets.shape == (8, 1)


def test_validation_and_test_are_loaders_of_their_own() -> None:
    inputs, targets = rows(8)
    beside = tensors(inputs, targets + 1)
    data = load(tensors(*rows()), beside, beside)
    assert data.val is not None
    assert data.spec.num_outputs == 3
    assert data.test_is_given
    with pytest.raises(
        ConfigError, match="validation must be a DataLoader as the data is, got tup"
    ):
        load(tensors(*rows()), (inputs, targets))
    with pytest.raises(DataError, match=r"^test: the loader gives no batch"):
        load(tensors(*rows()), test=tensors(inputs[:0], targets[:0]))


def test_of_many_batches_the_first_are_looked_at_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sample, "MOST_BATCHES", 2)
    data = load(noisy_loader())
    assert data.notes[-1].startswith("the first 2 batches of the DataLoader, 8 rows, were read")
    assert isinstance(data.train, SourceSplit)
    assert data.train.batches == 6
    assert not data.train.is_whole


def test_several_inputs_are_parts() -> None:
    inputs, targets = rows()
    pairs: Any = [((inputs, targets), targets)]
    data = load(DataLoader(pairs, batch_size=None))
    assert data.spec.inputs == "parts"
    assert isinstance(data.preprocessor, TreeEncoder)
    assert data.preprocessor.form == "tuple"
    assert data.preprocessor.dtypes == ("float32", "int64")


def test_what_cannot_be_learned_from_is_refused() -> None:
    with pytest.raises(ConfigError, match="cannot be held out: give validation=DataLoader"):
        load(noisy_loader(), val_size=0.1)
    with pytest.raises(DataError, match="classes must be 0 or more, got -1"):
        load(tensors(torch.zeros(8, 3), torch.arange(8) - 1))
    with pytest.raises(DataError, match=r"must have shape \(N,\) or \(N, K\), got \(N, 2, 2\)"):
        load(tensors(torch.zeros(8, 3), torch.zeros(8, 2, 2)))


def test_batches_to_measure_on_are_those_of_a_run_on_batches() -> None:
    data = load(noisy_loader())
    split = labelled_batches(noisy_loader(), data.spec, data.preprocessor)
    assert len(split) == ROWS
    scaled = ArrayEncoder(input_shape=(3,), target="class", num_outputs=2)
    with pytest.raises(ConfigError, match="was not trained on a DataLoader"):
        labelled_batches(noisy_loader(), data.spec, scaled)
