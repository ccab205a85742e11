"""`netwright predict`: from a file, standard input, one row or images; labels, probabilities."""

import csv
import io
import json
from pathlib import Path

import pytest

import netwright as nw
from netwright.apps.cli import predict_command
from netwright.apps.cli.predict_command import read_row
from netwright.core.errors import ConfigError
from tests.apps.cli.conftest import Type
from tests.data.images.pictures import folder_of

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


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two pictures of each of two classes."""
    names = ["cat/1.png", "cat/2.png", "dog/1.png", "dog/two\nlines.png"]
    return folder_of(tmp_path_factory.mktemp("pets"), *names)


@pytest.fixture(scope="module")
def pictures_run(pictures: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that has learned its four pictures by heart."""
    out = tmp_path_factory.mktemp("runs") / "pets"
    nw.fit("softmax", pictures, val_size=0, test_size=0, epochs=20, lr=0.1, out=out, quiet=True)
    return out


def test_images_are_named_before_their_answers(
    type_in: Type, pictures: Path, pictures_run: Path
) -> None:
    answer = type_in("predict", pictures_run, pictures / "dog", pictures / "cat/2.png", "--proba")
    rows = list(csv.DictReader(io.StringIO(answer.out)))
    assert list(rows[0]) == ["file", "prediction", "p(cat)", "p(dog)"]
    assert [(row["file"], row["prediction"]) for row in rows] == [
        (f"{pictures}/dog/1.png", "dog"),
        (f"{pictures}/dog/two\\nlines.png", "dog"),
        (f"{pictures}/cat/2.png", "cat"),
    ]


def test_a_few_images_at_a_time_are_all_images(
    type_in: Type, pictures: Path, pictures_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = type_in("predict", pictures_run, pictures, "--json").out
    assert len(json.loads(whole)) == 4
    monkeypatch.setattr(predict_command, "TOGETHER", 3)
    assert type_in("predict", pictures_run, pictures, "--json").out == whole


def test_a_run_on_images_takes_images(
    type_in: Type, pictures: Path, pictures_run: Path, things_run: Path, tmp_path: Path
) -> None:
    (tmp_path / "rows.csv").write_text(ROWS)
    answer = type_in("predict", pictures_run, "rows.csv")
    assert answer.err.startswith("error: rows.csv cannot be read as an image: it is none of PNG")
    answer = type_in("predict", pictures_run, "--row", "size=1")
    assert answer.err == "error: --row is for tables, this run was trained on images\n"
    answer = type_in("predict", things_run, "rows.csv", "rows.csv")
    assert answer.err == "error: predict takes one table, got 2 files\n"
    answer = type_in("predict", things_run)
    assert answer.err == "error: predict takes files or --row, one of them\n"
    answer = type_in("evaluate", pictures_run, "--data", pictures, "--json")
    assert json.loads(answer.out)["metrics"]["accuracy"] == 1


def test_rows_as_a_person_types_them() -> None:
    assert read_row("a=1, b = x") == {"a": "1", "b": "x"}
    assert read_row('{"a": 1, "b": null}') == {"a": 1, "b": None}
    with pytest.raises(ConfigError, match="--row is not JSON"):
        read_row("{a}")
    with pytest.raises(ConfigError, match='--row must be like "a=1,b=x" or a JSON object'):
        read_row("a")
