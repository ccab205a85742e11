"""`--find-lr`: a curve of text, the suggestion and the command that uses it; nothing is trained."""

import json
from pathlib import Path

import pytest

from netwright.apps.cli.learning_rate_table import curve_rows, show_learning_rates
from netwright.inspection.training.learning_rate_range import measure_learning_rate_range
from netwright.recipes.fitting.find_lr import find_lr
from netwright.recipes.plan.recipe import parse_recipe
from tests.apps.cli.conftest import Type


def test_shows_a_curve_the_suggestion_and_the_next_command(type_in: Type, tmp_path: Path) -> None:
    answer = type_in("train", "softmax", "iris", "--find-lr")
    found = find_lr("softmax", "iris")
    lines = answer.out.splitlines()
    assert (answer.code, answer.err) == (0, "")
    assert lines[0].split() == ["lr", "loss"]
    assert lines[1].split() == ["1e-07", f"{found.smoothed[0]:.4g}", "*"]
    assert len(lines) == 1 + 17 + 2  # every sixth of 100 updates
    assert lines[-2] == found.caption
    assert lines[-1] == f"to train with it: netwright train softmax iris --lr {found.suggestion:g}"
    assert not list(tmp_path.iterdir())


def test_json_is_the_view_and_the_command(type_in: Type) -> None:
    answer = type_in("train", "softmax", "iris", "--find-lr", "--json", "--seed", 1)
    told = json.loads(answer.out)
    command = told.pop("command")
    found = find_lr("softmax", "iris", seed=1)
    assert told == found.to_json()
    assert command == f"netwright train softmax iris --lr {found.suggestion} --seed 1"
    assert answer.err == ""


def test_the_next_command_is_the_typed_one_with_another_rate(
    type_in: Type, things_csv: Path, tmp_path: Path
) -> None:
    (tmp_path / "recipe.yaml").write_text("train: {epochs: 3, lr: 4}\n")
    answer = type_in(
        *("train", "mlp", things_csv, "--target", "kind", "--drop-missing-target", "-q"),
        *("--set", "model.hidden=16,8", "--set", "train.lr=3", "-c", "recipe.yaml"),
        *("--lr", 2, "--batch_size", 42, "--find-lr"),
    )
    words, _, rate = answer.out.splitlines()[-1].rpartition(" ")
    assert words == (
        f"to train with it: netwright train mlp {things_csv} --target kind --drop-missing-target "
        "--set model.hidden=16,8 --epochs 3 --batch-size 42 --lr"
    )
    assert 1e-4 < float(rate) < 1


def test_the_next_command_can_be_typed(type_in: Type) -> None:
    *_, last = type_in("train", "logistic", "moons", "--epochs", 2, "--find-lr").out.splitlines()
    words = last.removeprefix("to train with it: netwright ").split()
    assert type_in(*words).code == 0


def test_without_a_descent_there_is_no_command(type_in: Type) -> None:
    words = ("train", "linear-regression", "diabetes", "--batch-size", 1, "--find-lr")
    answer = type_in(*words)
    assert answer.code == 0
    assert answer.out.endswith("larger batches are less noisy.\n")
    told = json.loads(type_in(*words, "--json").out)
    assert told["suggestion"] is told["command"] is None


def test_a_loss_that_falls_to_the_end_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    rates = [1e-7 * 1.2**update for update in range(40)]
    losses = [1.0] * 20 + [1 - 0.02 * update for update in range(20)]
    found = measure_learning_rate_range(rates, losses)
    recipe = parse_recipe({"model": "softmax", "data": "iris"})
    show_learning_rates(found, recipe, quiet=False)
    out = capsys.readouterr().out
    assert "still falling at the largest rate tried, so the suggestion is only a lower" in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("ridge",), "ridge has its own learning rule and no learning rate to find"),
        (
            ("linear-regression", "--optimizer", "lbfgs"),
            "lbfgs evaluates the loss several times per step: a learning-rate range test is not "
            "possible",
        ),
    ],
)
def test_what_has_no_rate_is_refused(type_in: Type, words: tuple[str, ...], sentence: str) -> None:
    model, *options = words
    answer = type_in("train", model, "diabetes", "--find-lr", *options)
    assert (answer.code, answer.out, answer.err) == (2, "", f"error: {sentence}\n")


def test_the_curve_goes_left_as_the_loss_falls_and_leaves_to_the_right() -> None:
    rates = [1e-7 * 1.2**update for update in range(40)]
    losses = [1.0] * 21 + [0.5] * 13 + [1000.0] * 6
    rows = curve_rows(measure_learning_rate_range(rates, losses))
    assert [row["lr"] for row in rows][:3] == ["1e-07", "3e-07", "8.9e-07"]
    assert [len(row[""]) for row in rows[:4]] == [len(rows[0][""])] * 4
    assert len(rows[5][""]) < len(rows[4][""]) < len(rows[3][""])
    assert [row[""].strip() for row in rows] == ["*"] * 6 + [">"]
    assert len(rows[6][""]) == 41


def test_a_loss_below_the_curve_stands_at_its_left_end() -> None:
    rates = [1e-7 * 1.2**update for update in range(40)]
    rows = curve_rows(measure_learning_rate_range(rates, [-9.0] + [1.0] * 39))
    assert rows[0][""] == "*"
