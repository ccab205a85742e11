"""Answers in files: the ending says the form, and every form reads back as the same answers."""

import json
from pathlib import Path

import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest

from netwright.apps.cli.answer_forms import as_json_lines, as_parquet
from netwright.recipes.run.answer_table import Answers
from tests.apps.cli.conftest import Type

ANSWERS: Answers = {"id": ["007\x7f", "é"], "kind": ["a", "b"], "p(a)": [0.25, 1.0]}


def test_lines_are_objects_that_read_back() -> None:
    lines = as_json_lines(ANSWERS).splitlines()
    assert [json.loads(line) for line in lines] == [
        {"id": "007\x7f", "kind": "a", "p(a)": 0.25},
        {"id": "é", "kind": "b", "p(a)": 1.0},
    ]
    assert as_json_lines(ANSWERS).replace("\n", "").isprintable()


def test_parquet_keeps_columns_and_their_types() -> None:
    table = pyarrow.parquet.read_table(pyarrow.BufferReader(as_parquet(ANSWERS)))
    assert table.to_pydict() == ANSWERS
    assert [str(field.type) for field in table.schema] == ["string", "string", "double"]


def test_every_form_holds_the_same_answers(type_in: Type, things_run: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("size,colour\n9.5,red\n0.5,blue\n")
    for form in ("csv", "parquet", "jsonl", "json"):
        said = type_in("predict", things_run, rows, "--proba", "--out", f"answers.{form}")
        assert said.err == ""
    as_read = [
        pd.read_csv(tmp_path / "answers.csv"),
        pd.read_parquet(tmp_path / "answers.parquet"),
        pd.read_json(tmp_path / "answers.jsonl", lines=True),
        pd.read_json(tmp_path / "answers.json"),
    ]
    for other in as_read[1:]:
        pd.testing.assert_frame_equal(other, as_read[0], check_dtype=False)


def test_without_pyarrow_another_form_is_offered(
    type_in: Type, things_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    answer = type_in("predict", things_run, "--row", "size=1,colour=red", "--out", "a.parquet")
    assert "parquet needs pyarrow" in answer.err
    assert not (tmp_path / "a.parquet").exists()
