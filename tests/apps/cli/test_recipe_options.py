"""The commands that take a recipe are typed alike."""

import inspect
from pathlib import Path

import pytest

from netwright.apps.cli.commands.cross_validate_command import cross_validate
from netwright.apps.cli.commands.search_command import search
from netwright.apps.cli.commands.train_command import train
from netwright.apps.cli.recipe_options import (
    DataName,
    ModelName,
    RecipeFiles,
    Settings,
    Target,
    Text,
)
from tests.apps.cli.conftest import Type

SHARED = {
    "model": ModelName,
    "data": DataName,
    "config": RecipeFiles,
    "settings": Settings,
    "target": Target,
    "text": Text,
}


@pytest.mark.parametrize("command", [train, search, cross_validate], ids=lambda it: it.__name__)
def test_a_recipe_is_typed_the_same_way_everywhere(command: object) -> None:
    assert callable(command)
    taken = inspect.signature(command).parameters
    assert {name: taken[name].annotation for name in SHARED} == SHARED


@pytest.mark.parametrize("command", ["train", "search", "cross-validate"])
def test_a_text_column_can_be_named_everywhere(type_in: Type, command: str) -> None:
    Path("reviews.tsv").write_text("text\tlabel\n" + "a fine film\t1\na dull one\t0\n" * 5)
    answer = type_in(command, "elman", "reviews.tsv", "--text", "txt", "--target", "label")
    assert answer.err == "error: reviews.tsv has no column 'txt'; did you mean 'text'?\n"
