"""The spec: what it counts, and its way through JSON."""

import json
from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from netwright.core.errors import ShapeError
from netwright.data.spec import DataSpec
from tests.repetition import for_each


@for_each(("shape", "count"), [((4,), 4), ((1, 28, 28), 784), ((3, 2, 5), 30), ((), 1)])
def test_features_are_counted_over_all_axes(shape: tuple[int, ...], count: int) -> None:
    assert DataSpec(inputs="image", input_shape=shape, target="none").num_features == count


@given(
    shape=st.lists(st.integers(1, 64), max_size=4).map(tuple),
    names=st.lists(st.text(), max_size=4).map(tuple),
    count=st.integers(0, 1000),
)
def test_json_gives_the_same_spec_back(
    shape: tuple[int, ...], names: tuple[str, ...], count: int
) -> None:
    spec = DataSpec(
        inputs="features",
        input_shape=shape,
        target="class",
        num_outputs=count,
        class_names=names,
        feature_names=names,
        vocab_size=count,
    )
    assert DataSpec.from_json(json.loads(json.dumps(spec.to_json()))) == spec


def test_an_unknown_field_is_not_let_in() -> None:
    values = DataSpec(inputs="features", input_shape=(2,), target="real").to_json()
    with pytest.raises(TypeError, match="colour"):
        DataSpec.from_json({**values, "colour": "red"})


def test_a_model_says_one_thing_of_an_example_or_of_each_pixel_or_token() -> None:
    shape = (2, 5, 6)
    assert DataSpec(
        inputs="image", input_shape=shape, target="class", num_outputs=3
    ).output_shape == (3,)
    assert DataSpec(
        inputs="image", input_shape=shape, target="mask", num_outputs=3
    ).output_shape == (3, 5, 6)
    assert DataSpec(
        inputs="tokens", input_shape=(7,), target="tags", num_outputs=3
    ).output_shape == (7, 3)
    pairs = DataSpec(
        inputs="pairs", input_shape=(7,), target="tokens", num_outputs=9, source_length=4
    )
    assert pairs.output_shape == (3, 9)


def test_outputs_have_the_names_of_the_classes_or_numbers() -> None:
    bare = DataSpec(inputs="features", input_shape=(2,), target="class", num_outputs=3)
    assert bare.output_names == ("0", "1", "2")
    assert replace(bare, class_names=("a", "b", "c")).output_names == ("a", "b", "c")


def test_features_are_columns_by_themselves_unless_they_are_grouped() -> None:
    plain = DataSpec(inputs="features", input_shape=(3,), target="real")
    assert plain.groups_of_features == (0, 1, 2)
    grouped = replace(plain, feature_groups=(0, 1, 1))
    assert grouped.groups_of_features == (0, 1, 1)
    assert DataSpec.from_json(grouped.to_json()) == grouped


@for_each("groups", [[0, 1], [0, 1, "2"], [0, 5, 6], {"a": 1}, 7])
def test_groups_of_features_that_do_not_fit_are_refused(groups: Any) -> None:
    values = DataSpec(inputs="features", input_shape=(3,), target="real").to_json()
    with pytest.raises(ShapeError, match="feature_groups must number the groups of 3 features"):
        DataSpec.from_json({**values, "feature_groups": groups})


@for_each("levels", [(3,), (3, -1), (3, True), "ab"])
def test_what_does_not_tell_categories_is_refused(levels: object) -> None:
    spec = DataSpec(inputs="features", input_shape=(2,), target="real", feature_levels=(3, 0))
    assert DataSpec.from_json(spec.to_json()) == spec
    with pytest.raises(ShapeError, match="feature_levels must give the categories of 2 features"):
        DataSpec.from_json({**spec.to_json(), "feature_levels": levels})
