"""Names and settings give a recipe; nothing is loaded for it."""

from typing import Any

import pytest
from torch import nn

from netwright.core.errors import ConfigError
from netwright.models.mlp import MLPConfig
from netwright.recipes.plan.named_recipe import change_recipe, model_type, name_recipe
from netwright.recipes.plan.recipe import parse_recipe
from netwright.train.settings import TrainConfig


def test_short_and_exact_names_give_the_recipe_that_its_sections_give() -> None:
    settings: dict[str, Any] = {
        "model.kernel": 5,
        "noise": 0.2,
        "data.seed": 3,
        "train.kernel": "foreach",
    }
    recipe, given = name_recipe("cnn", "moons", seed=7, epochs=2, **settings)
    assert recipe == parse_recipe(
        {
            "model": {"name": "cnn", "kernel": 5},
            "data": {"name": "moons", "noise": 0.2, "seed": 3},
            "train": {"epochs": 2, "kernel": "foreach"},
            "seed": 7,
        }
    )
    assert given == {"noise": 0.2, "seed": 3}


def test_a_file_is_read_by_the_source_that_is_named() -> None:
    settings: dict[str, Any] = {"data.name": "series", "target": "y"}
    recipe, _ = name_recipe("lstm", "sales.csv", **settings)
    assert (recipe.data, recipe.data_settings.path) == ("series", "sales.csv")  # type: ignore[union-attr]


def test_training_is_given_as_a_whole() -> None:
    train = TrainConfig(lr=0.5, optimizer="sgd")
    assert name_recipe("mlp", "moons", train=train)[0].train == train
    assert name_recipe("mlp", "moons", train=train, lr=0.1)[0].train == TrainConfig(
        lr=0.1, optimizer="sgd"
    )


def test_a_rule_of_its_own_takes_what_was_said_of_training_as_a_recipe_file_does() -> None:
    expected = parse_recipe({"model": "perceptron", "data": "moons", "train": {"epochs": 3}})
    assert name_recipe("perceptron", "moons", epochs=3)[0] == expected
    assert name_recipe("perceptron", "moons", **{"train.epochs": 3})[0] == expected
    assert name_recipe("perceptron", "moons", train=TrainConfig(epochs=3))[0] == expected
    assert expected.model_settings.epochs == 3  # type: ignore[union-attr]


def test_what_is_configured_takes_no_further_settings() -> None:
    with pytest.raises(
        ConfigError, match="'hidden' is given together with a model that is already"
    ):
        name_recipe(MLPConfig(), "moons", hidden=3)
    with pytest.raises(ConfigError, match=r"unknown setting 'model\.hidden'"):
        name_recipe(nn.Linear(2, 2), "moons", **{"model.hidden": 3})


def test_a_recipe_is_changed_by_settings_that_win() -> None:
    recipe = parse_recipe(
        {"model": "cnn", "data": {"name": "moons", "n": 90}, "train": {"lr": 0.5}, "seed": 4}
    )
    assert change_recipe(recipe) == recipe
    changed = change_recipe(recipe, seed=0, epochs=3, **{"model.kernel": 5, "data.seed": 2})
    assert changed == parse_recipe(
        {
            "model": {"name": "cnn", "kernel": 5},
            "data": {"name": "moons", "n": 90, "seed": 2},
            "train": {"lr": 0.5, "epochs": 3},
        }
    )
    assert change_recipe(recipe, train=TrainConfig(epochs=2)).train == TrainConfig(epochs=2)


def test_a_model_is_a_name_a_config_or_a_module() -> None:
    assert model_type("mlp") == ("mlp", MLPConfig)
    assert model_type(MLPConfig()) == ("mlp", MLPConfig)
    assert model_type(nn.Linear(1, 1)) == ("", None)
    assert model_type(lambda: nn.Linear(1, 1)) == ("", None)
    for wrong in (3, MLPConfig):
        with pytest.raises(ConfigError, match=r"a config of a model, an nn\.Module or a function"):
            model_type(wrong)  # type: ignore[arg-type]
