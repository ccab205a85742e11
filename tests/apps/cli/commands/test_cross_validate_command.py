"""`netwright cross-validate`: a table, or all folds as JSON."""

import json
from pathlib import Path

import pytest

from tests.apps.cli.conftest import Type


def test_prints_a_row_a_fold_and_what_the_interval_means(type_in: Type, tmp_path: Path) -> None:
    answer = type_in("cross-validate", "least-squares", "line", "--folds", 3, "--repeats", 2)
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert lines[0].strip() == "least-squares on 200 rows of line: 3 folds, 2 times"
    assert lines[1].split()[:2] == ["repeat", "fold"]
    assert [line.split()[:2] for line in lines[2:8]] == [
        [str(repeat), str(fold)] for repeat in (1, 2) for fold in (1, 2, 3)
    ]
    assert lines[8].startswith("rmse ")
    assert lines[9].startswith("The interval is that of Nadeau and Bengio")
    assert len(answer.err.splitlines()) == 6
    assert list(tmp_path.iterdir()) == []


def test_json_has_every_fold(type_in: Type, things_csv: Path) -> None:
    answer = type_in(
        "cross-validate",
        "mlp",
        things_csv,
        "--target",
        "kind",
        "--folds",
        2,
        "--epochs",
        1,
        "--set",
        "model.hidden=4",
        "--no-stratify",
        "--metric",
        "brier",
        "--seed",
        3,
        "--json",
    )
    shown = json.loads(answer.out)
    assert (shown["metric"], shown["rows"], shown["stratified"]) == ("brier", 60, False)
    assert [fold["held_out"] for fold in shown["folds"]] == [30, 30]
    assert shown["recipe"]["data"]["path"] == "things.csv"
    assert answer.err == ""


def test_refusals_and_ctrl_c(type_in: Type, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = type_in("cross-validate", "mlp", "moons", "--folds", 1)
    assert (answer.code, answer.err) == (
        2,
        "error: folds must be an integer of at least 2, got 1\n",
    )
    from netwright.recipes.judging import cross_validate as module

    def interrupted(*words: object, **more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "train", interrupted)
    answer = type_in("cross-validate", "mlp", "moons", "-q")
    assert answer.code == 130
    assert answer.err == "interrupted; the folds are incomplete, so nothing was saved\n"
