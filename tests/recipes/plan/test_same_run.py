"""A run said again is the same run: its command, its YAML and its Python give its recipe back."""

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import netwright as nw
from netwright.apps.cli.main import run as run_command
from netwright.recipes.plan.recipe import parse_recipe
from netwright.recipes.plan.recipe_file import read_yaml
from netwright.recipes.plan.same_run import as_command, as_python, as_yaml, without_folders

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


@pytest.mark.parametrize("values", RECIPES, ids=range(len(RECIPES)))
def test_the_command_gives_the_same_recipe(
    values: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    config = resolved(values)
    program, *words = shlex.split(as_command(config))
    assert program == "netwright"
    assert run_command([*words, "--print-config"]) == 0
    assert read_yaml(capsys.readouterr().out, "shown") == config


@pytest.mark.parametrize("values", RECIPES, ids=range(len(RECIPES)))
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


def test_the_python_makes_the_same_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first = nw.fit("mlp", "moons", hidden=(4,), epochs=2, lr=0.03, seed=5, quiet=True)
    names: dict[str, Any] = {}
    exec(as_python(first.config), names)
    assert names["run"].config == first.config
    assert names["run"].results["metrics"] == first.results["metrics"]


def test_data_drawn_by_its_own_seed_is_loaded_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    recipe = {
        "model": {"name": "mlp", "hidden": [4]},
        "data": {"name": "moons", "seed": 3, "n": 80},
        "train": {"epochs": 1, "batch_size": 8},
    }
    python = as_python(resolved(recipe))
    assert "data = nw.data.load('moons', n=80, seed=3)\n" in python
    names: dict[str, Any] = {}
    exec(python, names)
    (tmp_path / "recipe.yaml").write_text(as_yaml(resolved(recipe)))
    assert run_command(["train", "-c", "recipe.yaml", "--out", "again", "--quiet"]) == 0
    again = nw.open_run("again")
    assert names["run"].results["metrics"] == again.results["metrics"]


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
