"""Answers as columns: the same table and the same objects whichever way they are written."""

import csv
import io
from pathlib import Path
from typing import Any

import netwright as nw
from netwright.recipes.run.answer_table import (
    Answers,
    answer,
    as_columns,
    as_csv,
    as_rows,
    count_answers,
)

ANSWERS: Answers = {"id": ["a,b", 'say "x"', ""], "y": [1, -2.5, True]}
ROWS: list[dict[str, Any]] = [
    {"id": "a,b", "y": 1},
    {"id": 'say "x"', "y": -2.5},
    {"id": "", "y": True},
]


def test_columns_and_rows_hold_the_same() -> None:
    assert as_rows(ANSWERS) == ROWS
    assert as_columns(ROWS) == ANSWERS
    assert count_answers(ANSWERS) == 3


def test_csv_is_what_a_writer_of_mappings_writes() -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=["id", "y"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(ROWS)
    assert as_csv(ANSWERS) == text.getvalue()


def test_reals_have_the_digits_of_a_float32_and_probabilities_six(tmp_path: Path) -> None:
    rows = "\n".join(f"{i},{i / 7},{'ab'[i % 2]}" for i in range(40))
    (tmp_path / "rows.csv").write_text(f"one,two,kind\n{rows}\n")
    settings: dict[str, Any] = {"epochs": 1, "quiet": True}
    reals = nw.fit("least-squares", tmp_path / "rows.csv", target="two", quiet=True)
    table = reals.preprocessor.read(tmp_path / "rows.csv")
    said = answer(reals, table)
    assert list(said) == ["two"]
    assert said["two"] == [float(str(one)) for one in reals.predict(table)]
    classes = nw.fit("logistic", tmp_path / "rows.csv", target="kind", **settings)
    said = answer(classes, table, proba=True)
    assert list(said) == ["kind", "p(a)", "p(b)"]
    shares = classes.predict_proba(table)
    assert said["p(b)"] == [round(float(one), 6) for one in shares[:, 1]]
    assert list(said["kind"]) == classes.predict(table).tolist()
