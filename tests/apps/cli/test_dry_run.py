"""`--dry-run`: shapes, one batch and the cost, and nothing is written."""

import json
from pathlib import Path

import pytest

from tests.apps.cli.conftest import Type


def test_shows_shapes_and_cost_and_writes_nothing(type_in: Type, tmp_path: Path) -> None:
    answer = type_in("train", "mlp", "digits", "--dry-run", "--epochs", 2)
    assert answer.code == 0
    assert "(32, 256)" in answer.out
    # 64 * 256 + 256 + 256 * 128 + 128 + 128 * 10 + 10
    assert "50,826 parameters" in answer.out
    assert "2 epochs, 80 batches of 32: about " in answer.out
    assert not list(tmp_path.iterdir())


def test_a_text_is_counted_in_windows(type_in: Type, tmp_path: Path) -> None:
    (tmp_path / "book.txt").write_text("one two three\n" * 20, encoding="utf-8")
    small = ("--set", "data.window=8", "--set", "model.hidden=4")
    assert (
        "windows: train 31, val 4\n" in type_in("train", "gru", "book.txt", *small, "--dry-run").out
    )


def test_as_json(type_in: Type) -> None:
    shown = json.loads(type_in("train", "logistic", "iris", "--dry-run", "--json").out)
    # Two log-odds of 4 features: 2 * 4 + 2.
    assert shown["parameters"] == 10
    assert shown["rows"] == {"train": 105, "val": 15, "test": 30}


@pytest.mark.parametrize(("model", "data"), [("bagging", "iris"), ("ridge", "diabetes")])
def test_what_is_not_known_beforehand_is_null(model: str, data: str, type_in: Type) -> None:
    shown = json.loads(type_in("train", model, data, "--dry-run", "--json").out)
    assert (shown["batches"], shown["estimated_seconds"]) == (None, None)


def test_a_model_with_a_rule_of_its_own_has_no_steps(type_in: Type) -> None:
    answer = type_in("train", "ridge", "diabetes", "--weight-decay", 0.1, "--dry-run")
    assert "it has its own learning rule: epochs and batches do not apply" in answer.out
    assert "does not use weight_decay: it is set by model.l2\n" in answer.err
    answer = type_in("train", "perceptron", "iris", "--epochs", 7, "--dry-run")
    assert "its own learning rule: it takes 7 epochs, batches do not apply" in answer.out


def test_the_weights_are_those_that_training_would_begin_with(type_in: Type) -> None:
    short = ("--set", "model.hidden=8,6", "--set", "data.n=60")
    type_in("train", "mlp", "moons", *short, "--epochs", 2, "--no-report", "-q")
    asked = ("train", "mlp", "moons", *short, "--dry-run", "--json")
    old = ("--from", "runs/mlp-moons-001")
    drawn, learned = (json.loads(type_in(*asked, *given).out) for given in ((), old))
    assert learned["first_loss"] < drawn["first_loss"]
    wrong = type_in(*asked, "--from", "nowhere")
    place = Path("nowhere").resolve()
    sentence = f"from must be a run or a .safetensors file: there is no {place}"
    assert (wrong.code, " ".join(wrong.err.split())) == (2, f"error: {sentence}")


@pytest.mark.parametrize("without_training", ["--dry-run", "--find-lr"])
def test_what_is_to_be_known_of_the_weights_is_told(type_in: Type, without_training: str) -> None:
    asked = ("train", "mlp", "moons", "--set", "data.n=60", without_training)
    note = "note: hidden is frozen at its random initialisation: --from gives it trained weights"
    assert note in " ".join(type_in(*asked, "--freeze", "hidden").err.split())
    assert "note:" not in type_in(*asked).err
    assert "note:" not in type_in(*asked, "--freeze", "hidden", "--quiet").err


def test_the_learning_rates_may_follow(type_in: Type, tmp_path: Path) -> None:
    asked = ("train", "softmax", "iris", "--dry-run", "--find-lr")
    layers, _, rates = type_in(*asked).out.partition("\n\n")
    assert "15 parameters; loss of the first batch" in layers
    assert rates.startswith("lr ")
    both = json.loads(type_in(*asked, "--json").out)
    assert (both["parameters"], both["suggestion"] > 0) == (15, True)
    assert not list(tmp_path.iterdir())


def test_a_model_without_a_measure_tells_no_loss(type_in: Type, tmp_path: Path) -> None:
    (tmp_path / "book.txt").write_text("to be or not to be " * 50)
    asked = ("train", "word2vec", str(tmp_path / "book.txt"), "--dry-run")
    assert "parameters\n" in type_in(*asked).out
    assert json.loads(type_in(*asked, "--json").out)["first_loss"] is None
