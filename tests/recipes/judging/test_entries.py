"""Entries: names, settings after colons, configs, recipe files and run folders; whose data."""

import re
from pathlib import Path
from typing import Any

import pytest
from torch import nn

import netwright as nw
from netwright.core.errors import ConfigError, UnknownNameError
from netwright.core.files.storage import write_text
from netwright.data.dataset import Data
from netwright.models.mlp import MLPConfig
from netwright.recipes.judging.entries import choose_data, read_entry
from netwright.recipes.plan.recipe import Recipe
from netwright.recipes.plan.recipe_file import read_own_recipe, to_yaml
from netwright.recipes.plan.sources import load_source
from tests.repetition import for_each

WIDE = (
    "model: {name: mlp, hidden: [8]}\ndata: {name: moons, noise: 0.2}\ntrain: {lr: 0.1}\nseed: 9\n"
)


@pytest.fixture(scope="module")
def moons() -> Data:
    return load_source("moons", {})[2]


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    path = tmp_path / "wide.yaml"
    path.write_text(WIDE, encoding="utf-8")
    return path


def resolved(source: Any, data: Data, **shared: Any) -> Recipe:
    return read_entry(source).resolve(data, shared)


def test_a_name_is_a_model_with_its_defaults(moons: Data) -> None:
    entry = read_entry("mlp")
    assert (entry.label, entry.data) == ("mlp", None)
    recipe = entry.resolve(moons, {})
    assert (recipe.model, recipe.model_settings) == ("mlp", MLPConfig())


def test_settings_after_colons_go_to_the_model_or_to_training(moons: Data) -> None:
    source = "mlp:hidden=64,32:dropout=0:batch-size=16"
    assert read_entry(source).label == source
    recipe = resolved(source, moons)
    assert recipe.model_settings == MLPConfig(hidden=(64, 32), dropout=0.0)
    assert recipe.train.batch_size == 16


def test_options_of_an_optimizer_are_numbers_lists_and_truths(moons: Data) -> None:
    recipe = resolved("mlp:optimizer_options.betas=0.8,0.9:optimizer_options.amsgrad=false", moons)
    assert recipe.train.optimizer_options == {"betas": [0.8, 0.9], "amsgrad": False}


def test_a_config_is_what_its_name_with_settings_is(moons: Data) -> None:
    entry = read_entry(MLPConfig(hidden=(8,)))
    assert entry.label == ""
    assert entry.resolve(moons, {}) == resolved("mlp:hidden=8", moons)


def test_what_an_entry_says_itself_wins_over_what_all_share(moons: Data) -> None:
    assert resolved("mlp:lr=0.5", moons, lr=0.1, epochs=2).train.lr == 0.5
    assert resolved("mlp:lr=0.5", moons, lr=0.1, epochs=2).train.epochs == 2


def test_what_all_share_wins_over_a_file(moons: Data, wide: Path) -> None:
    recipe = resolved(wide, moons, lr=0.2)
    assert (recipe.train.lr, recipe.model_settings) == (0.2, MLPConfig(hidden=(8,)))
    assert resolved(str(wide), moons).train.lr == 0.1


def test_a_file_names_its_data_and_is_called_by_its_name(wide: Path) -> None:
    entry = read_entry(wide)
    assert entry.label == "wide"
    assert entry.data is not None
    assert (entry.data["name"], entry.data["noise"]) == ("moons", 0.2)


def test_a_file_may_leave_out_model_and_data(tmp_path: Path, moons: Data) -> None:
    path = tmp_path / "slow.yml"
    path.write_text("train: {epochs: 7}\n", encoding="utf-8")
    entry = read_entry(path)
    assert entry.data is None
    recipe = entry.resolve(moons, {})
    assert (recipe.model, recipe.train.epochs) == ("mlp", 7)


def test_a_run_folder_is_its_recipe(moons_run: nw.Run, moons: Data) -> None:
    assert moons_run.folder is not None
    entry = read_entry(moons_run.folder)
    assert entry.label == "moons"
    assert entry.data is not None
    assert entry.data["name"] == "moons"
    recipe = entry.resolve(moons, {})
    assert (recipe.model_settings, recipe.train.epochs) == (MLPConfig(hidden=(16,)), 3)


def test_a_models_name_wins_over_a_file_of_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moons: Data
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mlp").write_text("model: logistic\n", encoding="utf-8")
    Path("recipe").write_text("model: logistic\n", encoding="utf-8")
    assert resolved("mlp", moons).model == "mlp"
    assert resolved("recipe", moons).model == "logistic"


@for_each(
    ("source", "kind", "sentence"),
    [
        ("mpl", UnknownNameError, "unknown model 'mpl'; did you mean 'mlp'?"),
        ("mlp:wide", ConfigError, "settings of mlp must be like mlp:lr=0.01, got 'wide'"),
        ("mlp:wide:lr=1", ConfigError, "settings of mlp must be like mlp:lr=0.01, got 'wide'"),
        ("no/run", ConfigError, "no/run is not a run folder: there is no such folder"),
        ("no.yaml", ConfigError, "no.yaml cannot be read: No such file or directory"),
        (
            "no.yaml:lr=1",
            ConfigError,
            "no.yaml is a recipe: settings can only follow a model's name, got 'lr=1'",
        ),
        (
            "mlp:seed=3",
            ConfigError,
            "'seed' cannot be set for one entry: all share data and seeds",
        ),
        (
            "mlp:data=moons",
            ConfigError,
            "'data' cannot be set for one entry: all share data and seeds",
        ),
        (
            3,
            ConfigError,
            "an entry must be a model's name, a config, a recipe file, a run folder or a function "
            "that makes a module, got int",
        ),
    ],
)
def test_what_is_no_entry_is_refused(source: Any, kind: type[Exception], sentence: str) -> None:
    with pytest.raises(kind, match=f"^{re.escape(sentence)}$"):
        read_entry(source)


def test_a_run_on_a_module_of_ones_own_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("model: {name: ''}\ndata: moons\n", encoding="utf-8")
    with pytest.raises(
        ConfigError, match=r"own\.yaml contains a user-defined module, which cannot be"
    ):
        read_entry(path)


def test_data_that_is_given_is_taken_whatever_the_recipes_say(wide: Path) -> None:
    arrays = ([[0.0]], [0])
    assert choose_data("xor", [read_entry(wide)]) == ("xor", {})
    assert choose_data(arrays, [read_entry(wide)]) == (arrays, {})
    given = {"name": "moons", "seed": 3}
    assert choose_data(given, [read_entry(wide)]) == ("moons", {"seed": 3})
    assert given == {"name": "moons", "seed": 3}
    table = {"name": "table", "path": "x.csv", "target": ["y"]}
    assert choose_data(table, []) == ("x.csv", {"name": "table", "target": ["y"]})


def test_without_data_it_is_that_of_the_recipes_else_the_digits(wide: Path) -> None:
    assert choose_data(None, [read_entry("mlp")]) == ("digits", {})
    source, settings = choose_data(None, [read_entry("mlp"), read_entry(wide)])
    assert (source, settings["noise"]) == ("moons", 0.2)
    source, settings = choose_data({"noise": 0.9}, [read_entry(wide)])
    assert (source, settings["noise"]) == ("moons", 0.9)


@pytest.mark.parametrize(
    ("data", "first", "second"),
    [
        ("xor", "moons", "xor"),
        ("{name: moons, noise: 0.5}", "moons with noise=0.2", "moons with noise=0.5"),
    ],
)
def test_recipes_that_do_not_agree_on_the_data_are_refused(
    tmp_path: Path, wide: Path, data: str, first: str, second: str
) -> None:
    other = tmp_path / "other.yaml"
    other.write_text(f"data: {data}\n", encoding="utf-8")
    sentence = (
        f"all entries need the same data: wide names {first}, other names {second}; give the data"
    )
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        choose_data(None, [read_entry(wide), read_entry("mlp"), read_entry(other)])


def test_a_run_on_arrays_needs_data(tmp_path: Path, moons: Data) -> None:
    path = tmp_path / "arrays.yaml"
    path.write_text("model: mlp\ndata: {name: ''}\n", encoding="utf-8")
    entry = read_entry(path)
    with pytest.raises(
        ConfigError,
        match=r"^arrays was trained on arrays that are not saved with it; give the "
        r"data$",
    ):
        choose_data(None, [entry])
    assert choose_data("moons", [entry]) == ("moons", {})
    assert entry.resolve(moons, {}).model == "mlp"


def test_an_imported_run_needs_data_and_is_trained_from_its_weights(
    tmp_path: Path, moons: Data
) -> None:
    first = nw.fit("mlp", moons, hidden=(4,), epochs=1, out=tmp_path / "given", quiet=True)
    config = read_own_recipe(tmp_path / "given")
    imported = {"model": config["model"], "data": {"name": "", "imported": "weights.bin"}}
    write_text(tmp_path / "given" / "config.yaml", to_yaml({**imported, "train": {}, "seed": 0}))
    entry = read_entry(tmp_path / "given")
    with pytest.raises(ConfigError, match=r"^given was imported and has no data of its own; give"):
        choose_data(None, [entry])
    found = entry.resolve(moons, {"epochs": 1})
    assert (found.model, found.start_from) == ("mlp", str(first.folder))


def test_a_module_is_refused_and_what_makes_one_is_an_entry(moons: Data) -> None:
    with pytest.raises(ConfigError, match=r"Linear has its own: give a class or function that"):
        read_entry(nn.Linear(2, 2))
    entry = read_entry(linear)
    assert (entry.label, entry.make, entry.resolve(moons, {}).model) == ("linear", linear, "")


def linear() -> nn.Module:
    return nn.Linear(2, 2)
