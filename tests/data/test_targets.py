"""Targets: which kind they are, what they become, and what is refused."""

import re
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given

from netwright.core.errors import DataError, ShapeError
from netwright.data.targets import (
    encode_classes,
    encode_labels,
    encode_reals,
    infer_kind,
    names_of_classes,
    read_targets,
)
from tests.repetition import for_each

MANY = list(range(30))


@for_each(
    ("source", "kind", "note"),
    [
        ([3, 1, 3], "class", "the targets are whole numbers: treated as 2 classes"),
        (["b", "a"], "class", "the targets are text: treated as 2 classes"),
        ([True, False], "class", "the targets are true or false: treated as 2 classes"),
        ([[1], [2]], "class", "the targets are whole numbers: treated as 2 classes"),
        (
            MANY,
            "class",
            "the targets are whole numbers: treated as 30 classes; kind=real makes them real",
        ),
        ([0.5, 1.5], "real", "the targets are floats: treated as 1 real"),
        ([[0.5, 1.0], [1.5, 2.0]], "real", "the targets are floats: treated as 2 reals"),
        (
            [0.0, 1.0, 1.0],
            "real",
            "the targets are floats with 2 distinct values, all integers: treated as real; "
            "kind=class makes them classes",
        ),
        ([float(value) for value in MANY], "real", "the targets are floats: treated as 1 real"),
        (
            [[1, 0, 1], [0, 0, 0]],
            "labels",
            "the targets are 3 columns of 0 and 1: treated as labels",
        ),
        (
            [[True, False], [False, True]],
            "labels",
            "the targets are 2 columns of 0 and 1: treated as labels; each row has exactly one, "
            "so class indices may be intended",
        ),
    ],
)
def test_the_kind_is_told_and_said(source: Any, kind: str, note: str) -> None:
    assert infer_kind(read_targets(source)) == (kind, note)


@for_each(
    ("source", "names"),
    [
        ([10, 9, 10, -1], ("-1", "9", "10")),  # by size, not by alphabet
        (["b", "a", "B"], ("B", "a", "b")),
        ([True, False], ("False", "True")),
        ([2.0, 0.5], ("0.5", "2")),
        (np.array(["x", "y"], dtype=object), ("x", "y")),
        (np.array([2, 1], dtype=object), ("1", "2")),
        (np.array([2, 0.5], dtype=object), ("0.5", "2")),
    ],
)
def test_classes_are_named_in_their_own_order(source: Any, names: tuple[str, ...]) -> None:
    assert names_of_classes(read_targets(source)) == names


@given(st.lists(st.integers(-50, 50) | st.integers(10**12, 10**12 + 5), min_size=1))
def test_labels_come_back_from_their_indices(labels: list[int]) -> None:
    names = names_of_classes(read_targets(labels))
    indices = encode_classes(labels, names)
    assert indices.dtype is torch.int64
    assert [int(names[index]) for index in indices.tolist()] == labels


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0")), min_size=1))
def test_text_comes_back_from_its_indices(labels: list[str]) -> None:
    names = names_of_classes(read_targets(labels))
    assert [names[index] for index in encode_classes(labels, names).tolist()] == labels


def test_the_order_of_the_names_is_the_order_of_the_indices() -> None:
    assert encode_classes(["no", "yes", "no"], ("yes", "no")).tolist() == [1, 0, 1]


@for_each("labels", [[1, 0], [1.0, 0.0], ["1", "0"], [[1], [0]]])
def test_a_number_and_its_text_are_the_same_class(labels: Any) -> None:
    assert encode_classes(labels, ("0", "1")).tolist() == [1, 0]


@for_each("source", [[2, 3], [2.0, 3.0], [[2], [3]], torch.tensor([2, 3])])
def test_reals_become_a_column(source: Any) -> None:
    values = encode_reals(source, 1)
    assert values.tolist() == [[2.0], [3.0]]
    assert values.dtype is torch.float32


def test_labels_become_zeros_and_ones() -> None:
    values = encode_labels([[True, False], [True, True]], 2)
    assert values.tolist() == [[1, 0], [1, 1]]
    assert values.dtype is torch.float32


@for_each(
    ("source", "sentence"),
    [
        (np.array([1j]), "targets must be numbers or text, got dtype complex128"),
        (np.array([1, "a"], dtype=object), "targets must be of one kind, got int and str"),
        (np.array([True, 2], dtype=object), "targets must be of one kind, got bool and int"),
        (np.array(["a", None], dtype=object), "targets must not be missing, got None in row 1"),
        (
            np.array([["a", "b"], ["c", float("nan")]], dtype=object),
            "targets must not be missing, got nan in row 1",
        ),
        (5, "targets must have shape (N,) or (N, K), got ()"),
        (np.zeros((2, 2, 2)), "targets must have shape (N,) or (N, K), got (2, 2, 2)"),
    ],
)
def test_refuses_what_can_be_no_target(source: Any, sentence: str) -> None:
    with pytest.raises((DataError, ShapeError), match=f"^{re.escape(sentence)}$"):
        read_targets(source)


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ([["a", "b"]], "text"),
        (
            [[2, 3]],
            "whole numbers: for one target a token, a tag or the next token, give a DataLoader or "
            "Dataset whose inputs are tokens of the same shape",
        ),
    ],
)
def test_refuses_columns_whose_kind_cannot_be_told(source: Any, what: str) -> None:
    sentence = f"targets must be one column, floats, or columns of 0 and 1, got 2 columns of {what}"
    with pytest.raises(DataError, match=f"^{sentence}$"):
        infer_kind(read_targets(source))


@for_each(
    ("labels", "names", "sentence"),
    [
        (
            ["cat", "dgo"],
            ("cat", "dog"),
            "targets have an unknown label 'dgo' in row 1; did you mean 'dog'?",
        ),
        ([0, 7], ("0", "1"), "targets have an unknown label '7' in row 1; there are 0, 1"),
        (
            [99],
            tuple(f"class {letter}" for letter in "abcdefghijkl"),
            "targets have an unknown label '99' in row 0; there are class a, class b, class c, "
            "class d, class e, class f, class g, class h, class i, class j ... (12 in all)",
        ),
        ([[0, 1]], ("0", "1"), "targets must have shape (N,), got (1, 2)"),
        ([0.0, float("nan")], ("0",), "targets must be finite, got nan at [1] (1 in all)"),
    ],
)
def test_refuses_labels_by_name(labels: Any, names: tuple[str, ...], sentence: str) -> None:
    with pytest.raises((DataError, ShapeError), match=f"^{re.escape(sentence)}$"):
        encode_classes(labels, names)


@for_each(
    ("source", "sentence"),
    [
        ([[0, 1], [2, 0]], "targets must be 0 or 1, got 2 at [1, 0]"),
        ([[0, 1, 1]], "targets must have shape (N, 2), got (1, 3)"),
        ([0, 1], "targets must have shape (N, 2), got (2,)"),
        ([["a", "b"]], "targets must be real numbers, got dtype <U1"),
    ],
)
def test_refuses_labels_that_are_no_zeros_and_ones(source: Any, sentence: str) -> None:
    with pytest.raises((DataError, ShapeError), match=f"^{re.escape(sentence)}$"):
        encode_labels(source, 2)
