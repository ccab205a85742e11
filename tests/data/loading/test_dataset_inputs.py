"""Rows of a data set are read as they are, one by one, and refused by their number."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import Dataset

from netwright.core.errors import DataError
from netwright.core.seeding import seeded
from netwright.data.loading.dataset_inputs import DatasetInputs, read_row
from tests.data.batches.loaders import Noisy, rows


class Listed(Dataset[Any]):
    """The rows of a list."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, place: int) -> Any:
        return self.items[place]


def test_rows_are_read_in_the_order_that_is_asked_for() -> None:
    dataset = Listed([(np.full(3, place), place) for place in range(4)])
    stored = DatasetInputs(dataset, (3,))
    assert len(stored) == 4
    assert stored.shape == (3,)
    found = stored.read(torch.tensor([2, 0]))
    assert found.dtype is torch.float32
    assert found.tolist() == [[2.0] * 3, [0.0] * 3]
    assert repr(stored) == "DatasetInputs(Listed of 4)"


def test_draws_of_a_row_are_those_of_the_moment() -> None:
    stored, places = DatasetInputs(Noisy(), (3,)), torch.arange(4)
    with seeded(1):
        first = stored.read(places)
    with seeded(1):
        assert torch.equal(stored.read(places), first)
    with seeded(2):
        assert not torch.equal(stored.read(places), first)


def test_a_fingerprint_changes_with_the_rows() -> None:
    inputs, targets = rows(5)
    items = list(zip(inputs, targets, strict=True))
    one = DatasetInputs(Listed(items), (3,)).fingerprint()
    assert one == DatasetInputs(Listed(items), (3,)).fingerprint()
    assert one != DatasetInputs(Listed(items[1:]), (3,)).fingerprint()
    items[2] = (items[2][0] + 1, items[2][1])
    assert one != DatasetInputs(Listed(items), (3,)).fingerprint()


def test_what_cannot_be_read_is_refused_by_its_row() -> None:
    ragged = DatasetInputs(Listed([(torch.zeros(3), 0), (torch.zeros(2), 0)]), (3,))
    with pytest.raises(DataError, match=r"row 1 must have shape \(3,\), got \(2,\): give a DataL"):
        ragged.read(torch.arange(2))
    with pytest.raises(DataError, match=r"row 0 of the data set must be .* got 'object': give the"):
        read_row(Listed([(object(), 1)]), 0)
    with pytest.raises(DataError, match=r"row 0 of the data set: a row must be .inputs, targets"):
        read_row(Listed([(torch.zeros(3),) * 4]), 0)
