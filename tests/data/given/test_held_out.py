"""Rows that are given are encoded by the training rows, and told of."""

import pandas as pd
import pytest
import torch

from netwright.core.errors import DataError
from netwright.data.given.given import Given
from netwright.data.given.held_out import add_splits
from netwright.data.tables.table import TableConfig, from_frame

FRAME = pd.DataFrame({"x": [0.0, 1, 2, 3, 4, 5], "kind": list("ababab"), "w": [1, 1, 1, 1, 1, 1]})
CONFIG = TableConfig(target=("kind",), weight_column="w", val_size=0.0, test_size=0.0)
DATA = from_frame(FRAME, CONFIG)


def test_rows_are_encoded_as_the_training_rows() -> None:
    rows = pd.DataFrame({"x": [2.5, 60.0], "kind": ["b", "a"], "w": [2, 3]})
    data = add_splits(DATA, Given(data=FRAME, test=rows))
    test = data.split("test")
    assert test.targets.tolist() == [1, 0]
    assert test.inputs[0].tolist() == [0]  # 2.5 is the mean of the training rows
    assert test.weights is not None
    assert test.weights.tolist() == [2, 3]
    assert data.val is None
    assert data.test_is_given
    assert "2 test rows are given" in data.notes
    assert any("far outside the training range" in note and "(test)" in note for note in data.notes)
    assert torch.equal(data.train.inputs, DATA.train.inputs)


def test_rows_that_do_not_fit_are_refused_by_the_part_that_they_are_in() -> None:
    with pytest.raises(DataError, match=r"^validation: frame lacks 2 columns .*'x', 'w'"):
        add_splits(DATA, Given(data=FRAME, validation=FRAME[["kind"]]))
    other = FRAME.assign(kind="c")
    with pytest.raises(DataError, match=r"^test: frame, row 0: column 'kind': 'c' is not a known"):
        add_splits(DATA, Given(data=FRAME, test=other))


def test_inputs_and_targets_may_be_apart() -> None:
    data = add_splits(DATA, Given(data=FRAME, validation=(FRAME[:2], ["b", "a"], [1, 3])))
    val = data.split("val")
    assert val.inputs.equal(DATA.train.inputs[:2])
    assert val.targets.tolist() == [1, 0]
    assert val.weights is not None
    assert val.weights.tolist() == [1, 3]
    assert (
        add_splits(DATA, Given(data=FRAME, test=(FRAME, list("ababab")))).split("test").weights
        is None
    )
