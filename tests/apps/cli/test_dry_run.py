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
    answer = type_in("train", "ridge", "diabetes", "--dry-run")
    assert "it learns by a rule of its own" in answer.out
