"""`netwright predict`: from a file, standard input or one row; labels, probabilities, threshold."""

import csv
import io
import json
from pathlib import Path

import pytest

from netwright.apps.cli.predict_command import read_row
from netwright.core.errors import ConfigError
from tests.apps.cli.conftest import Type

ROWS = "size,colour\n9.5,red\n0.5,blue\n"


def test_a_file_gives_a_table(type_in: Type, things_run: Path, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(ROWS)
    answer = type_in("predict", things_run, "rows.csv", "--proba")
    rows = list(csv.DictReader(io.StringIO(answer.out)))
    assert [row["kind"] for row in rows] == ["big", "small"]
    assert float(rows[0]["p(big)"]) + float(rows[0]["p(small)"]) == pytest.approx(1, abs=1e-5)
    assert type_in("predict", things_run, "rows.csv").out == "kind\nbig\nsmall\n"


def test_standard_input(type_in: Type, things_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(ROWS.encode())))
    assert type_in("predict", things_run, "-").out == "kind\nbig\nsmall\n"


def test_one_row_and_a_threshold(type_in: Type, things_run: Path) -> None:
    row = "size=9.5,colour=red"
    shown = json.loads(type_in("predict", things_run, "--row", row, "--json").out)
    assert shown == [{"kind": "big"}]
    # The second class, "small", is given from probability 0 on.
    answer = type_in("predict", things_run, "--row", row, "--threshold", 0, "--json")
    assert json.loads(answer.out) == [{"kind": "small"}]


def test_refuses_rows_that_do_not_fit(type_in: Type, things_run: Path, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("sise,colour\n9.5,red\n")
    answer = type_in("predict", things_run, "rows.csv")
    assert answer.code == 2
    assert "rows.csv" in answer.err
    assert "did you mean 'sise'" in answer.err or "'size'" in answer.err
    (tmp_path / "rows.csv").write_text("size,colour\n1,red\nx,red\n")
    answer = type_in("predict", things_run, "rows.csv")
    assert answer.err == "error: rows.csv:3: column 'size': 'x' is not a number\n"


def test_rows_as_a_person_types_them() -> None:
    assert read_row("a=1, b = x") == {"a": "1", "b": "x"}
    assert read_row('{"a": 1, "b": null}') == {"a": 1, "b": None}
    with pytest.raises(ConfigError, match="--row is not JSON"):
        read_row("{a}")
    with pytest.raises(ConfigError, match='--row must be like "a=1,b=x" or a JSON object'):
        read_row("a")
