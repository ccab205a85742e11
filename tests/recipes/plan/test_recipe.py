"""Recipes: parsing, merging, what is a file and what a name, and what is refused."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from netwright.core.config import to_mapping
from netwright.core.errors import ConfigError, UnknownNameError
from netwright.models.mlp import MLPConfig
from netwright.recipes.plan.recipe import Recipe, data_section, merge, parse_recipe
from tests.repetition import for_each


def test_names_alone_are_a_recipe() -> None:
    recipe = parse_recipe({"model": "mlp", "data": "digits"})
    assert (recipe.model, recipe.data, recipe.seed) == ("mlp", "digits", 0)
    assert isinstance(recipe.model_settings, MLPConfig)


def test_a_resolved_recipe_parses_to_itself() -> None:
    first = parse_recipe(
        {
            "seed": 3,
            "model": {"name": "mlp", "hidden": [8, 4]},
            "data": {"name": "moons", "noise": 0.2},
            "train": {"lr": 0.01, "optimizer_options": {"betas": [0.8, 0.9]}},
        }
    )
    again = parse_recipe(first.to_mapping())
    assert again == first
    assert again.to_mapping() == first.to_mapping()


def test_no_settings_change_nothing_not_even_what_is_wrong() -> None:
    assert merge({"train": "all"}, {"train": {}}) == {"train": "all"}
    assert merge({}, {"train": {}}) == {"train": {}}


def test_the_later_recipe_wins_key_by_key() -> None:
    first = {"model": {"name": "mlp", "hidden": [8]}, "train": {"lr": 0.1, "epochs": 3}}
    merged = merge(first, {"train": {"lr": 0.2}})
    assert merged == {
        "model": {"name": "mlp", "hidden": [8]},
        "train": {"lr": 0.2, "epochs": 3},
    }
    assert first["train"] == {"lr": 0.1, "epochs": 3}


def test_another_model_brings_its_own_settings() -> None:
    merged = merge({"model": {"name": "mlp", "hidden": [8]}}, {"model": {"name": "logistic"}})
    assert merged == {"model": {"name": "logistic"}}


@for_each(
    ("source", "section"),
    [
        ("digits", {"name": "digits"}),
        ("a.csv", {"name": "table", "path": "a.csv"}),
        ("folder/a", {"name": "table", "path": "folder/a"}),
        (Path("a"), {"name": "table", "path": "a"}),
    ],
)
def test_what_looks_like_a_file_is_one(source: str | Path, section: dict[str, Any]) -> None:
    assert data_section(source) == section


def test_a_folder_named_like_a_source_that_reads_files_is_that_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("images", "table", "digits"):
        assert data_section(name) == {"name": name}
        (tmp_path / name).mkdir()
    assert data_section("images") == {"name": "images", "path": "images"}
    assert data_section("table") == {"name": "images", "path": "table"}
    assert data_section("digits") == {"name": "digits"}


def test_what_is_neither_a_data_set_nor_a_file_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sentence = "there is no data set, file or folder 'knwon'"
    hint = "; `netwright list data` shows the data sets"
    with pytest.raises(UnknownNameError, match=f"^{re.escape(sentence + hint)}$"):
        data_section("knwon")
    (tmp_path / "known").mkdir()
    hint = "; did you mean 'known'?"
    with pytest.raises(UnknownNameError, match=f"^{re.escape(sentence + hint)}$"):
        data_section("knwon")


def test_the_nearest_name_may_be_that_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert data_section("fotos") == {"name": "fotos"}  # the catalog says: moons?
    (tmp_path / "photos").mkdir()
    sentence = "there is no data set, file or folder 'fotos'; did you mean 'photos'?"
    with pytest.raises(UnknownNameError, match=f"^{re.escape(sentence)}$"):
        data_section("fotos")


@for_each(
    ("name", "given", "reader"),
    [
        ("book.txt", (), "text"),
        ("book.TXT.gz", ("window",), "text"),
        ("rows.txt", ("target",), "table"),
        ("reviews.tsv", ("text", "target"), "text-table"),
        ("reviews.tsv", ("target",), "table"),
        ("trees.conllu.gz", (), "tagged"),
    ],
)
def test_text_is_known_by_its_ending_and_by_the_settings_beside_it(
    name: str, given: tuple[str, ...], reader: str
) -> None:
    assert data_section(name, given) == {"name": reader, "path": name}


def test_folders_of_text_are_told_from_folders_of_images(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("a note", encoding="utf-8")
    assert data_section(tmp_path)["name"] == "text"
    (tmp_path / "train.conllu").write_text("", encoding="utf-8")
    assert data_section(tmp_path)["name"] == "tagged"
    (tmp_path / "cats").mkdir()
    (tmp_path / "cats" / "1.png").write_bytes(b"")
    assert data_section(tmp_path)["name"] == "images"


def test_a_path_that_is_still_to_be_given_stays_empty() -> None:
    recipe = parse_recipe({"model": "cnn", "data": {"name": "images"}})
    assert recipe.to_mapping()["data"]["path"] == ""


def test_a_folder_with_inputs_in_it_is_one_of_arrays(tmp_path: Path) -> None:
    assert data_section(tmp_path) == {"name": "images", "path": str(tmp_path)}
    (tmp_path / "inputs.npy").touch()
    for source in (tmp_path, str(tmp_path)):
        assert data_section(source) == {"name": "npy", "path": str(tmp_path)}


@for_each(
    ("values", "sentence"),
    [
        ({"modle": "mlp"}, "unknown section 'modle'; did you mean 'model'?"),
        ({"model": "mpl", "data": "digits"}, "unknown model 'mpl'; did you mean 'mlp'?"),
        ({"model": "mlp", "data": "digts"}, "unknown data set 'digts'; did you mean 'digits'?"),
        ({"data": "digits"}, "model must be a name, or a mapping with a name, got None"),
        (
            {"model": {"name": "mlp", "hiden": 3}, "data": "digits"},
            "unknown setting 'model.hiden'; did you mean 'hidden'?",
        ),
        (
            {"model": "mlp", "data": "digits", "train": {"hidden": 3}},
            "unknown setting 'train.hidden'; did you mean 'model.hidden'?",
        ),
        (  # of other models it is the side of a filter
            {"model": {"name": "mlp", "kernel": 5}, "data": "digits"},
            "unknown setting 'model.kernel'; kernel is a setting of train here: train.kernel",
        ),
        (
            {"model": "mlp", "data": {"name": "digits", "target_transform": "standard"}},
            "unknown setting 'data.target_transform'; target_transform is a setting of train "
            "here: train.target_transform",
        ),
        (
            {"model": "mlp", "data": "digits", "train": {"lr": float("nan")}},
            "train.lr must be a finite number, got nan",
        ),
        (
            {"model": "mlp", "data": "digits", "seed": "x"},
            "seed must be a non-negative integer, got 'x'",
        ),
        ({"model": "mlp", "data": "digits", "format": 2}, "format must be 1, got 2"),
        (
            {"model": "mlp", "data": "digits", "train": 3},
            "train must be a mapping of settings, got 3",
        ),
    ],
)
def test_refuses_in_one_sentence(values: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        parse_recipe(values)


@for_each("name", ["netwright.models.mlp:MLP", "os.system", "torch.nn:Linear", ""])
def test_only_names_in_the_table_resolve(name: str) -> None:
    with pytest.raises(ConfigError):
        parse_recipe({"model": {"name": name}, "data": "digits"})


def own(recipe: Recipe) -> dict[str, Any]:
    assert recipe.model_settings is not None
    return to_mapping(recipe.model_settings)


def test_a_model_with_a_rule_of_its_own_takes_settings_said_of_training() -> None:
    values = {"model": {"name": "delta-rule"}, "data": "iris"}
    recipe = parse_recipe({**values, "train": {"epochs": 7, "lr": 0.5, "max_time": 60}})
    assert own(recipe)["epochs"] == 7
    assert own(recipe)["lr"] == 0.5
    assert (recipe.train.epochs, recipe.train.lr, recipe.train.max_time) == (None, None, 60)
    said_twice = {**values, "model": {"name": "delta-rule", "epochs": 9}}
    kept = parse_recipe({**said_twice, "train": {"epochs": 7}})
    assert own(kept)["epochs"] == 9  # what is said of the model itself


def test_a_resolved_recipe_of_such_a_model_parses_to_itself() -> None:
    recipe = parse_recipe({"model": "perceptron", "data": "iris", "train": {"epochs": 7}})
    assert parse_recipe(recipe.to_mapping()) == recipe


def test_it_is_told_in_a_line_and_printed_as_its_file() -> None:
    recipe = parse_recipe({"model": "mlp", "data": "moons", "seed": 3})
    assert repr(recipe) == "Recipe(mlp on moons, seed 3)"
    assert parse_recipe(yaml.safe_load(str(recipe))) == recipe


def test_the_beginning_of_a_run_has_no_nul_character() -> None:
    with pytest.raises(ConfigError, match=r"^from must not contain a NUL character"):
        parse_recipe({"model": "mlp", "data": "moons", "from": "a\0b"})


@pytest.mark.parametrize(
    ("section", "sentence"),
    [
        ({"model": {"name": ""}}, "a module of your own, which it cannot name: give it again in"),
        ({"data": {"name": ""}}, "a run on arrays or other objects from Python: name its data"),
        (
            {"data": {"name": "", "imported": "weights.bin"}},
            "imported weights and names no data: name it, and start from the imported run with",
        ),
    ],
)
def test_the_recipe_of_what_came_from_python_says_what_to_give(
    section: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ConfigError, match=sentence):
        parse_recipe({"model": "mlp", "data": "digits", **section})
