"""Settings as one types them: what is written is what is read."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netwright.core.errors import ConfigError
from netwright.data.tables.table import TableConfig
from netwright.recipes.plan.typed_settings import (
    nest_typed,
    read_typed,
    setting_words,
    typed_settings,
)
from netwright.train.settings import TrainConfig
from tests.repetition import for_each


def test_settings_are_written_as_they_are_typed() -> None:
    settings = {
        "hidden": [64, 32],
        "batch_norm": True,
        "lr": 0.1,
        "optimizer_options": {"eps": 1, "flags": [False, True]},
    }
    assert typed_settings(settings) == {
        "hidden": "64,32",
        "batch_norm": "true",
        "lr": "0.1",
        "optimizer_options.eps": "1",
        "optimizer_options.flags": "false,true",
    }
    assert setting_words(settings)[:2] == ["hidden=64,32", "batch_norm=true"]
    assert setting_words(settings)[-1] == "optimizer_options.flags=false,true"


@for_each(
    ("text", "value"),
    [
        (" 64,32 ", "64,32"),
        ("null", None),
        ('"null"', "null"),
        ('["a, b", "c"]', ["a, b", "c"]),
        ('{"a.b": "category"}', {"a.b": "category"}),
        ("[no JSON", "[no JSON"),
        ("none", "none"),
    ],
)
def test_what_text_cannot_say_is_typed_as_json(text: str, value: Any) -> None:
    assert read_typed(text, is_declared=True) == value


def test_what_lies_deeper_is_read_as_what_it_looks_like() -> None:
    assert read_typed("0.9,0.99", is_declared=False) == [0.9, 0.99]
    assert read_typed('"1"', is_declared=False) == "1"
    pairs = {"optimizer_options.betas": "0.9,0.99", "optimizer_options.fused": "true", "lr": "0.1"}
    assert nest_typed(pairs) == {
        "optimizer_options": {"betas": [0.9, 0.99], "fused": True},
        "lr": "0.1",
    }


def test_a_part_of_what_is_no_mapping_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"'lr' is given as a whole and in parts, by 'lr\.x'"):
        nest_typed({"lr": "0.1", "lr.x": "1"})


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8)
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = LEAVES | TEXTS | st.lists(LEAVES | TEXTS, max_size=3)


@given(st.lists(TEXTS, min_size=1, max_size=3))
def test_a_list_of_any_texts_is_read_back(columns: list[str]) -> None:
    typed = nest_typed(typed_settings({"drop": columns}, TableConfig))
    assert list(TableConfig(path="x.csv", **typed).drop) == columns


@given(st.dictionaries(TEXTS, VALUES | st.dictionaries(TEXTS, VALUES, max_size=2), max_size=3))
def test_a_mapping_of_any_values_is_read_back(options: dict[str, Any]) -> None:
    typed = nest_typed(typed_settings({"optimizer_options": options}, TrainConfig))
    assert repr(typed["optimizer_options"]) == repr(options)
