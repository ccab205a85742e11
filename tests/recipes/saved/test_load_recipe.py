"""A recipe is opened from a file, a run folder or by its ready name, and trained."""

from pathlib import Path
from typing import Any

import pytest
from torch import nn

import netwright as nw
from netwright.core.errors import ConfigError, UnknownNameError
from netwright.recipes.plan.recipe import parse_recipe

WRITTEN = """
model: {name: mlp, hidden: [4]}
data: {name: moons, n: 60, seed: 3}
train: {epochs: 1}
seed: 5
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recipe.yaml").write_text(WRITTEN)
    return tmp_path / "recipe.yaml"


def test_a_file_gives_its_recipe_with_the_default_sections(file: Path) -> None:
    recipe = nw.load_recipe(file)
    assert (recipe.model, recipe.data, recipe.seed, recipe.train.epochs) == ("mlp", "moons", 5, 1)
    file.write_text("train: {epochs: 2}")
    assert nw.load_recipe(str(file)) == parse_recipe(
        {"model": "mlp", "data": "digits", "train": {"epochs": 2}}
    )


def test_a_ready_recipe_is_opened_by_its_name() -> None:
    assert nw.load_recipe("ready/mnist-cnn").data == "mnist"


def test_fit_takes_the_name_of_a_ready_recipe() -> None:
    run = nw.fit("ready/adding-lstm", save=False, quiet=True, max_steps=1, n=200, device="cpu")
    assert type(run.model).__name__ == "LSTM"
    assert run.results["steps"] == 1
    with pytest.raises(UnknownNameError, match=r"unknown recipe 'ready/nothing'"):
        nw.fit("ready/nothing")


def test_fit_trains_a_recipe_and_settings_beside_it_win(file: Path) -> None:
    settings: dict[str, Any] = {"data.seed": 4}
    run = nw.fit(nw.load_recipe(file), epochs=2, quiet=True, **settings)
    assert run.config["seed"] == 5
    assert run.config["data"]["seed"] == 4
    assert run.config["train"]["epochs"] == 2
    again = nw.load_recipe(run.folder or "")  # a run folder holds the recipe in full
    assert again.to_mapping() == run.config


def test_a_recipe_names_its_data(file: Path) -> None:
    with pytest.raises(ConfigError, match="names its data: leave out data"):
        nw.fit(nw.load_recipe(file), "moons")


def test_what_came_from_python_is_not_in_a_run_folder(file: Path) -> None:
    run = nw.fit(nn.Linear(2, 2), "moons", n=60, epochs=1, quiet=True)
    with pytest.raises(ConfigError, match=r"its model came from Python; give nw\.fit the model"):
        nw.load_recipe(run.folder or "")
    with pytest.raises(ConfigError, match=r"holds no recipe: it has no config\.yaml"):
        nw.load_recipe(file.parent)
