"""A plan says what `netwright train` would be told."""

from pathlib import Path

import pytest

from netwright.core.errors import ConfigError, NetwrightError
from netwright.recipes.plan.recipe import parse_recipe
from netwright.recipes.plan.run_plan import PlannedRun, fitting_models, form_fields


def test_typed_settings_are_those_of_the_recipe() -> None:
    settings = {"model.hidden": "8,4", "train.lr": "0.1", "data.noise": "0.3"}
    planned = PlannedRun(data="moons", model="mlp", settings=settings, seed=3).recipe()
    assert planned == parse_recipe(
        {
            "seed": 3,
            "model": {"name": "mlp", "hidden": [8, 4]},
            "data": {"name": "moons", "noise": 0.3},
            "train": {"lr": 0.1},
        }
    )


def test_the_name_of_a_column_may_hold_a_comma(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('"x, y",z\n1,2\n')
    path = str(tmp_path / "a.csv")
    planned = PlannedRun(data=path, model="mlp", settings={"data.target": "x, y"}).recipe()
    assert planned.to_mapping()["data"]["target"] == ["x, y"]


def test_what_is_no_setting_is_refused() -> None:
    for name in ("lr", "own.loss", "train.", "data.path", "model.name", "from.x"):
        with pytest.raises(ConfigError, match=r"named like train\.lr"):
            PlannedRun(data="moons", model="mlp", settings={name: "1"}).recipe()
    for name, value in (("train.lr", "-1"), ("train.nosuch", "1"), ("model.hidden", "x")):
        with pytest.raises(NetwrightError):
            PlannedRun(data="moons", model="mlp", settings={name: value}).recipe()


def test_models_are_those_that_read_such_data(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("a text")
    assert "mlp" in fitting_models("moons", {}) and "gpt" not in fitting_models("moons", {})
    of_text = fitting_models(str(tmp_path / "notes.txt"), {})
    assert "gpt" in of_text and "mlp" not in of_text and all(of_text.values())


def test_fields_say_what_they_take() -> None:
    fields = form_fields("mlp", "moons", {})
    named = {one.name: one for one in fields["model"]}
    assert "relu" in named["activation"].options and named["batch_norm"].options == (
        "true",
        "false",
    )
    assert named["dropout"].bounds == "at least 0, less than 1" and named["dropout"].doc
    train = {one.name: one for one in fields["train"]}
    assert train["lr"].bounds == "greater than 0" and "adam" in train["optimizer"].options
    assert train["epochs"].bounds == "greater than 0" and train["monitor"].options == ()
    assert "noise" in {one.name for one in fields["data"]}
