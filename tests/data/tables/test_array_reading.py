"""Tables for models that learned from arrays: columns by name, else by order; refusals by place."""

import re
from pathlib import Path

import numpy as np
import pytest

from netwright.core.errors import DataError
from netwright.data.spec import DataSpec
from netwright.data.tables.array_reading import (
    is_tabular,
    read_input_array,
    read_labelled_table,
    read_target_array,
)

FEATURES = DataSpec(
    inputs="features",
    input_shape=(2,),
    target="class",
    num_outputs=2,
    class_names=("no", "yes"),
    target_names=("kind",),
    feature_names=("a", "b"),
)
IMAGE = DataSpec(inputs="image", input_shape=(1, 2, 2), target="class", num_outputs=2)


def test_columns_are_found_by_name_in_any_order() -> None:
    rows = [{"b": 2, "note": "x", "a": 1}, {"b": "4", "note": "y", "a": "3"}]
    assert read_input_array(rows, FEATURES).tolist() == [[1, 2], [3, 4]]


def test_pixels_have_no_names_and_are_taken_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "y.csv").write_text("p,q,r,s\n1,2,3,4\n")
    assert read_input_array(str(tmp_path / "y.csv"), IMAGE).tolist() == [[[[1, 2], [3, 4]]]]


def test_targets_come_from_their_columns() -> None:
    assert read_target_array([{"a": 1, "kind": "yes"}], FEATURES).tolist() == ["yes"]
    real = DataSpec(
        inputs="features", input_shape=(1,), target="real", num_outputs=2, target_names=("u", "v")
    )
    assert read_target_array({"u": 1, "v": "2.5"}, real).tolist() == [[1, 2.5]]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("a,c\n1,2\n", "x.csv has no column 'b'; it has a, c"),
        ("a,b\n1,2\n3,x\n", "x.csv:3: column 'b': 'x' is not a number"),
        ("a,b\n1,\n", "x.csv:2: column 'b': the value is missing"),
    ],
)
def test_refuses_with_its_place(tmp_path: Path, content: str, sentence: str) -> None:
    (tmp_path / "x.csv").write_text(content)
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        read_input_array(tmp_path / "x.csv", FEATURES)


def test_refuses_an_image_of_another_size(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("p,q,r\n1,2,3\n")
    with pytest.raises(DataError, match=re.escape("x.csv must have 4 columns, got 3 (p, q, r)")):
        read_input_array(tmp_path / "x.csv", IMAGE)


def test_what_is_a_table() -> None:
    assert is_tabular("x.csv")
    assert is_tabular([{"a": 1}])
    assert is_tabular({"a": 1})
    assert not is_tabular([[1, 2]])
    assert not is_tabular([])
    assert not is_tabular(np.zeros((1, 2)))


def test_all_columns_that_are_missing_are_named() -> None:
    run_spec = DataSpec(
        inputs="features",
        input_shape=(2,),
        target="real",
        num_outputs=1,
        feature_names=("a", "b"),
        target_names=("y",),
    )
    with pytest.raises(DataError, match="lacks 2 columns that are needed, 'b', 'y'"):
        read_labelled_table({"a": 1}, run_spec)
    table = read_labelled_table({"a": 1, "b": 2, "y": 3}, run_spec)
    assert read_target_array(table, run_spec).tolist() == [[3]]
