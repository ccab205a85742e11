"""The commands that take a recipe are typed alike."""

import inspect

import pytest

from netwright.apps.cli.cross_validate_command import cross_validate
from netwright.apps.cli.recipe_options import DataName, ModelName, RecipeFiles, Settings, Target
from netwright.apps.cli.search_command import search
from netwright.apps.cli.train_command import train

SHARED = {
    "model": ModelName,
    "data": DataName,
    "config": RecipeFiles,
    "settings": Settings,
    "target": Target,
}


@pytest.mark.parametrize("command", [train, search, cross_validate], ids=lambda it: it.__name__)
def test_a_recipe_is_typed_the_same_way_everywhere(command: object) -> None:
    assert callable(command)
    taken = inspect.signature(command).parameters
    assert {name: taken[name].annotation for name in SHARED} == SHARED
