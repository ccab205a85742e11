"""Inputs as they are: their form is kept, and what has another form is refused by its part."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from netwright.core.errors import DataError, NetwrightError
from netwright.core.field_kinds import check_fields
from netwright.data.tree_encoder import TreeEncoder, form_of
from tests.repetition import for_each

TARGET: dict[str, Any] = {"target": "class", "num_outputs": 2, "class_names": ("no", "yes")}
TWO = TreeEncoder(
    form="dict",
    names=("image", "age"),
    shapes=((1, 2, -1), ()),
    dtypes=("float32", "int64"),
    **TARGET,
)
PAIR = TreeEncoder(
    form="tuple", names=("0", "1"), shapes=((2,), ()), dtypes=("float32", "int64"), **TARGET
)
ONE = TreeEncoder(form="tensor", names=("x",), shapes=((2,),), dtypes=("float32",), **TARGET)


def test_arrays_and_tensors_become_tensors_of_the_known_form() -> None:
    given = {"age": [3, 4], "image": np.zeros((2, 1, 2, 5)), "more": "unread"}
    encoded = TWO.encode(given)
    assert list(encoded) == ["image", "age"]
    assert encoded["image"].dtype is torch.float32
    assert encoded["age"].tolist() == [3, 4]
    first, second = PAIR.encode([np.ones((3, 2)), np.arange(3)])
    assert first.shape == (3, 2)
    assert second.dtype is torch.int64
    assert torch.equal(ONE.encode([[1, 2]]), torch.tensor([[1.0, 2.0]]))


@for_each(
    ("encoder", "given", "told"),
    [
        (TWO, [1, 2], "must be a dict with image, age, got list"),
        (TWO, {"image": 1}, "must have age, got image"),
        (PAIR, (np.ones((3, 2)),), "a tuple of 2 parts, got 1 parts"),
        (PAIR, {"0": 1}, "a tuple of 2 parts, got dict"),
        (PAIR, (np.ones((3, 2)), [1, 2]), "must have as many rows, got 3 and 2"),
        (PAIR, (np.ones((3, 4)), [1, 2, 3]), "part '0' of inputs must have shape (N, 2), got"),
        (TWO, {"image": np.ones((2, 1, 3, 5)), "age": [1, 2]}, "(N, 1, 2, any), got (2, 1, 3, 5)"),
        (ONE, [[1.0, float("nan")]], "must be finite"),
        (ONE, ["text"], "inputs must be numbers, got list"),
    ],
)
def test_what_has_another_form_is_refused_by_its_part(
    encoder: TreeEncoder, given: Any, told: str
) -> None:
    with pytest.raises(NetwrightError, match=re.escape(told)):
        encoder.encode(given)


def test_targets_are_encoded_as_arrays_are() -> None:
    assert ONE.encode_targets(["yes", "no"]).tolist() == [1, 0]
    reals = TreeEncoder(
        form="tensor", names=("x",), shapes=((2,),), dtypes=("float32",), target="real",
        num_outputs=1,
    )  # fmt: skip
    assert reals.encode_targets([1.5, 2.5]).tolist() == [[1.5], [2.5]]


def test_it_travels_as_plain_values() -> None:
    for encoder in (ONE, TWO, PAIR):
        again = TreeEncoder.from_json(encoder.to_json())
        assert again == encoder
        check_fields(again)
        again.check_numbers()


@for_each(
    ("encoder", "changes", "sentence"),
    [
        (ONE, {"dtypes": ("save",)}, "there is no dtype 'save'"),
        (ONE, {"shapes": ((10**9, 10**9),)}, "an example holds"),
        (ONE, {"shapes": ((-2,),)}, "a size of a saved encoder must be -1 or more, got -2"),
        (ONE, {"names": ("x", "y")}, "names of a saved encoder must have 1 entries, got 2"),
        (TWO, {"dtypes": ("float32",)}, "dtypes of a saved encoder must have 2 entries, got 1"),
        (PAIR, {"shapes": ((2,),)}, "shapes of a saved encoder must have 2 entries, got 1"),
        (
            PAIR,
            {"names": (), "shapes": (), "dtypes": ()},
            "the number of parts of a saved encoder must be positive, got 0",
        ),
    ],
)
def test_numbers_that_no_training_gives_are_refused(
    encoder: TreeEncoder, changes: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(DataError, match=f"^{sentence}"):
        replace(encoder, **changes).check_numbers()


def test_a_row_is_shown_by_its_few_numbers_or_its_size() -> None:
    encoded = TWO.encode({"image": torch.zeros(1, 1, 2, 5), "age": [7]})
    assert TWO.decode(encoded) == [{"image": "1 x 2 x 5 numbers", "age": "7"}]
    offset, scale = ONE.units()
    assert offset.tolist() == [0.0, 0.0]
    assert scale.tolist() == [1.0, 1.0]


def test_the_form_of_inputs_is_told_and_trees_in_trees_are_refused() -> None:
    part = torch.zeros(2)
    assert form_of(part)[:2] == ("tensor", ("x",))
    assert form_of([part, part])[:2] == ("tuple", ("0", "1"))
    assert form_of({"a": part})[:2] == ("dict", ("a",))
    with pytest.raises(DataError, match="got list in part 'a'"):
        form_of({"a": [part]})
