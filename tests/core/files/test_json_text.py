"""JSON from elsewhere: a value, or one sentence, whatever is in it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netwright.core.errors import DataError
from netwright.core.files.json_text import DEEPEST, json_value, parse_json
from tests.repetition import for_each

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(PLAIN)
def test_what_json_writes_is_read(value: Any) -> None:
    text = json.dumps(value)
    assert parse_json(text, "x") == parse_json(text.encode(), "x") == value


@for_each("depth", [DEEPEST + 1, 5_000, 100_000])
@for_each(("begin", "end"), [("[", "]"), ('{"a":', "}")])
def test_deep_nesting_is_refused_in_one_sentence(depth: int, begin: str, end: str) -> None:
    with pytest.raises(DataError) as refusal:
        parse_json(begin * depth + "1" + end * depth, "x.json")
    sentence = f"x.json is not a readable JSON file: it is nested more than {DEEPEST} levels deep"
    assert str(refusal.value) == sentence


def test_what_is_wide_or_as_deep_as_allowed_is_read() -> None:
    deep = "[" * DEEPEST + "]" * DEEPEST
    assert json_value(deep) == json.loads(deep)
    assert json_value(json.dumps([[1]] * 300)) == [[1]] * 300
    assert json_value(json.dumps("[" * 300)) == "[" * 300


@for_each(
    ("content", "reason"),
    [
        (b"\xff\xfe{\x00}\x00", "'utf-8' codec can't decode byte 0xff in position 0"),
        (b"", "Expecting value: line 1 column 1"),
        (b"1" + b"0" * 5_000, "Exceeds the limit"),
        (b'{"a": "\\ud800"}', "it contains half a character, \\ud800 without the other"),
        (b'{"\\udc00": 1}', "it contains half a character, \\udc00 without the other"),
    ],
)
def test_what_no_file_of_ours_holds_is_refused(content: bytes, reason: str) -> None:
    with pytest.raises(DataError) as refusal:
        parse_json(content, "x.json")
    assert str(refusal.value).startswith(f"x.json is not a readable JSON file: {reason}")


def test_a_character_of_two_halves_is_whole() -> None:
    assert json_value('"\\ud83d\\ude00"') == "\U0001f600"
