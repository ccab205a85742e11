"""A comparison said again: the command and the Python give the same recipes."""

import ast
import shlex
from inspect import signature
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import netwright as nw
from netwright.recipes.judging.compare import PreparedComparison, prepare_comparison
from netwright.recipes.judging.reproduce_comparison import (
    TAKEN,
    comparison_as_command,
    comparison_as_python,
)


def prepared(*entries: str, data: Any = None, **settings: Any) -> PreparedComparison:
    return prepare_comparison(entries, data, seeds=4, seed=2, settings=settings)


def configs(comparison: PreparedComparison) -> list[dict[str, Any]]:
    return [row.recipe.to_mapping() for row in comparison.contenders]


def test_what_all_share_is_said_once_and_what_differs_with_its_entry() -> None:
    told = configs(prepared("mlp:dropout=0:lr=0.1", "logistic", data="moons", epochs=3))
    command = comparison_as_command(told, seeds=4, metric="f1")
    assert command == (
        "netwright compare mlp:dropout=0.0:batch_size=32:lr=0.1 "
        "logistic:batch_size=280:optimizer=lbfgs:restore_best=false --data moons "
        "--set train.epochs=3 --seeds 4 --seed 2 --metric f1"
    )
    python = comparison_as_python(told, seeds=4, metric="f1")
    assert python == (
        "import netwright as nw\n\n"
        "nw.compare('mlp:dropout=0.0:batch_size=32:lr=0.1', "
        "'logistic:batch_size=280:optimizer=lbfgs:restore_best=false', data='moons', seeds=4, "
        "seed=2, metric='f1', epochs=3)\n"
    )


@pytest.fixture
def series_file(tmp_path: Path) -> Path:
    file = tmp_path / "waves.csv"
    rows = (f"2020-01-{1 + day:02d},{day % 5},{day % 7}" for day in range(28))
    file.write_text("\n".join(["day,x,y", *rows]))
    return file


@pytest.fixture
def first() -> PreparedComparison:
    return prepared(
        "mlp:hidden=8,4:optimizer=sgd:optimizer_options.momentum=0.5",
        "mlp:batch_norm=true",
        data={"name": "moons", "noise": 0.3, "seed": 4},
        epochs=3,
        schedule="cosine",
    )


def test_the_command_gives_the_same_recipes(first: PreparedComparison) -> None:
    from netwright.apps.cli.typed_recipe import typed_recipe

    command = comparison_as_command(configs(first), seeds=4, metric="accuracy")
    _, _, *words = shlex.split(command)
    entries = words[: words.index("--data")]
    sets = [word for before, word in pairwise(words) if before == "--set"]
    typed = typed_recipe([], None, "moons", None, sets, {}, {})
    again = prepared(*entries, data=typed["data"], **typed["train"])
    assert configs(again) == configs(first)


def test_the_python_gives_the_same_recipes(first: PreparedComparison) -> None:
    python = comparison_as_python(configs(first), seeds=4, metric="accuracy")
    (call,) = [node for node in ast.walk(ast.parse(python)) if isinstance(node, ast.Call)]
    entries = [ast.literal_eval(argument) for argument in call.args]
    given = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}
    assert (given.pop("seeds"), given.pop("seed"), given.pop("metric")) == (4, 2, "accuracy")
    again = prepared(*entries, **given)
    assert configs(again) == configs(first)


def test_a_table_is_named_by_its_path(table_file: Any) -> None:
    told = configs(prepared("mlp", "logistic", data=str(table_file), target="kind"))
    command = comparison_as_command(told, seeds=5, metric="accuracy")
    assert f"--data {table_file} --set data.target=kind " in command
    python = comparison_as_python(told, seeds=5, metric="accuracy")
    assert f"data={{'name': 'table', 'target': ['kind'], 'path': '{table_file}'}}" in python


def test_arrays_have_no_command_and_are_called_data() -> None:
    arrays = ([[0.0], [1.0]] * 20, [0, 1] * 20)
    told = configs(prepared("mlp", "mlp:hidden=4", data=arrays))
    assert comparison_as_command(told, seeds=5, metric="accuracy") == ""
    assert "nw.compare('mlp', 'mlp:hidden=4', data=data, seeds=5, " in comparison_as_python(
        told, seeds=5, metric="accuracy"
    )


def test_what_a_model_shares_with_training_is_said_exactly() -> None:
    before = prepared("cnn:model.kernel=5:train.kernel=foreach", "cnn:lr=0.1", data="digits")
    told = configs(before)
    assert [one["model"]["kernel"] for one in told] == [5, 3]
    assert [one["train"]["kernel"] for one in told] == ["foreach", "auto"]
    command = comparison_as_command(told, seeds=4, metric="accuracy")
    assert " cnn:model.kernel=5:train.kernel=foreach cnn:lr=0.1 " in command
    _, _, *words = shlex.split(command)
    again = prepared(*words[: words.index("--data")], data="digits")
    assert configs(again) == told


def test_what_came_from_a_source_that_a_file_does_not_tell_names_it(series_file: Path) -> None:
    section = {"name": "series", "path": str(series_file), "target": ["y"]}
    told = configs(prepared("lstm", "gru", data=section, epochs=1))
    assert told[0]["data"]["name"] == "series"
    command = comparison_as_command(told, seeds=4, metric="rmse")
    assert f"--data {series_file} --set data.name=series --set data.target=y" in command
    assert "'name': 'series'" in comparison_as_python(told, seeds=4, metric="rmse")


def test_the_names_that_are_taken_are_those_of_the_call() -> None:
    arguments = signature(nw.compare).parameters.values()
    plain = [one.name for one in arguments if one.kind is one.KEYWORD_ONLY]
    assert sorted(TAKEN) == sorted([*plain, "train"])


def test_what_came_from_python_and_weights_to_start_from_have_no_words() -> None:
    typed, other = configs(prepared("softmax", "mlp", data="moons", epochs=3))
    for odd in ({"model": {"name": ""}}, {"own": {"loss": "pinball"}}, {"from": "runs/one"}):
        told = [typed, {**other, **odd}]
        assert comparison_as_command(told, seeds=4, metric="f1") == ""
        python = comparison_as_python(told, seeds=4, metric="f1")
        assert "nw.compare('softmax:" in python
        assert ", entry2, data='moons'" in python
    shared = [{**one, "own": {"loss": "pinball"}} for one in (typed, other)]
    python = comparison_as_python(shared, seeds=4, metric="f1")
    assert "nw.compare(entry1, entry2, data='moons'" in python
    assert "loss=loss" in python
