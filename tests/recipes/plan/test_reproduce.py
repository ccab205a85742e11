"""A run said again is the same run: its command, its YAML and its Python give its recipe back."""

import ast
import io
import random
import shlex
from contextlib import redirect_stdout
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest
import torch
from torch import nn

import netwright as nw
from netwright.apps.cli.main import run as run_command
from netwright.core.config import Config, OneOf, as_held, describe, to_mapping
from netwright.core.errors import NetwrightError
from netwright.data.catalog import SOURCES
from netwright.models.catalog import MODELS
from netwright.recipes.plan.named_recipe import name_recipe
from netwright.recipes.plan.recipe import parse_recipe
from netwright.recipes.plan.recipe_file import read_yaml
from netwright.recipes.plan.reproduce import (
    TAKEN,
    as_command,
    as_python,
    as_resumed,
    as_yaml,
    changed_settings,
    file_word,
    without_folders,
)
from netwright.train.settings import DEFAULT_OPTIMIZER, TrainConfig
from tests.repetition import for_each

RECIPES: list[dict[str, Any]] = [
    {"model": "mlp", "data": "moons"},
    {"model": {"name": "mlp", "hidden": [8, 4], "dropout": 0.0, "residual": True}, "data": "xor"},
    {
        "model": "logistic",
        "data": {"name": "blobs", "centres": 3, "split_seed": 4},
        "train": {
            "epochs": 2,
            "optimizer": "sgd",
            "lr": 0.1,
            "optimizer_options": {"momentum": 0.9, "nesterov": True},
            "schedule": "cosine",
            "patience": 0,
            "max_time": 90.5,
            "restore_best": False,
            "device": "cpu",
            "profile": True,
        },
        "seed": 7,
    },
    {
        "model": "mlp",
        "data": "moons",
        "train": {"freeze": "hidden.0", "unfreeze_every": 2, "layer_decay": 0.5},
        "from": "/runs/old",
    },
]


def resolved(values: dict[str, Any]) -> dict[str, Any]:
    return parse_recipe(values).to_mapping()


def recipe_of(python: str) -> dict[str, Any]:
    """The recipe that printed code asks `nw.fit` for; nothing is loaded."""
    (call,) = (node for node in ast.walk(ast.parse(python)) if isinstance(node, ast.Call))
    names = [ast.literal_eval(word) for word in call.args]
    given: dict[str, Any] = {}
    for word in call.keywords:
        value = ast.literal_eval(word.value)
        given |= value if word.arg is None else {word.arg: value}
    start_from = given.pop("start_from", "")
    recipe, _ = name_recipe(*names, **given)
    return replace(recipe, start_from=start_from).to_mapping()


def recipe_typed(command: str) -> dict[str, Any]:
    """The recipe that a printed command asks for."""
    program, *words = shlex.split(command)
    assert program == "netwright"
    shown = io.StringIO()
    with redirect_stdout(shown):
        assert run_command([*words, "--print-config"]) == 0
    return read_yaml(shown.getvalue(), "shown")


@for_each("values", RECIPES, ids=range(len(RECIPES)))
def test_the_command_gives_the_same_recipe(values: dict[str, Any]) -> None:
    config = resolved(values)
    assert recipe_typed(as_command(config)) == config


@for_each("values", RECIPES, ids=range(len(RECIPES)))
def test_the_python_gives_the_same_recipe(values: dict[str, Any]) -> None:
    config = resolved(values)
    assert recipe_of(as_python(config)) == config


TEXTS = ("a", "null", "1", "a, b", 'say "x"')
TRIED = (False, True, 2, 5, 7, 16, 0.25, 0.5, 3.5, 1e-5, *TEXTS, ["a, b", "c"], [5], [4, 4], None)


def choices(hint: Any) -> tuple[Any, ...]:
    """Values worth trying in a setting of this type: where it is a name, all there are."""
    tables = [name for mark in get_args(hint) if isinstance(mark, OneOf) for name in mark.catalog]
    parts = [hint, *get_args(hint), *(one for part in get_args(hint) for one in get_args(part))]
    literals = [one for part in parts if get_origin(part) is Literal for one in get_args(part)]
    return (*tables, *literals, {"a.b": 1, "c": "1"}, {"c": [0.5]}, *TRIED)


def other_settings(kind: type[Config], draw: random.Random) -> dict[str, Any]:
    """As many settings as possible that are not the default, and that the config takes."""
    hints = get_type_hints(kind, include_extras=True)
    given: dict[str, Any] = {"path": "/data/some file.csv"} if "path" in hints else {}
    defaults = {field.name: field.default for field in describe(kind)}
    for name in sorted(hints.keys() - given.keys()):
        tried = choices(hints[name])
        for value in draw.sample(tried, len(tried)):
            try:
                if as_held(kind, name, value) not in (defaults[name], DEFAULT_OPTIMIZER):
                    kind(**{**given, name: value})
                    given[name] = value
                    break
            except NetwrightError:
                continue
    return to_mapping(kind(**given))


@pytest.mark.parametrize(
    "pairs",
    [
        [(model, "digits") for model in list(MODELS)[::4]],
        [("cnn", data) for data in list(SOURCES)[::4]],
        pytest.param([(model, "digits") for model in MODELS], marks=pytest.mark.slow),
        pytest.param([("cnn", data) for data in SOURCES], marks=pytest.mark.slow),
        [("svm", "table"), ("rbm", "moons"), ("mlp", "teacher"), ("cnn", "teacher")],
    ],
    ids=["some models", "some data", "models", "data", "names of two sections"],
)
def test_whatever_is_set_command_and_python_give_the_same_recipe(
    pairs: list[tuple[str, str]],
) -> None:
    draw, changed = random.Random(0), 0
    trainings = [other_settings(TrainConfig, draw) for _ in range(4)]
    for model, data in pairs:
        config = resolved(
            {
                "model": {"name": model, **other_settings(MODELS.load(model).settings, draw)},
                "data": {"name": data, **other_settings(SOURCES.load(data).config, draw)},
                "train": draw.choice(trainings),
                "seed": draw.randrange(3),
            }
        )
        assert recipe_of(as_python(config)) == config, (model, data)
        assert recipe_typed(as_command(config)) == config, (model, data)
        changed += sum(map(len, changed_settings(config).values()))
    assert changed > 30 * len(pairs)


def test_the_code_of_a_setting_that_two_sections_have_runs() -> None:
    config = resolved({"model": {"name": "cnn", "kernel": 5}, "data": "digits"})
    assert as_python(config).endswith("nw.fit('cnn', 'digits', seed=0, **{'model.kernel': 5})\n")
    assert as_command(config) == "netwright train cnn digits --set model.kernel=5"
    learner = resolved({"model": {"name": "svm", "kernel": "linear"}, "data": "moons"})
    assert "kernel='linear'" in as_python(learner)  # its own rule takes no step of an optimizer


def test_a_source_that_a_file_does_not_tell_is_named() -> None:
    config = resolved({"model": "lstm", "data": {"name": "series", "path": "/data/sales.csv"}})
    assert "'/data/sales.csv', seed=0, **{'data.name': 'series'})" in as_python(config)
    assert as_command(config).endswith("/data/sales.csv --set data.name=series")
    table = resolved({"model": "mlp", "data": {"name": "table", "path": "/data/sales.csv"}})
    assert "name" not in as_python(table) + as_command(table)


@pytest.mark.parametrize(
    ("path", "word"), [("digits", "./digits"), ("-x.csv", "./-x.csv"), ("x.csv", "x.csv")]
)
def test_a_file_is_not_taken_for_a_data_set_or_an_option(path: str, word: str) -> None:
    assert file_word(path) == word


def test_the_names_that_are_taken_are_those_of_the_call() -> None:
    arguments = signature(nw.fit).parameters.values()
    assert sorted(TAKEN) == sorted(
        [*(one.name for one in arguments if one.kind is not one.VAR_KEYWORD), "train"]
    )


@for_each("values", RECIPES, ids=range(len(RECIPES)))
def test_the_yaml_gives_the_same_recipe(values: dict[str, Any]) -> None:
    config = resolved(values)
    assert resolved(read_yaml(as_yaml(config), "shown")) == config


def test_a_table_is_said_with_its_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = resolved(
        {
            "model": "mlp",
            "data": {
                "name": "table",
                "path": str(tmp_path / "my file.csv"),
                "target": ["a b", "c"],
                "types": {"age": "category"},
                "drop": ["id", "name"],
                "drop_missing_target": True,
            },
        }
    )
    command = as_command(config)
    assert "--target 'a b' --target c" in command
    assert run_command([*shlex.split(command)[1:], "--print-config"]) == 0
    assert read_yaml(capsys.readouterr().out, "shown") == config


def test_only_what_is_not_default_is_said() -> None:
    assert as_command(resolved({"model": "mlp", "data": "moons"})) == "netwright train mlp moons"
    expected = "import netwright as nw\n\nrun = nw.fit('mlp', 'moons', seed=0)\n"
    assert as_python(resolved({"model": "mlp", "data": "moons"})) == expected


def test_without_folders_a_file_is_named_alone_and_all_else_stays(tmp_path: Path) -> None:
    file = {"name": "table", "path": str(tmp_path / "mine.csv"), "target": ["a"]}
    config = resolved({"model": "mlp", "data": file})
    shown = without_folders(config)
    assert shown["data"].pop("path") == "mine.csv"
    assert config["data"].pop("path") == str((tmp_path / "mine.csv").resolve())
    assert shown == config
    moons = resolved({"model": "mlp", "data": "moons"})
    assert without_folders(moons) == moons


def test_no_file_of_a_recipe_tells_where_it_lies() -> None:
    pairs = {"name": "text-pairs", "path": "/mine/a", "target_path": "/mine/b"}
    model = {"name": "transformer", "embeddings": "/mine/c"}
    data = {**pairs, "vocabulary": "/mine/d"}
    config = resolved({"model": model, "data": data, "from": "/mine/e"})
    assert "/mine" in str(config)
    assert "/mine" not in str(without_folders(config))


def test_the_python_makes_the_same_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first = nw.fit("mlp", "moons", hidden=(4,), epochs=2, lr=0.03, seed=5, quiet=True)
    names: dict[str, Any] = {}
    exec(as_python(first.config), names)
    assert names["run"].config == first.config
    assert names["run"].results["metrics"] == first.results["metrics"]


def test_the_seed_of_data_is_said_exactly() -> None:
    config = resolved({"model": "mlp", "data": {"name": "moons", "seed": 3, "n": 80}, "seed": 1})
    python = as_python(config)
    assert python.endswith("run = nw.fit('mlp', 'moons', n=80, seed=1, **{'data.seed': 3})\n")
    assert recipe_of(python) == config


def test_what_came_from_python_has_no_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    inputs = np.random.default_rng(0).normal(size=(40, 2))
    run = nw.fit(nn.Linear(2, 2), (inputs, inputs[:, 0] > 0), epochs=1, quiet=True)
    assert as_command(run.config) == ""
    names = {"model": nn.Linear(2, 2), "data": (inputs, inputs[:, 0] > 0)}
    torch.manual_seed(0)
    exec(as_python(run.config), names)
    assert names["run"].config == run.config  # type: ignore[attr-defined]


def test_what_resumes_a_run_is_a_command_or_a_call(tmp_path: Path) -> None:
    typed = resolved({"model": "mlp", "data": "moons"})
    assert as_resumed(typed, tmp_path) == f"netwright train --resume {tmp_path}"
    assert as_resumed(typed, Path("my run")) == "netwright train --resume 'my run'"
    objects = {"loss": "pinball", "training_step": "step"}
    given = {**typed, "model": {"name": ""}, "data": {"name": ""}, "own": objects}
    call = as_resumed({**given, "train": {**typed["train"], "epochs": 3}}, tmp_path)
    assert call.startswith("nw.fit(model, data, loss=loss, training_step=training_step, epochs=3,")
    assert call.endswith(f"seed=0, resume={str(tmp_path)!r})")


def test_a_published_text_is_named_where_words_are_learned() -> None:
    values = {"model": {"name": "word2vec", "dim": 7}, "data": {"name": "wikitext-2"}}
    config = parse_recipe(values).to_mapping()
    command = as_command(config)
    assert command == "netwright train word2vec wikitext-2 --set model.dim=7"
    assert "nw.fit('word2vec', 'wikitext-2', dim=7" in as_python(config)
