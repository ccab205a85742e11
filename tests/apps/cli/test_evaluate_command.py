"""`netwright evaluate`: the run's own split, or other labelled data."""

import json
from pathlib import Path

from tests.apps.cli.conftest import Type


def test_gives_what_training_gave(type_in: Type, things_run: Path) -> None:
    results = json.loads((things_run / "results.json").read_text())
    shown = json.loads(type_in("evaluate", things_run, "--json").out)
    assert shown["metrics"] == results["metrics"]
    assert shown["baseline"] == results["baseline"]
    table = type_in("evaluate", things_run)
    assert "accuracy" in table.out


def test_other_labelled_data(type_in: Type, things_run: Path, things_csv: Path) -> None:
    shown = json.loads(type_in("evaluate", things_run, "--data", things_csv, "--json").out)
    assert shown["split"] == str(things_csv)
    assert shown["metrics"]["accuracy"] > 0.8


def test_a_split_that_is_not_there(type_in: Type, things_run: Path) -> None:
    answer = type_in("evaluate", things_run, "--split", "tset")
    assert answer.code == 2
    assert answer.err == "error: things.csv has no 'tset' split, it has train, val, test\n"
