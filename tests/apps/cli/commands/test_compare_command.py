"""`netwright compare`: table, verdict and page; refusals leave nothing, Ctrl-C no half page."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.apps.cli.conftest import Type

pytestmark = pytest.mark.usefixtures("undrawn")

SMALL = ("--data", "moons", "--seeds", 3, "--epochs", 1)


def test_prints_table_and_verdict_and_tells_where_the_page_is(
    type_in: Type, tmp_path: Path
) -> None:
    answer = type_in("compare", "logistic", "mlp:hidden=4", *SMALL, "--set", "data.noise=0.3")
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert lines[0].strip() == "accuracy on test (80 rows) of moons, seeds 0 to 2"
    assert lines[1].split()[:4] == ["entry", "seeds", "mean", "std"]
    assert [line.split()[0] for line in lines[2:5]] == ["logistic", "mlp:hidden=4", "trivial"]
    assert lines[5] == "baseline: always '0', 50.00% of the training rows"
    assert "mlp:hidden=4" in lines[6]
    assert lines[7].startswith("An interval covers other training seeds on this one split")
    assert lines[-1] == "page: runs/compare-logistic-mlp-001/compare.html"
    folder = tmp_path / "runs/compare-logistic-mlp-001"
    assert sorted(path.name for path in folder.iterdir()) == ["compare.html", "compare.json"]
    assert "--set data.noise=0.3" in (folder / "compare.html").read_text(encoding="utf-8")
    assert len(answer.err.splitlines()) == 6
    assert answer.err.startswith("1/6  logistic, seed 0: accuracy 0.")


def test_json_is_the_file(type_in: Type, tmp_path: Path) -> None:
    answer = type_in(
        "compare",
        "logistic",
        "softmax",
        *SMALL,
        "--seed",
        4,
        "--metric",
        "brier",
        "--json",
        "--out",
        "here",
    )
    shown = json.loads(answer.out)
    assert shown.pop("page") == "here/compare.html"
    assert shown == json.loads((tmp_path / "here/compare.json").read_text())
    assert (shown["metric"], shown["rows"][0]["seeds"]) == ("brier", [4, 5, 6])
    assert answer.err == ""


def test_quiet_shows_no_progress(type_in: Type) -> None:
    answer = type_in("compare", "logistic", "softmax", *SMALL, "-q")
    assert (answer.code, answer.err) == (0, "")


def test_a_recipe_with_itself_is_called_a_comparison_of_seeds(type_in: Type) -> None:
    answer = type_in("compare", "mlp:hidden=4", "mlp:hidden=4", *SMALL, "-q")
    assert "mlp:hidden=4 (again)" in answer.out
    assert "with seeds 3 to 5: an A/A comparison, paired by split only." in answer.out


def test_a_run_folder_brings_its_data(type_in: Type, things_run: Path) -> None:
    answer = type_in("compare", "logistic", things_run, "--seeds", 1, "--epochs", 1, "-q")
    assert answer.code == 0
    assert "of things.csv, seed 0" in answer.out
    assert "things against logistic (accuracy" in answer.out
    assert "no verdict, at least 3 seeds are needed." in answer.out


def test_a_table_needs_its_target(type_in: Type, things_csv: Path) -> None:
    answer = type_in(
        "compare",
        "logistic",
        "mlp",
        "--data",
        things_csv,
        "--target",
        "kind",
        "--seeds",
        1,
        "--set",
        "train.epochs=1",
        "--json",
    )
    (recipe, _) = (row["recipe"] for row in json.loads(answer.out)["rows"])
    assert recipe["data"]["target"] == ["kind"]
    assert recipe["train"]["epochs"] == 1


def test_rate_batch_and_rows_without_a_target_are_for_all(type_in: Type, tmp_path: Path) -> None:
    lines = [f"{place},{'ab'[place % 2]}" for place in range(40)]
    file = tmp_path / "holes.csv"
    file.write_text("\n".join(["x,kind", *lines, "7,"]) + "\n", encoding="utf-8")
    words = ("compare", "logistic", "softmax", "--data", file, "--target", "kind", "--seeds", 1)
    refused = type_in(*words, "--epochs", 1)
    assert (refused.code, refused.out) == (2, "")
    assert "target" in refused.err
    more = ("--lr", 0.25, "--batch-size", 7, "--drop-missing-target", "--json")
    shown = json.loads(type_in(*words, "--epochs", 1, *more).out)
    for row in shown["rows"]:
        train, data = row["recipe"]["train"], row["recipe"]["data"]
        assert (train["lr"], train["batch_size"]) == (0.25, 7)
        assert (data["drop_missing_target"], data["path"]) == (True, "holes.csv")


def test_the_digits_are_the_default(type_in: Type) -> None:
    answer = type_in("compare", "logistic", "softmax", "--seeds", 1, "--epochs", 1, "-q")
    assert "of digits, seed 0" in answer.out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["mlp"], "compare needs at least two entries, got 1"),
        (["mlp", "mpl"], "unknown model 'mpl'; did you mean 'mlp'?"),
        (["mlp", "logistic", "--data", "mons"], "unknown data set 'mons'; did you mean 'moons'?"),
        (
            ["mlp", "ridge"],  # on the digits
            "ridge: ridge predicts real, got a target of kind 'class'; for images and targets of "
            "kind 'class' there are mlp, lenet5, cnn, ...",
        ),
        (["mlp", "logistic", "--metric", "auc"], "unknown metric 'auc'; did you mean 'roc_auc'?"),
        (["mlp", "logistic", "--seeds", "0"], "seeds must be a positive integer, got 0"),
        (
            ["mlp", "logistic", "--set", "model.hidden=8"],
            "'model.hidden' is not a setting of training or of the data, which all entries share "
            "(settings of a model belong to its entry: mlp:dropout=0)",
        ),
        (
            ["mlp", "logistic", "--set", "train.seed=1"],
            "'train.seed' is not a setting of training or of the data, which all entries share "
            "(settings of a model belong to its entry: mlp:dropout=0); did you mean 'split_seed'?",
        ),
    ],
)
def test_refuses_in_one_sentence_and_leaves_nothing(
    type_in: Type, tmp_path: Path, words: list[str], sentence: str
) -> None:
    answer = type_in("compare", *words)
    assert answer.err == f"error: {sentence}\n"
    assert (answer.code, answer.out) == (2, "")
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_taken_is_refused_before_training(type_in: Type, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    answer = type_in("compare", "mlp", "logistic", "--data", "moons", "--out", ".")
    assert (answer.code, answer.err) == (
        2,
        "error: . already exists and is not empty; give another folder\n",
    )


def test_a_fit_that_fails_leaves_no_folder(type_in: Type, tmp_path: Path) -> None:
    words = ("least-squares", "mlp:hidden=4:optimizer=sgd:lr=1e30", "--data", "diabetes", "-q")
    answer = type_in("compare", *words)
    assert answer.code == 1
    assert answer.err.startswith("error: mlp:hidden=4:optimizer=sgd:lr=1e30, seed 0: non-finite")
    assert not list((tmp_path / "runs").iterdir())


@pytest.mark.slow
def test_ctrl_c_exits_130_without_a_half_page(tmp_path: Path) -> None:
    """A real process, a real signal, once the first fit is done."""
    command = [sys.executable, "-m", "netwright", "compare", "logistic", "mlp:epochs=100000"]
    process = subprocess.Popen(
        [*command, "--epochs", "1", "--data", "moons"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stderr is not None
    first = process.stderr.readline()
    process.send_signal(signal.SIGINT)
    try:
        _, rest = process.communicate(timeout=600)
    finally:
        process.kill()  # it is gone, unless signals are ignored here
    assert process.returncode == 130
    assert first.startswith("1/10  logistic, seed 0")
    assert rest == "interrupted; the comparison is incomplete, so nothing was saved\n"
    assert not list((tmp_path / "runs").iterdir())
