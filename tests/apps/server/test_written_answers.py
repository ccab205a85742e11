"""Rows that are written a column at a time are those of `json`."""

import json
from typing import Any

import pytest

from netwright.apps.server.written_answers import written, written_rows
from netwright.recipes.run.answer_table import Answers, as_rows
from tests.repetition import for_each

COLUMNS: list[Answers] = [
    {"species": ["a", "b", "a"], "p(a)": [0.5, 1e-06, 1.0], "p(b)": [0.5, 0.999999, 0.0]},
    {'100% "sure"\x7f, %s': ["é, ü", "\x7f", '"']},
    {"n": [1, 2.5, None], "yes": [True, False, True]},
    {"tags": [["a", "b"], [], ["c, d"]], "mixed": ["1, 2", 3, None]},
    {"objects": [[{"class": "cat", "box": [0.1, 0.2]}]]},
    {"none": []},
]


@for_each("answers", COLUMNS)
def test_the_texts_are_those_of_json(answers: Answers) -> None:
    wanted = [json.dumps(row).replace("\x7f", "\\u007f") for row in as_rows(answers)]
    assert written_rows(answers) == wanted


@for_each("value", [float("nan"), float("inf")])
def test_what_is_no_number_is_refused(value: float) -> None:
    for column in ([1.0, value], ["a", value], [[value]]):
        answers: dict[str, Any] = {"y": column}
        with pytest.raises(ValueError, match="not JSON compliant"):
            written_rows(answers)
    with pytest.raises(ValueError, match="not JSON compliant"):
        written(value)
