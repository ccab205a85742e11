"""`netwright train`: by names, files and settings; results beside the baseline; real tables."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.apps.cli.conftest import Type


def test_leaves_a_run_and_tells_where(type_in: Type, tmp_path: Path) -> None:
    answer = type_in("train", "mlp", "moons", "--epochs", 2, "--set", "model.hidden=8")
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert lines[0].startswith("test (")
    assert lines[1].split() == ["metric", "this", "run", "baseline"]
    assert lines[-2] == "run: runs/mlp-moons-001"
    assert lines[-1] == "report: runs/mlp-moons-001/report.html"
    assert "epoch   2/2  loss: train" in answer.err
    assert (tmp_path / "runs/mlp-moons-001/config.yaml").is_file()
    assert (tmp_path / "runs/mlp-moons-001/report.html").is_file()


def test_json_is_the_results_file(type_in: Type, tmp_path: Path) -> None:
    answer = type_in("train", "logistic", "moons", "--epochs", 1, "--json", "--out", "here")
    shown = json.loads(answer.out)
    stored = json.loads((tmp_path / "here" / "results.json").read_text())
    assert shown.pop("run") == "here"
    assert shown.pop("report") == "here/report.html"
    assert shown == stored
    assert answer.err == ""


def test_the_command_line_wins_over_files_and_later_files_over_earlier(
    type_in: Type, tmp_path: Path
) -> None:
    (tmp_path / "a.yaml").write_text(
        "model: {name: mlp, hidden: [8]}\ndata: moons\ntrain: {lr: 1e-2, epochs: 3}\n"
    )
    (tmp_path / "b.yaml").write_text("train: {epochs: 4, batch_size: 16}\nseed: 5\n")
    answer = type_in("train", "-c", "a.yaml", "-c", "b.yaml", "--batch-size", 8, "--print-config")
    recipe = yaml.safe_load(answer.out)
    assert recipe["model"]["hidden"] == [8]
    assert recipe["data"]["name"] == "moons"
    assert (recipe["train"]["lr"], recipe["train"]["epochs"]) == (0.01, 4)
    assert (recipe["train"]["batch_size"], recipe["seed"]) == (8, 5)


def test_a_runs_config_trains_the_same_run_again(type_in: Type, tmp_path: Path) -> None:
    first = type_in("train", "mlp", "xor", "--epochs", 2, "--json")
    again = type_in("train", "-c", "runs/mlp-xor-001/config.yaml", "--json")
    one, two = json.loads(first.out), json.loads(again.out)
    assert one["metrics"] == two["metrics"]
    for name in ("run", "report", "seconds"):
        one.pop(name)
        two.pop(name)
    assert one == two


def test_trains_on_a_table_and_shows_what_it_saw(type_in: Type, things_csv: Path) -> None:
    answer = type_in("train", "mlp", things_csv, "--target", "kind", "--epochs", 2)
    assert answer.code == 0
    assert "colour: category, 2 values" in answer.err
    assert "baseline: always 'big'" in answer.out or "baseline: always 'small'" in answer.out


def test_default_reaches_its_auc_beside_the_baseline(
    type_in: Type, real_data: Callable[[str], Path]
) -> None:
    table = real_data("islr/Default.csv")
    answer = type_in("train", "mlp", table, "--target", "default", "--epochs", 8, "--json")
    results = json.loads(answer.out)
    assert results["metrics"]["roc_auc"] >= 0.94
    assert results["baseline"]["accuracy"] == pytest.approx(0.9667, abs=5e-4)
    assert results["baseline_rule"] == "always 'No', 96.67% of the training rows"


def test_hitters_needs_its_missing_targets_dropped(
    type_in: Type, real_data: Callable[[str], Path], tmp_path: Path
) -> None:
    table = real_data("islr/Hitters.csv")
    refused = type_in("train", "mlp", table, "--target", "Salary")
    assert refused.code == 2
    assert refused.err == (
        "error: Hitters.csv: 'Salary' is missing in 59 of 322 rows, first in line 2; "
        "give --drop-missing-target to leave them out\n"
    )
    assert not list(tmp_path.iterdir())
    answer = type_in(
        "train",
        "mlp",
        table,
        "--target",
        "Salary",
        "--drop-missing-target",
        "--epochs",
        15,
        "--json",
    )
    results = json.loads(answer.out)
    assert results["metrics"]["rmse"] < results["baseline"]["rmse"]


def test_a_setting_inside_a_setting_is_reached_by_dots(type_in: Type, things_csv: Path) -> None:
    answer = type_in(
        *("train", "logistic", things_csv, "--target", "kind", "--print-config"),
        *("--set", "data.types.size=category", "--set", "train.optimizer_options.eps=1e-7"),
    )
    recipe = yaml.safe_load(answer.out)
    assert recipe["data"]["types"] == {"size": "category"}
    assert recipe["train"]["optimizer_options"] == {"eps": 1e-7}
    assert recipe["data"]["path"] == str(things_csv)


def test_a_run_is_evaluated_from_another_folder(
    type_in: Type, tmp_path: Path, things_csv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "things.csv").write_text(things_csv.read_text())
    type_in("train", "logistic", "things.csv", "--target", "kind", "--epochs", 1, "--out", "run")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert type_in("evaluate", "../run", "--json").code == 0
