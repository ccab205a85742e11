"""A recipe's files are named so that they are found from any folder, and nothing else is."""

from pathlib import Path

import pytest

from netwright.recipes.plan.recipe import parse_recipe
from netwright.recipes.plan.recipe_paths import PATHS, named_paths, with_whole_paths


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
