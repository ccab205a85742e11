"""A recipe's files are named so that they are found from any folder, and nothing else is."""

from pathlib import Path
from typing import Any

import pytest

from netwright.recipes.plan.recipe import parse_recipe
from netwright.recipes.plan.recipe_paths import (
    PATHS,
    files_of,
    named_paths,
    published_name,
    with_whole_paths,
)


def test_every_file_of_a_recipe_is_found_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/me")
    recipe = parse_recipe(
        {
            "model": {"name": "transformer", "embeddings": "vectors.txt"},
            "data": {
                "name": "text-pairs",
                "path": "~/en.txt",
                "target_path": "de.txt",
                "vocabulary": "runs/a",
            },
        }
    ).to_mapping()
    assert {name: recipe["data"][name] for name in PATHS["data"]} == {
        "path": "/home/me/en.txt",
        "target_path": str(tmp_path / "de.txt"),
        "vocabulary": str(tmp_path / "runs" / "a"),
    }
    assert recipe["model"]["embeddings"] == str(tmp_path / "vectors.txt")


@pytest.mark.parametrize("path", ["s3://bucket/shards", "tinyshakespeare", ""])
def test_addresses_and_names_of_texts_are_no_files(path: str) -> None:
    section = {"name": "words", "path": path}
    assert not [*named_paths("data", section)]
    assert with_whole_paths("data", section) == section


def test_files_are_told_by_the_options_that_name_them() -> None:
    recipe = {
        "model": {"name": "mlp"},
        "data": {"name": "table", "path": "/d/a.csv"},
        "from": "/runs/a",
    }
    named = files_of(parse_recipe(recipe).to_mapping())
    assert named == {"data.path": Path("/d/a.csv"), "--from": Path("/runs/a")}
    assert files_of(parse_recipe({"model": "mlp", "data": "moons"}).to_mapping()) == {}


@pytest.mark.parametrize(
    ("model", "data", "name"),
    [
        ("mlp", "mnist", "mnist"),
        ("mlp", "moons", ""),
        ("mlp", {"name": "table", "path": "/d/a.csv"}, ""),
        ("word2vec", "tinyshakespeare", "tinyshakespeare"),
    ],
)
def test_a_published_set_is_known_by_its_name(model: str, data: Any, name: str) -> None:
    assert published_name(parse_recipe({"model": model, "data": data}).to_mapping()) == name
