"""Reading arrays: every container gives the same numbers, and what is no array is refused."""

import re
from typing import Any

import numpy as np
import pytest
import torch

from netwright.core.errors import DataError
from netwright.data.raw_arrays import (
    column_names,
    read_array,
    read_numbers,
    to_float32,
    to_floats,
)
from tests.repetition import for_each

ROWS = [[1.0, 2.0], [3.0, 4.0]]


@for_each(
    "source",
    [
        ROWS,
        tuple(map(tuple, ROWS)),
        np.array(ROWS),
        np.array(ROWS, dtype=np.float16),
        np.array(ROWS, dtype=">f4"),
        np.array(ROWS, dtype=np.longdouble),
        np.array(ROWS, order="F"),
        np.array(ROWS)[::-1][::-1],
        np.array(ROWS, dtype=np.uint64),
        torch.tensor(ROWS),
        torch.tensor(ROWS, dtype=torch.bfloat16),
        torch.tensor(ROWS, requires_grad=True),
        [torch.tensor(row) for row in ROWS],
    ],
    ids=repr,
)
def test_every_container_gives_the_same_numbers(source: Any) -> None:
    assert to_floats("x", read_numbers("x", source)).tolist() == ROWS


def test_frames_and_columns_are_read_with_their_names() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2], "b": [0.5, 1.5]})
    assert read_numbers("x", frame).tolist() == [[1, 0.5], [2, 1.5]]
    assert column_names(frame) == ("a", "b")
    assert column_names(frame["b"]) == ("b",)
    assert column_names(pandas.DataFrame([[1, 2]])) == ()  # 0, 1: places, not names


def test_what_is_no_frame_brings_no_names() -> None:
    assert column_names(np.zeros((2, 2))) == ()
    assert column_names([[1, 2]]) == ()


@for_each(
    ("source", "wide"),
    [
        (np.zeros(2, np.uint8), False),
        (np.zeros(2, np.int16), False),
        (np.zeros(2, np.float32), False),
        (np.zeros(2, np.int32), True),
        (np.zeros(2, np.float64), True),
    ],
)
def test_what_float32_cannot_hold_is_kept_in_float64(source: Any, wide: bool) -> None:
    assert to_floats("x", source).dtype is (torch.float64 if wide else torch.float32)


def test_the_copy_shares_no_memory() -> None:
    source = np.zeros(3, dtype=np.float32)
    to_floats("x", source)[0] = 7
    assert source.tolist() == [0, 0, 0]


@for_each(
    ("source", "sentence"),
    [
        (np.array([1j]), "x must be real numbers, got dtype complex128"),
        (np.array([None]), "x must be real numbers, got dtype object"),
        (["a", "b"], "x must be real numbers, got dtype <U1"),
        (
            np.array(["2024-01-01"], dtype="M8[D]"),
            "x must be real numbers, got dtype datetime64[D]",
        ),
        ([[1], [1, 2]], "x must be an array or nested lists of one shape, got list"),
        (
            torch.zeros(2, 2).to_sparse(),
            "x must be an array or nested lists of one shape, got Tensor",
        ),
        ({1, 2}, "x must be real numbers, got dtype object"),
    ],
)
def test_refuses_what_are_no_numbers(source: Any, sentence: str) -> None:
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        read_numbers("x", source)


def test_refuses_nan_and_infinity_by_their_place() -> None:
    source = read_array("x", [[0.0, 1.0], [float("nan"), float("inf")]])
    with pytest.raises(DataError, match=r"^x must be finite, got nan at \[1, 0\] \(2 in all\)$"):
        to_floats("x", source)


def test_refuses_what_is_too_large_for_float32() -> None:
    values = to_floats("x", np.array([1.0, -1e39]))
    sentence = r"^x as float32 must be finite, got -inf at \[1\] \(1 in all\)$"
    with pytest.raises(DataError, match=sentence):
        to_float32("x", values)


def test_the_copy_lies_row_after_row() -> None:
    assert to_floats("x", np.array(ROWS, order="F")).is_contiguous()
