"""Requests of one form are read and answered as one, and each as it would be alone."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

import netwright as nw
from netwright.apps.server.given_inputs import Given
from netwright.apps.server.joined_inputs import form_of, join_given
from netwright.apps.server.question import AnswerOptions, Question
from netwright.apps.server.server_config import ServerConfig
from netwright.recipes.run.run import Run


def asked(run: Run, given: dict[str, Any], *, as_csv: bool = False, **options: Any) -> Question:
    return Question(
        run,
        "application/json",
        json.dumps(given).encode(),
        options=AnswerOptions(**options),
        config=ServerConfig(),
        as_csv=as_csv,
    )


def replies(question: Question) -> list[Any]:
    values = question.run.predictions_of(question.prepare())
    return [json.loads(one.content)["answers"] for one in question.replies(values)]


ROWS = [
    [{"id": "a", "size": "1.5", "colour": "red"}],
    [{"id": "b", "size": "", "colour": "blue"}, {"id": "c", "size": "9", "colour": "green"}],
    [{"id": "d", "size": "1e2", "colour": ""}],
]


@pytest.mark.parametrize(
    ("name", "key", "values"),
    [
        ("things", "rows", ROWS),
        ("sizes", "rows", [[{"colour": "red", "kind": "big"}], [{"colour": "x", "kind": "small"}]]),
        ("texts", "texts", [["a fine film"], ["dull", "an unknown word"]]),
        ("reverse", "texts", [["a b"], ["c", "a d e"]]),
    ],
)
def test_each_of_several_is_answered_as_it_is_alone(
    folders: dict[str, Path], name: str, key: str, values: list[Any]
) -> None:
    run = nw.open_run(folders[name])
    alone = [replies(asked(run, {key: value})) for value in values]
    questions = [asked(run, {key: value}) for value in values]
    assert len({question.open() for question in questions}) == 1
    assert None not in {question.open() for question in questions}
    together = Question.joined(questions)
    assert together.size == sum(map(len, values))
    found = replies(together)
    assert [len(one) for one in found] == [len(value) for value in values]
    for rows, (wanted,) in zip(found, alone, strict=True):
        for row, other in zip(rows, wanted, strict=True):
            assert list(row) == list(other)
            assert row == pytest.approx(other, abs=1e-5)


def test_pictures_are_joined_as_texts_are(folders: dict[str, Path]) -> None:
    run = nw.open_run(folders["pets"])
    assert form_of(run, Given("images", [b"x"], 1)) == "images"
    joined = join_given([Given("images", [b"x"], 1), Given("images", [b"y", b"z"], 2)])
    assert (joined.value, joined.count) == ([b"x", b"y", b"z"], 3)


def test_other_columns_kinds_of_cells_and_wishes_are_other_forms(folders: dict[str, Path]) -> None:
    run = nw.open_run(folders["things"])
    row: dict[str, Any] = {"size": "1", "colour": "red"}
    forms = [
        asked(run, {"rows": [row]}).open(),
        asked(run, {"rows": [{**row, "size": 1.0}]}).open(),
        asked(run, {"rows": [{**row, "id": "a"}]}).open(),
        asked(run, {"rows": [row]}, threshold=0.2).open(),
        asked(nw.open_run(folders["things"]), {"rows": [row]}).open(),
    ]
    assert len(set(forms)) == 5
    assert None not in forms


def test_what_is_read_by_itself_has_no_form(folders: dict[str, Path]) -> None:
    run, row = nw.open_run(folders["things"]), {"size": 1, "colour": "red"}
    assert asked(run, {"rows": [row, {**row, "size": "2"}]}).open() is None
    assert asked(run, {"rows": [row]}, remarks=True).open() is None
    assert asked(run, {"rows": [row]}, as_csv=True).open() is None
    run.preprocessor = run.preprocessor.reading(thousands=".")  # a column is read as a whole
    assert asked(run, {"rows": [row]}).open() is None
    iris = nw.open_run(folders["iris"])
    assert form_of(iris, Given("inputs", [[1, 2, 3, 4]], 1)) is None
    prepared = asked(run, {"rows": [row]})
    assert isinstance(prepared.prepare(), torch.Tensor)
    assert prepared.open() is None
