"""What a person types: times, settings, and their order of precedence."""

import re
from pathlib import Path
from typing import Any

import pytest

import netwright as nw
from netwright.apps.cli.typed_recipe import (
    first_recipe,
    normal_form,
    parse_seconds,
    parse_setting,
    typed_recipe,
)
from netwright.core.errors import ConfigError, UnknownNameError
from netwright.recipes.plan.recipe import parse_recipe
from tests.apps.cli.conftest import Type
from tests.recipes.fitting.test_ensemble_fit import SMALL, KilledError, StopInFit, assert_same
from tests.repetition import for_each


@for_each(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("10m", 600), ("1.5h", 5400), (" 2 m ", 120)]
)
def test_times(text: str, seconds: float) -> None:
    assert parse_seconds(text) == seconds


@for_each("text", ["", "soon", "10d", "-3s", "1e3"])
def test_times_that_are_none(text: str) -> None:
    sentence = f"--max-time must be like 90s, 10m or 2h, got {text!r}"
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        parse_seconds(text)


def test_settings() -> None:
    assert parse_setting("model.hidden=256,128") == ("model", ["hidden"], "256,128")
    assert parse_setting("data.val-size = 0.1") == ("data", ["val_size"], "0.1")
    assert parse_setting("data.types.My_Column=category") == (
        "data",
        ["types", "My_Column"],
        "category",
    )
    with pytest.raises(ConfigError, match=r"--set must be like model.hidden=256,128, got 'a=1'"):
        parse_setting("a=1")
    with pytest.raises(ConfigError, match=r"--set takes model., data. and train. settings"):
        parse_setting("seed.x=1")


@pytest.mark.slow
def test_a_killed_ensemble_goes_on_with_the_steps_of_each_member(
    type_in: Type, tmp_path: Path
) -> None:
    whole, parted = tmp_path / "whole", tmp_path / "parted"
    settings: dict[str, Any] = {**SMALL, "members": 4, "max_steps": 2}
    nw.fit("restarts", "iris", out=whole, **settings)
    with pytest.raises(KilledError):
        nw.fit("restarts", "iris", out=parted, callbacks=[StopInFit(3)], **settings)
    answer = type_in("train", "--resume", parted, "--no-report")
    assert answer.code == 0, answer.err
    assert "member 2/4, restored: " in answer.err
    assert_same(whole, parted)


def test_a_single_model_goes_on_without_the_limits_that_ended_it(tmp_path: Path) -> None:
    out = tmp_path / "run"
    limits: dict[str, Any] = {"max_steps": 2, "max_time": 60}
    nw.fit("mlp", "iris", hidden=(2,), epochs=5, out=out, quiet=True, **limits)
    train = first_recipe(str(out))["train"]
    assert (train["max_steps"], train["max_time"], train["epochs"]) == (None, None, 5)


def test_the_length_of_a_run_is_no_limit(tmp_path: Path) -> None:
    out = tmp_path / "run"
    nw.fit("mlp", "iris", hidden=(2,), max_steps=2, max_time=60, out=out, quiet=True)
    train = first_recipe(str(out))["train"]
    assert (train["max_steps"], train["max_time"], train["epochs"]) == (2, None, None)


def test_short_sections_get_their_long_form() -> None:
    assert normal_form({"model": "mlp", "data": "a.csv", "seed": 1}) == {
        "model": {"name": "mlp"},
        "data": {"name": "table", "path": "a.csv"},
        "seed": 1,
    }


def test_a_text_column_makes_a_table_one_of_text_however_it_is_given() -> None:
    for settings, given in (([], {"text": "review"}), (["data.text=review"], {})):
        typed = typed_recipe([], "lstm", "reviews.tsv", None, settings, given, {})
        assert typed["data"] == {"name": "text-table", "path": "reviews.tsv", "text": "review"}


def test_nothing_typed_is_the_mlp_on_digits() -> None:
    nothing: dict[str, Any] = {}
    assert typed_recipe([], None, None, None, [], nothing, nothing) == {
        "model": {"name": "mlp"},
        "data": {"name": "digits"},
        "train": {},
    }


def test_a_ready_recipe_may_be_typed_in_place_of_a_model(tmp_path: Path) -> None:
    values = typed_recipe([], "ready/mnist-cnn", None, None, [], {}, {"epochs": 2})
    assert (values["model"]["name"], values["data"]) == ("cnn", {"name": "mnist"})
    assert values["train"]["epochs"] == 2
    with pytest.raises(UnknownNameError, match=r"unknown recipe 'mnist-cnn'.* 'ready/mnist-cnn'"):
        typed_recipe([], "mnist-cnn", None, None, [], {}, {})
    own = tmp_path / "ready" / "own.csv"
    own.parent.mkdir()
    own.touch()
    values = typed_recipe([], str(own), None, None, [], {}, {})
    assert values["data"] == {"name": "table", "path": str(own)}


def test_data_may_be_typed_alone(tmp_path: Path) -> None:
    """The model is that of the recipe, or the default; a name that is neither is a model's."""
    table = str(tmp_path / "a.csv")
    for file, word, model, data in [
        ("", "wine", "mlp", {"name": "wine"}),
        ("", table, "mlp", {"name": "table", "path": table}),
        ("", "softmax", "softmax", {"name": "digits"}),
        ("", "nothing", "nothing", {"name": "digits"}),
        ("ready/mnist-cnn", "digits", "cnn", {"name": "digits"}),
        ("ready/resnet", str(tmp_path), "resnet50", {"name": "images", "path": str(tmp_path)}),
        ("ready/mnist-cnn", "mlp", "mlp", {"name": "mnist"}),
        ("ready/mnist-cnn", "nothing", "nothing", {"name": "mnist"}),
    ]:
        files = [Path(file)] if file else []
        values = typed_recipe(files, word, None, None, [], {}, {})
        assert (values["model"]["name"], values["data"]) == (model, data)


def test_a_recipe_without_its_folder_asks_for_it(type_in: Type) -> None:
    sentence = "path is empty, wanted a folder of images: name it as the data, or set data.path"
    assert sentence in type_in("train", "-c", "ready/resnet").err


@for_each(
    ("text", "value"),
    [
        ("0.9", 0.9),
        ("3", 3),
        ("1e-3", 0.001),
        ("true", True),
        ("false", False),
        ("0.9,0.99", [0.9, 0.99]),
        ("category", "category"),
    ],
)
def test_nested_settings_are_read_as_what_they_look_like(text: str, value: object) -> None:
    setting = f"train.optimizer_options.x={text}"
    typed = typed_recipe([], None, None, None, [setting], {}, {})["train"]
    assert typed == {"optimizer_options": {"x": value}}
    assert type(typed["optimizer_options"]["x"]) is type(value)


def test_an_optimizer_takes_options_from_the_command_line(type_in: Type) -> None:
    options = "train.optimizer_options"
    words = ("--set", f"{options}.nesterov=true", "--set", f"{options}.momentum=0.9")
    answer = type_in(
        "train", "mlp", "xor", "--optimizer", "sgd", "--epochs", 1, "--no-report", *words
    )
    assert answer.code == 0, answer.err


@pytest.mark.parametrize("section", ["5", "[a]", "{name: [a], target: x}"])
def test_a_section_of_a_file_that_is_none_is_left_to_be_refused(
    section: str, tmp_path: Path
) -> None:
    file = tmp_path / "odd.yaml"
    file.write_text(f"data: {section}")
    with pytest.raises(ConfigError, match="data must be a name, or a mapping with a name"):
        parse_recipe(typed_recipe([file], None, None, None, [], {}, {}))


def test_a_source_that_predicts_one_column_takes_the_one_target_that_is_typed() -> None:
    def target(source: str, *columns: str) -> object:
        sets = [f"data.name={source}"]
        return typed_recipe([], "mlp", "x.csv", None, sets, {"target": columns}, {})["data"][
            "target"
        ]

    assert target("text-pairs", "french") == "french"
    assert target("table", "a, b") == ("a, b",)
    assert target("text-pairs", "a", "b") == ("a", "b")  # which it refuses
