"""A tuple or dict of arrays, each with a row for every target."""

from typing import Any

import numpy as np
import pytest
import torch

from netwright.core.errors import DataError
from netwright.data.given.given import Given
from netwright.data.given.several_inputs import SEVERAL_INPUTS, SeveralInputsConfig, is_several

NUMBERS = np.arange(24.0).reshape(12, 2)
PLACES = np.arange(12) % 3
LABELS = ["a", "b"] * 6
NONE = SeveralInputsConfig(val_size=0.0, test_size=0.0)


def load(inputs: Any, targets: Any, *weights: Any, **beside: Any) -> Any:
    return SEVERAL_INPUTS.load(Given(data=(inputs, targets, *weights), **beside), NONE)


def test_parts_are_taken_as_they_are() -> None:
    data = load({"numbers": NUMBERS, "place": PLACES}, LABELS, np.arange(1, 13))
    assert (data.spec.inputs, data.spec.class_names) == ("parts", ("a", "b"))
    numbers, place = data.train.inputs["numbers"], data.train.inputs["place"]
    assert (numbers.dtype, place.dtype) == (torch.float32, torch.int64)
    assert numbers.tolist() == NUMBERS.tolist()
    assert data.train.weights.tolist() == list(range(1, 13))
    assert any("nothing is scaled" in note for note in data.notes)
    assert load((NUMBERS, PLACES), np.arange(12) * 5 % 10).spec.class_names == ("0", "5")
    several = load((NUMBERS, PLACES), NUMBERS)
    assert (several.spec.target, several.spec.num_outputs) == ("real", 2)


def test_rows_are_held_out_or_given() -> None:
    given = Given(data=((NUMBERS, PLACES), LABELS), test=((NUMBERS[:3], PLACES[:3]), LABELS[:3]))
    data = SEVERAL_INPUTS.load(given, SeveralInputsConfig(val_size=0.25, test_size=0.0))
    assert [len(split) for _, split in data.splits()] == [9, 3, 3]
    assert data.test_is_given
    assert data.split("test").inputs[1].tolist() == PLACES[:3].tolist()


def test_several_are_told_from_rows() -> None:
    assert is_several(((NUMBERS, PLACES), LABELS))
    assert is_several(({"x": NUMBERS}, LABELS))
    assert not is_several((NUMBERS, LABELS))
    assert not is_several((tuple(NUMBERS), LABELS))  # twelve rows
    assert not is_several((((0.0, 1.0), (1.0, 2.0)), [0, 1]))
    assert not is_several((({}), []))
    assert not is_several((NUMBERS,))


def test_refusals() -> None:
    with pytest.raises(DataError, match="must have as many rows, got 12 and 3"):
        load({"numbers": NUMBERS, "place": PLACES[:3]}, LABELS)
    with pytest.raises(DataError, match="there are 12 inputs but 2 targets"):
        load({"numbers": NUMBERS, "place": PLACES}, LABELS[:2])
    with pytest.raises(DataError, match="part 'numbers' of the inputs must be finite"):
        load({"numbers": NUMBERS * np.nan, "place": PLACES}, LABELS)
    with pytest.raises(DataError, match="test: inputs must have place, got numbers"):
        parts = {"numbers": NUMBERS, "place": PLACES}
        load(parts, LABELS, test=({"numbers": NUMBERS}, LABELS))
